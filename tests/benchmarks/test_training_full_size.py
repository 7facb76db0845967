"""Training of the reader's model learns, and is deterministic."""

from __future__ import annotations

import io
import random

import pytest

pytest.importorskip("benchmarks.training.pipeline", exc_type=ImportError)

from benchmarks.training.neural_net import Settings
from benchmarks.training.pages import Sample
from benchmarks.training.pipeline import ALL, Trained, train
from benchmarks.training.table import FOLDS, Row, row_of
from benchmarks.training.trees import Growth
from benchmarks.training.weights_file import save_weights

pytestmark = [pytest.mark.slow, pytest.mark.full_size]

FOREST = Growth(trees=4, min_leaf_blocks=5)
NET = Settings(width=8, rounds=1, epochs=4, blocks=256)
TYPES = ("article", "forum", "product")


def sample(number: int) -> Sample:
    chance = random.Random(number)
    words = "river stone light garden winter table paper window music letter".split()
    passages = [" ".join(chance.choice(words) for _ in range(30)) + "." for _ in range(5)]
    body = "".join(f"<p class=text>{passage}</p>" for passage in passages)
    links = "".join(f"<li><a href=/{n}>Entry {n}</a></li>" for n in range(8))
    main = f"<main><h1>Title {number}</h1>{body}</main>"
    return Sample(
        id=str(number),
        source="wcxb",
        domain=f"site{number}.example",
        page_type=TYPES[number % len(TYPES)],
        language="en",
        url=f"https://site{number}.example/a/{number}",
        html=f"<nav><ul>{links}</ul></nav>{main}<footer><p>Imprint</p></footer>",
        gold="\n".join(passages),
    )


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    found = [row_of(sample(number)) for number in range(24)]
    return [row for row in found if row is not None]


@pytest.fixture(scope="module")
def trained(rows: list[Row]) -> Trained:
    return train(rows, lambda text: None, FOREST, NET)


def written(trained: Trained) -> bytes:
    file = io.BytesIO()
    save_weights(trained.weights[ALL], file)
    return file.getvalue()


def test_equal_pages_give_equal_weights(rows: list[Row], trained: Trained) -> None:
    assert written(train(rows, lambda text: None, FOREST, NET)) == written(trained)


def test_the_model_predicts_pages_of_unseen_domains(rows: list[Row], trained: Trained) -> None:
    assert {row.fold for row in rows} == set(range(FOLDS))
    for row, opinion in zip(rows, trained.predictions, strict=True):
        content = [p for p, share in zip(opinion.probabilities, row.shares, strict=True) if share > 0.5]
        rest = [p for p, share in zip(opinion.probabilities, row.shares, strict=True) if share <= 0.5]
        assert min(content) > max(rest)
