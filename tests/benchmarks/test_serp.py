"""The benchmark of result pages counts what the product reports."""

from __future__ import annotations

import pytest

from benchmarks.serp.__main__ import read_response
from scraper.engines.model import EngineOutcome, EngineResponse


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (EngineOutcome.OK, "ok"),
        (EngineOutcome.NONE, "none"),
        (EngineOutcome.BLOCKED, "wall"),
        (EngineOutcome.ERROR, "error"),
    ],
)
def test_outcomes_are_the_kinds_of_the_gold_file(outcome: EngineOutcome, status: str) -> None:
    assert read_response(EngineResponse(outcome)).status == status
