"""`python -m benchmarks.quality --corpora DIR`: check that figures do not fall below their floors.

Runs each benchmark that has floors. Fails if a figure is missing, or worse than its floor by more than its
margin. `--record` raises floors to the measured figures and reports those that fell; it lowers floors only with
`--lower`. `--only NAME` selects benchmarks. `--from NAME=FILE` reads figures that a benchmark has already written.
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
"""Seconds for one benchmark on a slow machine."""

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class _Options:
    corpora: Path
    floors: Path
    only: tuple[str, ...]
    measured: Mapping[str, Path]
    record: bool
    lower: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or record floors; return 0 if every floor holds."""
    options = _parse(arguments)
    floors = quality_floors.read(options.floors.read_text(encoding="utf-8"))
    unknown = [name for name in (*options.only, *options.measured) if name not in floors]
    if unknown:
        print(f"There are no floors for {', '.join(unknown)}; there are for {', '.join(floors)}.")
        return 2
    selected = [name for name in floors if not options.only or name in options.only]
    good = True
    for name in selected:
        floors[name], fine = _check(name, floors[name], options)
        good = good and fine
    if options.record:
        options.floors.write_text(quality_floors.to_toml(floors), encoding="utf-8")
    return 0 if good else 1


def _check(name: str, floors: Floors, options: _Options) -> tuple[Floors, bool]:
    """Return the floors of a benchmark after its run, and True if they hold."""
    digests = quality_floors.digest_of(options.corpora, floors.corpora)
    changed = [corpus for corpus, digest in digests.items() if floors.corpora[corpus] != digest]
    if changed and not options.lower:
        print(f"{name}: {', '.join(changed)} differ from the corpora of the floors.")
        print("Use --record --lower to record new floors with these corpora.")
        return floors, False
    measured = _measure(name, options)
    _print(name, floors, measured)
    holds = all(key in measured and one.holds(measured[key]) for key, one in floors.figures.items())
    if not options.record:
        return floors, holds
    missing = [key for key in floors.figures if key not in measured]
    if missing:
        print(f"{name}: nothing recorded, because these figures are missing: {', '.join(missing)}")
        return floors, False
    new, refused = quality_floors.record(floors, measured, lower=options.lower)
    if refused:
        print(f"{name}: not lowered without --lower: {', '.join(refused)}")
    return replace(new, corpora=digests), not refused


def _measure(name: str, options: _Options) -> dict[str, float]:
    if name in options.measured:
        return _figures(options.measured[name])
    with tempfile.TemporaryDirectory(prefix="quality-") as scratch:
        file = Path(scratch) / "figures.json"
        command = [sys.executable, "-m", f"benchmarks.{name}", "--corpora", str(options.corpora)]
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


def _parse(arguments: Sequence[str] | None) -> _Options:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, metavar="DIR", required=True)
    parser.add_argument("--floors", type=Path, metavar="FILE", default=quality_floors.FILE)
    parser.add_argument("--only", action="append", metavar="NAME", default=[])
    parser.add_argument("--from", action="append", metavar="NAME=FILE", default=[], dest="measured")
    parser.add_argument("--record", action="store_true", help="raise the floors to the measured figures")
    parser.add_argument("--lower", action="store_true", help="with --record: also lower floors")
    parsed = parser.parse_args(arguments)
    if parsed.lower and not parsed.record:
        parser.error("--lower requires --record")
    pairs = [pair.partition("=") for pair in parsed.measured]
    measured = {name: Path(file) for name, _, file in pairs}
    only = (*parsed.only, *(name for name in measured if name not in parsed.only))
    return _Options(parsed.corpora, parsed.floors, only, measured, parsed.record, parsed.lower)


if __name__ == "__main__":
    sys.exit(main())
