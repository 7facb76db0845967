from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scraper.extract.content.block_selection import choose, drop_copies, drop_repeated, expected_f1

blocks = st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(1, 50)), min_size=1, max_size=8)


@settings(deadline=None)
@given(blocks)
def test_no_other_choice_is_expected_to_be_better(pairs: list[tuple[float, int]]) -> None:
    p = np.array([pair[0] for pair in pairs])
    lengths = np.array([float(pair[1]) for pair in pairs])
    best = expected_f1(choose(p, lengths), p, lengths)
    for size in range(1, len(pairs) + 1):
        for some in combinations(range(len(pairs)), size):
            other = np.isin(np.arange(len(pairs)), some)
            assert expected_f1(other, p, lengths) <= best + 1e-9


def test_the_cut_follows_the_page() -> None:
    lengths = np.full(4, 10.0)
    assert choose(np.array([0.9, 0.9, 0.1, 0.1]), lengths).tolist() == [True, True, False, False]
    assert choose(np.array([0.3, 0.3, 0.3, 0.01]), lengths).tolist() == [True, True, True, False]


@pytest.mark.parametrize(("characters", "kept"), [(100.0, [True, False, True]), (10.0, [True, True, True])])
def test_longer_texts_are_given_once(characters: float, kept: list[bool]) -> None:
    chosen = np.array([True, True, True])
    no_cells = np.zeros(3, np.bool_)
    assert drop_repeated(chosen, np.array([0, 0, 1]), np.full(3, characters), no_cells).tolist() == kept


def test_cells_may_say_the_same() -> None:
    texts, cells = np.array([0, 0, 0, 0]), np.array([False, True, True, False])
    kept = drop_repeated(np.ones(4, np.bool_), texts, np.full(4, 100.0), cells)
    assert kept.tolist() == [True, True, True, False]


def copies_dropped(
    texts: list[int], spans: list[tuple[int, int]], chosen: list[bool] | None = None
) -> list[bool]:
    """Of blocks of 50 characters in elements, the first of which holds all."""
    all_spans = np.array([(0, len(texts)), *spans])
    mask = np.ones(len(texts), np.bool_) if chosen is None else np.array(chosen)
    lengths = np.full(len(texts), 50.0)
    kept = drop_copies(mask, np.array(texts), lengths, all_spans[:, 0], all_spans[:, 1])
    return [bool(one) for one in kept]


def test_an_element_that_says_again_what_another_said_is_left_out() -> None:
    twice = [(0, 3), (3, 6)]
    assert copies_dropped([0, 1, 2, 0, 1, 2], twice) == [True] * 3 + [False] * 3
    assert copies_dropped([0, 1, 2, 0, 1, 3], twice) == [True] * 6
    assert copies_dropped([0, 1, 1, 0], [(0, 2), (2, 4)]) == [True] * 4  # another order says another thing


def test_what_was_not_chosen_makes_no_difference_between_copies() -> None:
    chosen = [True, True, False, True, True, False]
    assert copies_dropped([0, 1, 2, 0, 1, 3], [(0, 3), (3, 6)], chosen) == [True, True] + [False] * 4


def test_one_block_is_no_copy_of_an_element() -> None:
    assert copies_dropped([0, 1, 0], [(0, 1), (2, 3)]) == [True] * 3
    assert copies_dropped([0, 0], [(0, 2), (0, 1), (1, 2)]) == [True] * 2
