"""The net that is trained is the net at work, and it learns."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("benchmarks.training.recipe", exc_type=ImportError)

import jax

from benchmarks.training import hearing
from benchmarks.training.batches import Batches, Usual
from benchmarks.training.hearing import Settings
from benchmarks.training.table import Row, row_of
from benchmarks.training.views import Table
from scraper.extract.content.hashed_features import SCORE_NAMES
from scraper.extract.content.neural_net import NeuralNet
from tests.benchmarks.test_training import sample

pytestmark = pytest.mark.slow

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


def test_the_net_at_work_says_what_it_said_in_training(rows: list[Row], table: Table) -> None:
    chance = np.random.default_rng(1)
    usual = Usual.of(table.learned(), table.slices)
    batches = Batches(rows, table, usual, _costs(table), SETTINGS.blocks)
    learned = hearing._start(jax.random.key(3), len(table.names), SETTINGS)
    batch = batches.of(range(len(rows)), chance)
    told = np.asarray(hearing._logits(learned, batch, jax.random.key(0), dropped=0.0))
    chance = np.random.default_rng(1)
    at_work = NeuralNet(hearing._written(learned, usual))
    for row, at in zip(rows, table.slices, strict=True):
        sums = at_work.compute_logits(row.measures, table.page(rows.index(row), chance).T)
        np.testing.assert_allclose(sums, told[at], rtol=1e-3, atol=1e-4)


def test_what_the_net_learns_holds_on_other_pages(rows: list[Row], table: Table) -> None:
    net = NeuralNet(hearing.fit(rows, table, _costs(table), range(9), SETTINGS))
    for n in range(9, 12):
        sums = net.compute_logits(rows[n].measures, table.seen[table.slices[n]].T)
        content = rows[n].shares > 0.5
        assert sums[content].min() > sums[~content].max()
