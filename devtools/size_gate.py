"""Compare the size of the product with the limits in pyproject.toml.

python -m devtools.size_gate [--lower]

Each figure of the table `tool.size` is printed with its limit. The exit code is 1 if a figure is above its limit.
`--lower` rewrites the limits that the code has fallen below. No limit ever rises by a program.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Mapping

from devtools.code_figures import COMPLEX, ROOT, SIZES_WITH_PLACES, Checkout

__all__ = ["check_limits", "lower_limits"]

TABLE = "[tool.size]"
ROOM = {"lines": 300, "files": 10}
"""Kept between a figure and its lowered limit, for changes that are merged at the same time."""

STEPS = {"lines": 500, "files": 5}
"""A limit is lowered by at least this. Other limits fall by 1."""

LOWEST = {"highest_complexity": COMPLEX}
"""A limit does not fall below this. Functions of this complexity are allowed."""


def check_limits(figures: Mapping[str, int], limits: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Return the names of the figures above their limits, and of the limits that should be lowered."""
    above = [name for name, limit in limits.items() if figures[name] > limit]
    return above, [name for name, limit in limits.items() if _lowered(name, figures[name], limit) < limit]


def lower_limits(text: str, figures: Mapping[str, int]) -> str:
    """Return the text of pyproject.toml with limits that are as low as the figures allow, and never higher."""
    before, table, rest = text.partition(f"{TABLE}\n")
    section, separator, after = rest.partition("\n[")
    lines = [_lower_line(line, figures) for line in section.split("\n")]
    return before + table + "\n".join(lines) + separator + after


def _lower_line(line: str, figures: Mapping[str, int]) -> str:
    name, equals, number = line.partition(" = ")
    return f"{name}{equals}{_lowered(name, figures[name], int(number)):_}" if name in figures else line


def _lowered(name: str, figure: int, limit: int) -> int:
    lowered = max(figure + ROOM.get(name, 0), LOWEST.get(name, 0))
    return lowered if lowered <= limit - STEPS.get(name, 1) else limit


def main() -> None:
    """Print the figures with their limits and end with code 1 if one is above; or lower the limits."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.size_gate", description="Compare the size of the product with its limits."
    )
    parser.add_argument("--lower", action="store_true", help="lower the limits in pyproject.toml")
    options = parser.parse_args()
    project = ROOT / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    figures = Checkout(ROOT).size_figures()
    if options.lower:
        text = lower_limits(text, figures)
        project.write_text(text, encoding="utf-8")
    limits: dict[str, int] = tomllib.loads(text)["tool"]["size"]
    above, loose = check_limits(figures, limits)
    for name, limit in limits.items():
        note = "ABOVE ITS LIMIT" if name in above else "lower the limit" if name in loose else ""
        print(f"{name:20} {figures[name]:>7,} of {limit:>7,}  {note}".rstrip())
    if loose:
        print("python -m devtools.size_gate --lower lowers the limits; commit them with the change that reached them.")
    for name in above:
        print(_advice(name), file=sys.stderr)
    sys.exit(bool(above))


def _advice(name: str) -> str:
    where = f"python -m devtools.code_figures --list {name} prints them." if name in SIZES_WITH_PLACES else ""
    return f"{name} is above its limit in pyproject.toml: make room in the same change. {where}".rstrip()


if __name__ == "__main__":
    main()
