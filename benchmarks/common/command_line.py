"""The face that all benchmarks share: the same three options in, a readable table and flat figures out."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Figures = dict[str, float]
"""What a benchmark found, by dotted key."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for."""

    corpora: Path | None = None
    quick: bool = False
    peers: bool = False
    json: Path | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure has to reach; one of the two bounds is given."""

    key: str
    at_most: float | None = None
    at_least: float | None = None

    def reached(self, value: float) -> bool:
        """Whether a value is within the bounds."""
        return (self.at_most is None or value <= self.at_most) and (self.at_least is None or value >= self.at_least)

    def __str__(self) -> str:
        return f"<= {self.at_most:g}" if self.at_most is not None else f">= {self.at_least:g}"


def run(
    description: str, measure: Callable[[Options], Coroutine[None, None, Figures]], *, optional_peers: bool = False
) -> None:
    """Read the command line, measure, and write the figures where `--json` says.

    With `optional_peers`, the command line has `--peers`.

    Raises:
        SystemExit: a peer or a corpus is not there; the message says how to get it.
    """
    options = _parse(description, optional_peers)
    try:
        figures = asyncio.run(measure(options))
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from error
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their headings: the first column to the left, numbers to the right."""
    cells = [list(columns), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    print(f"\n{title}")
    for row in cells:
        first = row[0].ljust(widths[0])
        print("  ".join([first, *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]))
    print(flush=True)


def print_goals(figures: Mapping[str, float], goals: Iterable[Goal]) -> None:
    """Print each goal beside what was measured; a figure that is missing counts as missed."""
    rows = []
    for goal in goals:
        value = figures.get(goal.key)
        verdict = "not measured" if value is None else "reached" if goal.reached(value) else "MISSED"
        rows.append((goal.key, value, str(goal), verdict))
    print_table("Goals", ("figure", "measured", "goal", ""), rows)


def cell(value: object) -> str:
    """One value as text: three significant places for floats, nothing for None."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return str(value)


def _parse(description: str, optional_peers: bool) -> Options:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="folders or .tar.xz archives of saved pages")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: within two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write {figure: number}")
    if optional_peers:
        parser.add_argument("--peers", action="store_true", help="measure the peers too")
    given = parser.parse_args()
    return Options(given.corpora, given.quick, getattr(given, "peers", False), given.json)
