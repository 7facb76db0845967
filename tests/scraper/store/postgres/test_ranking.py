"""The windows of pages that a search in PostgreSQL reads, and the conditions on their words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scraper.store.postgres.lexemes import BLOCK_LEVELS, LexemeTokenizer, make_window_marks, make_windows, newest_window
from scraper.store.postgres.page_search import make_tsquery
from scraper.store.query import parse_query


@given(newest=st.integers(1, 50_000_000), numbers=st.data())
def test_each_page_is_in_one_window_and_newer_pages_come_first(newest: int, numbers: st.DataObject) -> None:
    windows = [set(window.replace("'", "").split(" | ")) for window in make_windows(newest)]

    def find(number: int) -> list[int]:
        marks = set(make_window_marks(number))
        return [at for at, window in enumerate(windows) if window & marks]

    older, newer = sorted(numbers.draw(st.tuples(st.integers(0, newest), st.integers(0, newest))))
    ((first,), (second,)) = find(newer), find(older)
    assert first <= second
    assert len(windows) <= 1 + 3 * (len(BLOCK_LEVELS) - 1) + (newest >> BLOCK_LEVELS[-1])


@given(newest=st.integers(1, 5_000_000))
def test_words_are_counted_in_the_newest_pages(newest: int) -> None:
    condition, size = newest_window(newest)
    assert any(mark in condition for mark in make_window_marks(newest))
    assert min(newest, 1 << BLOCK_LEVELS[0]) <= size <= 2 << BLOCK_LEVELS[0]
    oldest = newest + 1 - size
    assert any(f"'{mark}'" in condition for mark in make_window_marks(oldest))
    assert not oldest or not any(f"'{mark}'" in condition for mark in make_window_marks(oldest - 1))


def test_each_required_word_is_a_condition() -> None:
    lexer = LexemeTokenizer()
    question = make_tsquery(parse_query("wind mill NOT sail"), lexer)
    assert question.words[:2] == ("('wind' | '=wind')", "('mill' | '=mill')") and "!" in question.words[-1]
    assert len(make_tsquery(parse_query("wind OR mill"), lexer).words) == 1
    titled = make_tsquery(parse_query('title: "wind mill"'), lexer)
    assert titled.words == ("'=wind'", "'=mill'") and len(titled.phrases) == 1
    assert make_tsquery(parse_query('wind NOT "tall mill"'), lexer).words == ("('wind' | '=wind')",)
    many = make_tsquery(parse_query(" ".join(f"w{number}" for number in range(40))), lexer)
    assert len(many.words) == 16 and all(f"'w{number}'" in "".join(many.words) for number in range(40))
