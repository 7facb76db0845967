"""Which pages a search in PostgreSQL reads at once, and how far it goes back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scraper.store.fulltext.query import parse
from scraper.store.postgres.lexemes import LEVELS, Lexer, window_marks
from scraper.store.postgres.scan_windows import SURE, back, first_size, next_size, shares
from scraper.store.postgres.tsquery import asked


@given(high=st.integers(1, 5_000_000), pages=st.floats(1, 10_000_000), numbers=st.data())
def test_a_window_holds_each_of_its_pages_once_and_no_older_one(
    high: int, pages: float, numbers: st.DataObject
) -> None:
    window = back(high, pages)
    (condition,) = window.conditions
    marks = [mark.strip("'") for mark in condition.split(" | ")]
    assert window.low <= max(0, high - pages) and window.high == high
    assert len(set(marks)) == len(marks)
    for number in (window.low, high - 1, numbers.draw(st.integers(window.low, high - 1))):
        assert len(set(marks) & set(window_marks(number))) == 1
    if window.low:
        assert not set(marks) & set(window_marks(window.low - 1))


@given(high=st.integers(1, 5_000_000), first=st.floats(1, 1e6), second=st.floats(1, 1e7))
def test_the_next_window_names_no_block_again(high: int, first: float, second: float) -> None:
    newer = back(high, first)
    if newer.low:
        older = back(newer.low, second)
        assert older.high == newer.low
        assert not set(window_marks(newer.low)) & set(older.conditions[0].replace("'", "").split(" | "))


@given(high=st.integers(100_000, 5_000_000), pages=st.floats(1, 50_000))
def test_little_more_is_read_than_was_wanted(high: int, pages: float) -> None:
    assert high - back(high, pages).low <= pages * 1.25 + (1 << LEVELS[0])


def test_what_has_more_blocks_than_can_be_named_is_read_whole() -> None:
    window = back(10**9, 10**9)
    assert (window.low, window.conditions) == (0, ())


def test_at_first_as_much_is_looked_through_as_should_hold_enough() -> None:
    common = 0.5
    assert 500 / common < first_size(500, shares([common])) < 2 * 500 / common
    assert first_size(500, shares([common, common])) > first_size(500, shares([common]))


def test_words_that_may_always_stand_together_do_not_send_the_first_step_too_far() -> None:
    assert first_size(500, shares([0.01, 0.01])) * 0.01 <= 1_500


def test_the_next_step_goes_by_what_was_seen_but_not_much_farther_than_was_looked() -> None:
    assert 4_000 <= next_size(500, seen=100, looked=1_000, known=None) <= 5_200
    assert next_size(500, seen=SURE, looked=1_000, known=None) <= 10_000
    assert next_size(500, seen=0, looked=1_000, known=None) <= 10_000
    assert next_size(500, seen=0, looked=1_000, known=shares([0.001])) >= 500_000


def test_each_word_that_must_be_there_is_a_condition_of_its_own() -> None:
    cutter = Lexer()
    question = asked(parse("wind mill NOT sail").tree, cutter)
    assert question.conditions[:2] == ("('wind' | '=wind')", "('mill' | '=mill')")
    assert question.needed == {"wind", "mill"} and "!" in question.conditions[-1]
    assert asked(parse("wind OR mill").tree, cutter).needed == frozenset()
    assert asked(parse('title: "wind mill"').tree, cutter).conditions[:2] == ("'=wind'", "'=mill'")
    assert asked(parse("wi* wind").tree, cutter).needed == {"wind"}
    many = asked(parse(" ".join(f"w{number}" for number in range(40))).tree, cutter)
    assert len(many.conditions) == 16 and all(
        f"'w{number}'" in "".join(many.conditions) for number in range(40)
    )
