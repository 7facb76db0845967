"""Query matching on the words of one page; other tests compare it with SQLite."""

from __future__ import annotations

import pytest

from scraper.store.fulltext.query_tree import Near, QueryTerm
from scraper.store.postgres.lexemes import LexemeTokenizer
from scraper.store.postgres.page_search import matches_query
from tests.scraper.soon import soon


@pytest.mark.parametrize(("between", "near"), [(4, True), (5, False)])
def test_near_is_fast_for_a_very_frequent_word(between: int, near: bool) -> None:
    many = ["harbour"] * 10_000
    text = [*many, *["x"] * between, "ferry", *["x"] * 50, *many]
    wanted = Near((QueryTerm("harbour"), QueryTerm("ferry"), QueryTerm("lemon")), 4)
    # `lemon` is far from `ferry`, so that every `harbour` is checked.
    with soon():
        assert not matches_query(wanted, {"title": [], "text": [*text, "lemon"]}, LexemeTokenizer())
        both = Near(wanted.terms[:2], 4)
        assert matches_query(both, {"title": [], "text": text}, LexemeTokenizer()) is near
