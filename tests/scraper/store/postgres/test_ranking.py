"""The windows of pages that a search in PostgreSQL reads, and how far back it searches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scraper.store.fulltext.query import parse_query
from scraper.store.postgres.lexemes import BLOCK_LEVELS, LexemeTokenizer, make_window_marks
from scraper.store.postgres.ranking import (
    SURE_MATCHES,
    estimate_first_size,
    estimate_next_size,
    estimate_shares,
    make_window,
)
from scraper.store.postgres.tsquery import make_tsquery


@given(high=st.integers(1, 5_000_000), pages=st.floats(1, 10_000_000), numbers=st.data())
def test_a_window_holds_each_of_its_pages_once_and_no_older_one(
    high: int, pages: float, numbers: st.DataObject
) -> None:
    window = make_window(high, pages)
    (condition,) = window.conditions
    marks = [mark.strip("'") for mark in condition.split(" | ")]
    assert window.low <= max(0, high - pages) and window.high == high
    assert len(set(marks)) == len(marks)
    for number in (window.low, high - 1, numbers.draw(st.integers(window.low, high - 1))):
        assert len(set(marks) & set(make_window_marks(number))) == 1
    if window.low:
        assert not set(marks) & set(make_window_marks(window.low - 1))


@given(high=st.integers(1, 5_000_000), first=st.floats(1, 1e6), second=st.floats(1, 1e7))
def test_windows_share_no_block(high: int, first: float, second: float) -> None:
    newer = make_window(high, first)
    if newer.low:
        older = make_window(newer.low, second)
        assert older.high == newer.low
        assert not set(make_window_marks(newer.low)) & set(older.conditions[0].replace("'", "").split(" | "))


@given(high=st.integers(100_000, 5_000_000), pages=st.floats(1, 50_000))
def test_a_window_is_little_larger_than_requested(high: int, pages: float) -> None:
    assert high - make_window(high, pages).low <= pages * 1.25 + (1 << BLOCK_LEVELS[0])


def test_a_window_of_too_many_blocks_has_no_condition() -> None:
    window = make_window(10**9, 10**9)
    assert (window.low, window.conditions) == (0, ())


def test_the_first_window_should_contain_enough_matches() -> None:
    common = 0.5
    assert 500 / common < estimate_first_size(500, estimate_shares([common])) < 2 * 500 / common
    assert estimate_first_size(500, estimate_shares([common, common])) > estimate_first_size(
        500, estimate_shares([common])
    )


def test_the_first_window_is_limited_for_correlated_words() -> None:
    assert estimate_first_size(500, estimate_shares([0.01, 0.01])) * 0.01 <= 1_500


def test_the_next_window_follows_from_the_matches_within_limits() -> None:
    assert 4_000 <= estimate_next_size(500, match_count=100, scanned=1_000, shares=None) <= 5_200
    assert estimate_next_size(500, match_count=SURE_MATCHES, scanned=1_000, shares=None) <= 10_000
    assert estimate_next_size(500, match_count=0, scanned=1_000, shares=None) <= 10_000
    assert estimate_next_size(500, match_count=0, scanned=1_000, shares=estimate_shares([0.001])) >= 500_000


def test_each_required_word_is_a_condition() -> None:
    lexer = LexemeTokenizer()
    question = make_tsquery(parse_query("wind mill NOT sail").tree, lexer)
    assert question.conditions[:2] == ("('wind' | '=wind')", "('mill' | '=mill')")
    assert question.needed == {"wind", "mill"} and "!" in question.conditions[-1]
    assert make_tsquery(parse_query("wind OR mill").tree, lexer).needed == frozenset()
    assert make_tsquery(parse_query('title: "wind mill"').tree, lexer).conditions[:2] == ("'=wind'", "'=mill'")
    assert make_tsquery(parse_query("wi* wind").tree, lexer).needed == {"wind"}
    many = make_tsquery(parse_query(" ".join(f"w{number}" for number in range(40))).tree, lexer)
    assert len(many.conditions) == 16 and all(f"'w{number}'" in "".join(many.conditions) for number in range(40))
