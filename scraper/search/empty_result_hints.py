"""What to try next, in one or two sentences: only when little came back or a filter dropped everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scraper.search.circuit_breakers import WALLS
from scraper.search.engine_query import EngineQuery

LITTLE = 3
"""Fewer rows than this may not answer anything."""


def hint(
    attempts: Sequence[EngineQuery], rows: int, dropped: Mapping[str, int], others: Sequence[str], wanted: int
) -> str | None:
    """The advice; `others`: engines that were not asked."""
    parts = []
    if dropped and rows < min(LITTLE, wanted):
        parts.append(_dropped(rows, dropped))
    refused = [attempt for attempt in attempts if attempt.error in WALLS and not attempt.results]
    failed = [attempt for attempt in attempts if attempt.error and not attempt.results]
    resting = [attempt for attempt in failed if attempt.rests_s > 0]
    if resting:
        parts.append("Resting after a wall: " + ", ".join(_rest(attempt) for attempt in resting) + ".")
    if failed and rows < min(LITTLE, wanted):
        if others and refused:
            parts.append(f"Try engines={_listed(others[:3])}, or wait some minutes.")
        elif others and all(attempt.error == "layout_changed" for attempt in failed):
            # Asking again brings the same page, and the same reader.
            parts.append(f"Try engines={_listed(others[:3])}.")
        elif others:
            parts.append(f"Try again, or engines={_listed(others[:3])}.")
        else:
            parts.append("Try again in some minutes.")
    elif not rows and not dropped:
        parts.append("Nothing found: try fewer or other words" + _or_others(others) + ".")
    return " ".join(parts) or None


def _dropped(rows: int, dropped: Mapping[str, int]) -> str:
    told = ", ".join(f"{name} dropped {count}" for name, count in dropped.items())
    left = "nothing is left" if not rows else f"{rows} left"
    return f"Filters: {told}; {left}. Widen or leave out {' or '.join(dropped)}."


def _rest(attempt: EngineQuery) -> str:
    minutes = max(1, round(attempt.rests_s / 60))
    return f"{attempt.engine.name} for {minutes} min"


def _or_others(others: Sequence[str]) -> str:
    return f", or engines={_listed(others[:3])}" if others else ""


def _listed(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
