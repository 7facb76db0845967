"""The trained net gives the same results in the product, and it learns."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("benchmarks.training.pipeline", exc_type=ImportError)

import jax

from benchmarks.training import neural_net
from benchmarks.training.augmentation import Table
from benchmarks.training.batches import Batches, Usual
from benchmarks.training.neural_net import Settings
from benchmarks.training.table import Row, row_of
from scraper.extract.content.hashed_features import SCORE_NAMES
from scraper.extract.content.neural_net import NeuralNet
from tests.benchmarks.test_training_full_size import sample

pytestmark = [pytest.mark.slow, pytest.mark.full_size]

SETTINGS = Settings(width=16, epochs=200, blocks=256, rate=1e-2, dropped=0.2)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    found = [row_of(sample(number)) for number in range(12)]
    return [row for row in found if row is not None]


@pytest.fixture(scope="module")
def table(rows: list[Row]) -> Table:
    return Table(rows, [np.zeros((len(SCORE_NAMES), row.measures.n)) for row in rows])


def _costs(table: Table) -> np.ndarray:
    return np.ones(len(table.seen), np.float32)


def test_inference_gives_the_logits_of_training(rows: list[Row], table: Table) -> None:
    chance = np.random.default_rng(1)
    usual = Usual.of(table.learned(), table.slices)
    batches = Batches(rows, table, usual, _costs(table), SETTINGS.blocks)
    learned = neural_net._start(jax.random.key(3), len(table.names), SETTINGS)
    batch = batches.of(range(len(rows)), chance)
    training_logits = np.asarray(neural_net._logits(learned, batch, jax.random.key(0), dropped=0.0))
    chance = np.random.default_rng(1)
    inference = NeuralNet(neural_net._to_weights(learned, usual))
    for row, at in zip(rows, table.slices, strict=True):
        sums = inference.compute_logits(row.measures, table.page(rows.index(row), chance).T)
        np.testing.assert_allclose(sums, training_logits[at], rtol=1e-3, atol=1e-4)


def test_the_net_predicts_pages_of_other_domains(rows: list[Row], table: Table) -> None:
    net = NeuralNet(neural_net.fit(rows, table, _costs(table), range(9), SETTINGS))
    for n in range(9, 12):
        sums = net.compute_logits(rows[n].measures, table.seen[table.slices[n]].T)
        content = rows[n].shares > 0.5
        assert sums[content].min() > sums[~content].max()
