"""Whether a page is what a query asks for, by its words alone; that SQLite says the same stands elsewhere."""

from __future__ import annotations

import pytest

from scraper.store.fulltext.tree import Near, Unit
from scraper.store.postgres.lexemes import Cutter
from scraper.store.postgres.matching import matches
from tests.scraper.soon import soon


@pytest.mark.parametrize(("between", "near"), [(4, True), (5, False)])
def test_a_word_that_stands_everywhere_is_held_against_others_soon(between: int, near: bool) -> None:
    many = ["harbour"] * 100_000
    text = [*many, *["x"] * between, "ferry", *["x"] * 50, *many]
    wanted = Near((Unit("harbour"), Unit("ferry"), Unit("lemon")), 4)
    # `lemon` stands where `ferry` is far away, so that each `harbour` is looked at.
    with soon():
        assert not matches(wanted, {"title": [], "text": [*text, "lemon"]}, Cutter())
        both = Near(wanted.units[:2], 4)
        assert matches(both, {"title": [], "text": text}, Cutter()) is near
