"""The contract, requirement by requirement, as a client meets the product: green or red with the evidence.

The requirements stand in `benchmarks/contract_rows`, one line each with the document and paragraph that asks
for it. Servers are started as users start them; pages and engines are those of the tests, on loopback.
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
    comparing,
    duckduckgo_pair,
    indexes,
    openai_pair,
    reading,
    recalling,
    search_methods,
    searching,
)
from benchmarks.contract.rows.row import Row
from benchmarks.contract.rows.world import World, world

_ROOMS = (openai_pair, searching, reading, comparing, recalling, search_methods, duckduckgo_pair, indexes)
_LIMIT_S = 120.0
_EVIDENCE_CHARS = 100
_GREEN, _RED, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a row."""

    row: Row
    held: bool
    evidence: str
    seconds: float


def all_rows() -> list[Row]:
    """Return all rows of the table."""
    return [row for room in _ROOMS for row in room.ROWS]


async def measure(options: Options) -> Figures:
    """Look at every row; all must hold."""
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    rows = all_rows()
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as folder:
        async with world(Path(folder)) as made:
            outcomes = [await looked_at(row, made) for row in rows]
    _tell_red(outcomes)
    figures: Figures = {"rows": len(outcomes), "held": sum(outcome.held for outcome in outcomes)}
    print(f"{figures['held']:g} of {figures['rows']:g} requirements hold")
    print_goals(figures, (Goal("held", at_least=figures["rows"]),))
    return figures


async def looked_at(row: Row, made: World) -> Outcome:
    """One row; whatever goes wrong in it is its evidence."""
    made.engines.reset()
    begun = time.perf_counter()
    try:
        async with asyncio.timeout(_LIMIT_S):
            held, evidence = True, await row.check(made)
    except TimeoutError:
        held, evidence = False, f"no answer within {_LIMIT_S:g} s"
    except Exception as error:  # a check that breaks is a row that does not hold, whatever broke it
        held, evidence = False, f"{type(error).__name__}: {error}"
    outcome = Outcome(row, held, evidence, time.perf_counter() - begun)
    _tell(outcome)
    return outcome


def _tell(outcome: Outcome) -> None:
    row = outcome.row
    print(f"{_mark(outcome.held)} {row.document} {row.paragraph}: {row.requirement}")
    limit = _EVIDENCE_CHARS if outcome.held else 10 * _EVIDENCE_CHARS
    print(f"      {' '.join(outcome.evidence.split())[:limit]} ({outcome.seconds:.1f} s)", flush=True)


def _tell_red(outcomes: Sequence[Outcome]) -> None:
    red = [outcome for outcome in outcomes if not outcome.held]
    if red:
        print("\nThese do not hold:")
    for outcome in red:
        _tell(outcome)


def _mark(held: bool) -> str:
    word = "green" if held else "RED  "
    if not sys.stdout.isatty():
        return word
    return f"{_GREEN if held else _RED}{word}{_PLAIN}"


if __name__ == "__main__":
    run(__doc__ or "", measure)
