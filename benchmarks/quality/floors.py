"""Floors of benchmark figures: the recorded figure, its margin for noise, and digests of the corpora.

`floors.toml` has a table for each benchmark: its corpora with digests of their files, and each figure with its
floor, its margin and, for times and errors, `better = "lower"`. A floor is always a measured figure.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common.corpora import corpus_folder

FILE = Path(__file__).resolve().parents[1] / "floors.toml"

_CHUNK = 1 << 20
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a benchmark."""

    floor: float
    margin: float
    lower_is_better: bool = False

    @property
    def bound(self) -> float:
        """Worst value that is still within the margin."""
        return self.floor + self.margin if self.lower_is_better else self.floor - self.margin

    def holds(self, value: float) -> bool:
        """Return True if a value is within the margin of the floor or better."""
        return value <= self.bound if self.lower_is_better else value >= self.bound

    def is_better(self, value: float) -> bool:
        """Return True if a value is better than the floor by more than rounding."""
        gain = self.floor - value if self.lower_is_better else value - self.floor
        return round(gain, _DIGITS) > 0


@dataclass(frozen=True, slots=True)
class Floors:
    """Floors of one benchmark."""

    corpora: Mapping[str, str]
    """Digest of each corpus, by name."""
    figures: Mapping[str, Figure]


def read(text: str) -> dict[str, Floors]:
    """Parse the floors of each benchmark in a TOML text."""
    return {
        name: Floors(
            corpora=dict(table.get("corpora", {})),
            figures={
                key: Figure(float(row["floor"]), float(row["margin"]), row.get("better") == "lower")
                for key, row in table["figures"].items()
            },
        )
        for name, table in tomllib.loads(text).items()
    }


def to_toml(floors: Mapping[str, Floors]) -> str:
    """Return the floors as TOML."""
    lines = [
        "# Floors of benchmark figures, read and written by `python -m benchmarks.quality`: the recorded figures,",
        "# digests of the corpora, and margins for noise. `better` is set for figures where lower is better.",
    ]
    for name, one in floors.items():
        lines += ["", f"[{name}.corpora]", *(f'{corpus} = "{sha}"' for corpus, sha in one.corpora.items())]
        lines += ["", f"[{name}.figures]"]
        lines += [f'"{key}" = {_row(figure)}' for key, figure in one.figures.items()]
    return "\n".join(lines) + "\n"


def record(floors: Floors, measured: Mapping[str, float], *, lower: bool) -> tuple[Floors, list[str]]:
    """Return the floors with better figures, and the names of floors that would be lowered.

    `lower`: lower them.
    """
    figures, refused = {}, []
    for key, figure in floors.figures.items():
        value = measured.get(key)
        if value is not None and (figure.is_better(value) or (lower and value != figure.floor)):
            figure = replace(figure, floor=round(value, _DIGITS))
        elif value is not None and not figure.holds(value):
            refused.append(key)
        figures[key] = figure
    return replace(floors, figures=figures), refused


def digest_of(corpora: Path, names: Iterable[str]) -> dict[str, str]:
    """Return a digest of each corpus: of the names and contents of all its files.

    Raises:
        FileNotFoundError: a corpus is missing.
    """
    return {name: _digest(corpus_folder(corpora, name)) for name in names}


def _digest(folder: Path) -> str:
    whole = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256()
        with file.open("rb") as opened:
            while chunk := opened.read(_CHUNK):
                content.update(chunk)
        whole.update(f"{file.relative_to(folder).as_posix()}\n{content.hexdigest()}\n".encode())
    return whole.hexdigest()[:16]


def _row(figure: Figure) -> str:
    better = ', better = "lower"' if figure.lower_is_better else ""
    return f"{{ floor = {figure.floor:g}, margin = {figure.margin:g}{better} }}"
