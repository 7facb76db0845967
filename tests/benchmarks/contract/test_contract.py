"""The contract table is complete, and a row that fails is reported as failed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from benchmarks.contract import __main__
from benchmarks.contract.rows.row import Row, require
from tests.site.engine_server import EngineSite


class Made:
    """Minimal testbed for rows that do not use it."""

    engines = EngineSite()


async def check_row(check: Any) -> __main__.Outcome:
    row = Row("000", "a paragraph", "a requirement", check)
    return await __main__.check_row(row, cast(Any, Made()))


def test_every_document_has_rows_and_no_row_repeats() -> None:
    rows = __main__.all_rows()
    assert {row.document for row in rows} == {"000", "001", "002", "003", "004"}
    named = [(row.document, row.paragraph, row.requirement) for row in rows]
    assert len(set(named)) == len(named) > 150


def test_require_returns_or_raises_the_evidence() -> None:
    assert require([1], "two\n words") == "two words"
    with pytest.raises(AssertionError, match="what was found"):
        require([], "what was found")


async def test_a_failing_check_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    async def holds(_world: object) -> str:
        return "there it is"

    async def breaks(_world: object) -> str:
        raise KeyError("results")

    outcomes = [await check_row(holds), await check_row(breaks)]
    assert [(outcome.held, outcome.evidence) for outcome in outcomes] == [
        (True, "there it is"),
        (False, "KeyError: 'results'"),
    ]
    assert "green 000 a paragraph: a requirement" in capsys.readouterr().out
