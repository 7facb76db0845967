"""Check the product against its contract from a client, one requirement at a time; print the evidence.

Each requirement in `benchmarks/contract/rows` names the document and paragraph that demands it. Servers are
started as users start them. Pages and engines are those of the tests, on loopback.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, run
from benchmarks.contract.rows import (
    cache_tools,
    duckduckgo_tools,
    index_tools,
    openai_tools,
    reading_tools,
    research_tools,
    search_methods,
    search_tools,
)
from benchmarks.contract.rows.row import Row
from benchmarks.contract.rows.testbed import Testbed, testbed

_ROW_MODULES = (
    openai_tools,
    search_tools,
    reading_tools,
    research_tools,
    cache_tools,
    search_methods,
    duckduckgo_tools,
    index_tools,
)
_LIMIT_S = 120.0
_EVIDENCE_CHARS = 100
_GREEN, _RED, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a row."""

    row: Row
    held: bool
    evidence: str
    seconds: float


def all_rows() -> list[Row]:
    """Return all rows of the table."""
    return [row for module in _ROW_MODULES for row in module.ROWS]


async def measure(options: Options) -> Figures:
    """Check every row; all must hold."""
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    rows = all_rows()
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as folder:
        async with testbed(Path(folder)) as made:
            outcomes = [await check_row(row, made) for row in rows]
    _print_failures(outcomes)
    figures: Figures = {"rows": len(outcomes), "held": sum(outcome.held for outcome in outcomes)}
    print(f"{figures['held']:g} of {figures['rows']:g} requirements hold")
    print_goals(figures, (Goal("held", at_least=figures["rows"]),))
    return figures


async def check_row(row: Row, made: Testbed) -> Outcome:
    """Check one row; any failure becomes its evidence."""
    made.engines.reset()
    started = time.perf_counter()
    try:
        async with asyncio.timeout(_LIMIT_S):
            held, evidence = True, await row.check(made)
    except TimeoutError:
        held, evidence = False, f"no answer within {_LIMIT_S:g} s"
    except Exception as error:  # any failure of a check means that the row does not hold
        held, evidence = False, f"{type(error).__name__}: {error}"
    outcome = Outcome(row, held, evidence, time.perf_counter() - started)
    _print_outcome(outcome)
    return outcome


def _print_outcome(outcome: Outcome) -> None:
    row = outcome.row
    print(f"{_mark(outcome.held)} {row.document} {row.paragraph}: {row.requirement}")
    limit = _EVIDENCE_CHARS if outcome.held else 10 * _EVIDENCE_CHARS
    print(f"      {' '.join(outcome.evidence.split())[:limit]} ({outcome.seconds:.1f} s)", flush=True)


def _print_failures(outcomes: Sequence[Outcome]) -> None:
    red = [outcome for outcome in outcomes if not outcome.held]
    if red:
        print("\nThese requirements do not hold:")
    for outcome in red:
        _print_outcome(outcome)


def _mark(held: bool) -> str:
    word = "green" if held else "RED  "
    if not sys.stdout.isatty():
        return word
    return f"{_GREEN if held else _RED}{word}{_PLAIN}"


if __name__ == "__main__":
    run(__doc__ or "", measure)
