from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scraper.extract.content.decode import choose, drop_repeated, expected_f1

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
    assert drop_repeated(chosen, np.array([0, 0, 1]), np.full(3, characters)).tolist() == kept


def test_cells_may_say_the_same_but_a_table_is_given_once() -> None:
    chosen = np.ones(6, np.bool_)
    two_tables = np.array([0, 1, 0, 0, 2, 0])
    kept = drop_repeated(chosen, two_tables, np.full(6, 100.0), [slice(0, 3), slice(3, 6)])
    assert kept.all()
    one_table_twice = np.array([0, 1, 0, 0, 1, 0])
    kept = drop_repeated(chosen, one_table_twice, np.full(6, 100.0), [slice(0, 3), slice(3, 6)])
    assert kept.tolist() == [True] * 3 + [False] * 3
