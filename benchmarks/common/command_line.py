"""Command line of all benchmarks: the same options, a readable table and flat figures as JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Figures = dict[str, float]
"""Results of a benchmark, by dotted key."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line."""

    corpora: Path | None = None
    quick: bool = False
    peers: bool = False
    json: Path | None = None
    more: argparse.Namespace = field(default_factory=argparse.Namespace)
    """Arguments that the benchmark adds."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Bound of a figure: exactly one of `at_most` and `at_least` is set."""

    key: str
    at_most: float | None = None
    at_least: float | None = None

    def reached(self, value: float) -> bool:
        """Return True if a value is within the bound."""
        return (self.at_most is None or value <= self.at_most) and (self.at_least is None or value >= self.at_least)

    def __str__(self) -> str:
        return f"<= {self.at_most:g}" if self.at_most is not None else f">= {self.at_least:g}"


def run(
    description: str,
    measure: Callable[[Options], Coroutine[None, None, Figures]],
    *,
    optional_peers: bool = False,
    required: Sequence[Goal] = (),
    add_arguments: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
) -> None:
    """Parse the command line, run the benchmark and write the figures to the `--json` file.

    With `optional_peers`, the command line has `--peers`. `add_arguments` adds those of this benchmark.

    Raises:
        SystemExit: a peer or a corpus is missing (the message tells how to get it), or a goal of `required` is missed;
            with `--quick`, goals that are not measured are not required.
    """
    options = _parse(description, optional_peers, add_arguments)
    try:
        figures = asyncio.run(measure(options))
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from error
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    measured = [goal for goal in required if goal.key in figures or not options.quick]
    if missed := [goal.key for goal in measured if not (goal.key in figures and goal.reached(figures[goal.key]))]:
        raise SystemExit(f"Missed: {', '.join(missed)}")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: first column left-aligned, the others right-aligned."""
    cells = [list(columns), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    print(f"\n{title}")
    for row in cells:
        first = row[0].ljust(widths[0])
        print("  ".join([first, *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]))
    print(flush=True)


def print_goals(figures: Mapping[str, float], goals: Iterable[Goal]) -> None:
    """Print each goal with the measured figure, and whether it was reached."""
    rows = []
    for goal in goals:
        value = figures.get(goal.key)
        verdict = "not measured" if value is None else "reached" if goal.reached(value) else "MISSED"
        rows.append((goal.key, value, str(goal), verdict))
    print_table("Goals", ("figure", "measured", "goal", ""), rows)


def cell(value: object) -> str:
    """Format one value: about three significant digits for floats, "-" for None."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return str(value)


def _parse(
    description: str, optional_peers: bool, add_arguments: Callable[[argparse.ArgumentParser], object]
) -> Options:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=formatter)
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="folders or .tar.xz archives of saved pages")
    parser.add_argument("--quick", action="store_true", help="run fewer rounds; takes at most two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file as {figure: number}")
    if optional_peers:
        parser.add_argument("--peers", action="store_true", help="also measure the peers")
    add_arguments(parser)
    more = vars(parser.parse_args())
    common = {name: more.pop(name) for name in ("corpora", "quick", "json", "peers") if name in more}
    return Options(**common, more=argparse.Namespace(**more))
