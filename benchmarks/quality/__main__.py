"""`python -m benchmarks.quality --corpora DIR`: whether the quality that was reached once is still there.

Runs each benchmark that has floors and fails when a figure is worse than its floor by more than its margin,
or when it was not measured. `--record` raises floors to what was measured and says which ones fell; it never
lowers one unless `--lower` is given. `--only NAME` runs some of the benchmarks, `--from FILE` takes figures
that a benchmark has written already.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common.command_line import print_table
from benchmarks.quality import floors as quality_floors
from benchmarks.quality.floors import Floors

LIMIT_S = 7_200
"""For one benchmark on a slow machine."""

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class _Wish:
    corpora: Path
    floors: Path
    only: tuple[str, ...]
    measured: Mapping[str, Path]
    record: bool
    lower: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, or record; 0 when every floor holds."""
    wish = _parsed(arguments)
    floors = quality_floors.read(wish.floors.read_text(encoding="utf-8"))
    unknown = [name for name in (*wish.only, *wish.measured) if name not in floors]
    if unknown:
        print(f"There are no floors for {', '.join(unknown)}; there are for {', '.join(floors)}.")
        return 2
    chosen = [name for name in floors if not wish.only or name in wish.only]
    good = True
    for name in chosen:
        floors[name], fine = _settled(name, floors[name], wish)
        good = good and fine
    if wish.record:
        wish.floors.write_text(quality_floors.written(floors), encoding="utf-8")
    return 0 if good else 1


def _settled(name: str, floors: Floors, wish: _Wish) -> tuple[Floors, bool]:
    """Return the floors of a benchmark after its run, and True if they hold."""
    digests = quality_floors.digest_of(wish.corpora, floors.corpora)
    changed = [corpus for corpus, digest in digests.items() if floors.corpora[corpus] != digest]
    if changed and not wish.lower:
        print(f"{name}: {', '.join(changed)} are not the pages that the floors were measured on.")
        print("With --record --lower the floors are measured anew on these.")
        return floors, False
    measured = _measured(name, wish)
    _print(name, floors, measured)
    holds = all(key in measured and one.holds(measured[key]) for key, one in floors.figures.items())
    if not wish.record:
        return floors, holds
    missing = [key for key in floors.figures if key not in measured]
    if missing:
        print(f"{name}: nothing recorded, as these were not measured: {', '.join(missing)}")
        return floors, False
    new, refused = quality_floors.recorded(floors, measured, lower=wish.lower)
    if refused:
        print(f"{name}: not lowered without --lower: {', '.join(refused)}")
    return replace(new, corpora=digests), not refused


def _measured(name: str, wish: _Wish) -> dict[str, float]:
    if name in wish.measured:
        return _figures(wish.measured[name])
    with tempfile.TemporaryDirectory(prefix="quality-") as scratch:
        file = Path(scratch) / "figures.json"
        command = [sys.executable, "-m", f"benchmarks.{name}", "--corpora", str(wish.corpora)]
        done = subprocess.run([*command, "--json", str(file)], cwd=_ROOT, timeout=LIMIT_S, check=False)
        if done.returncode != 0 or not file.exists():
            print(f"{name}: the benchmark failed.")
            return {}
        return _figures(file)


def _figures(file: Path) -> dict[str, float]:
    figures: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
    return figures


def _print(name: str, floors: Floors, measured: Mapping[str, float]) -> None:
    rows = []
    for key, figure in floors.figures.items():
        value = measured.get(key)
        verdict = "not measured" if value is None else "" if figure.holds(value) else "BELOW ITS FLOOR"
        if value is not None and figure.is_better(value):
            verdict = "better"
        rows.append((key, value, figure.floor, figure.margin, verdict))
    print_table(f"Floors of {name}", ("figure", "measured", "floor", "margin", ""), rows)


def _parsed(arguments: Sequence[str] | None) -> _Wish:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, metavar="DIR", required=True)
    parser.add_argument("--floors", type=Path, metavar="FILE", default=quality_floors.FILE)
    parser.add_argument("--only", action="append", metavar="NAME", default=[])
    parser.add_argument("--from", action="append", metavar="NAME=FILE", default=[], dest="measured")
    parser.add_argument("--record", action="store_true", help="raise the floors to what is measured")
    parser.add_argument("--lower", action="store_true", help="with --record: lower them too")
    given = parser.parse_args(arguments)
    if given.lower and not given.record:
        parser.error("--lower goes with --record: to lower a floor is to record a worse figure")
    pairs = [pair.partition("=") for pair in given.measured]
    measured = {name: Path(file) for name, _, file in pairs}
    only = (*given.only, *(name for name in measured if name not in given.only))
    return _Wish(given.corpora, given.floors, only, measured, given.record, given.lower)


if __name__ == "__main__":
    sys.exit(main())
