"""Blocks of a training page are matched with the text that a reader should return."""

from __future__ import annotations

import random

import pytest

from benchmarks.training.labels import matched_shares
from benchmarks.training.table import word_f1


@pytest.mark.parametrize(
    ("blocks", "gold", "kept"),
    [
        (["menu home", "the first passage of the text", "and the second one", "imprint"],
         "the first passage of the text and the second one", [0, 1, 1, 0]),
        (["a b c d e f g", "unseen"], "", [0, 0]),
        (["moved text of more than six words here", "first words of the text itself"],
         "first words of the text itself moved text of more than six words here", [1, 1]),
        (["half of this is there but the rest has nothing", "x"], "half of this is there", [0.5, 0]),
    ],
)  # fmt: skip
def test_blocks_are_matched_with_the_gold(blocks: list[str], gold: str, kept: list[float]) -> None:
    assert matched_shares([block.split() for block in blocks], gold.split()) == pytest.approx(kept)


def test_alignment_of_long_pages_is_not_quadratic() -> None:
    chance = random.Random(5)
    words = [str(chance.randrange(3_000)) for _ in range(30_000)]
    shares = matched_shares([words[:15_000], words[15_000:]], words[15_000:])
    assert shares[1] > 0.99
    assert shares[0] < 0.5


def test_the_score_equals_the_score_of_the_benchmark() -> None:
    assert word_f1("A b c", "a B d") == pytest.approx(2 / 3)
    assert word_f1("", "") == 1
    assert word_f1("x", "") == 0
