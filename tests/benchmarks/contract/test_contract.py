"""The contract table is complete, and a row that fails is reported as failed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from benchmarks.contract import __main__
from benchmarks.contract.rows.row import Row, seen
from tests.site.engine_server import EngineSite


class Made:
    """A minimal environment for rows that use nothing of it."""

    engines = EngineSite()


async def looked_at(check: Any) -> __main__.Outcome:
    row = Row("000", "a paragraph", "a requirement", check)
    return await __main__.looked_at(row, cast(Any, Made()))


def test_every_document_has_rows_and_no_row_stands_twice() -> None:
    rows = __main__.all_rows()
    assert {row.document for row in rows} == {"000", "001", "002", "003", "004"}
    named = [(row.document, row.paragraph, row.requirement) for row in rows]
    assert len(set(named)) == len(named) > 150


def test_what_holds_is_its_own_evidence_and_what_does_not_is_told() -> None:
    assert seen([1], "two\n words") == "two words"
    with pytest.raises(AssertionError, match="what was found"):
        seen([], "what was found")


async def test_a_row_that_breaks_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    async def holds(_world: object) -> str:
        return "there it is"

    async def breaks(_world: object) -> str:
        raise KeyError("results")

    outcomes = [await looked_at(holds), await looked_at(breaks)]
    assert [(outcome.held, outcome.evidence) for outcome in outcomes] == [
        (True, "there it is"),
        (False, "KeyError: 'results'"),
    ]
    assert "green 000 a paragraph: a requirement" in capsys.readouterr().out
