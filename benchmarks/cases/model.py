"""Cases, the verdicts on their expectations, and the figures of an area."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.command_line import Figures

CERTAIN = 0.8
"""Confidence from which a wrong value counts as silent."""
_PER = 100
"""Expectations to which the silent failures are related."""
FORM_NOTES = ("appear as plain text", "are shown only once", "Fields by name may be wrong")
"""Parts of warnings that stand in every answer of a kind. They announce no certain failure."""


@dataclass(frozen=True, slots=True)
class Case:
    """An input, and what a right answer holds."""

    area: str
    name: str
    folder: Path
    data: Mapping[str, Any]
    """Content of `case.json`, with the rows of the harness in place of expectations in words."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Inputs that stand in the list of cases itself."""

    def has_input(self, name: str) -> bool:
        """Return True if an input file is here."""
        return name in self.texts or (bool(name) and (self.folder / name).is_file())

    def read(self, name: str) -> bytes:
        """Return the bytes of an input file."""
        return self.texts[name].encode() if name in self.texts else (self.folder / name).read_bytes()


@dataclass(frozen=True, slots=True)
class Judgment:
    """Verdict on one expectation."""

    expectation: str
    holds: bool
    is_silent: bool = False
    """True for a failure that the answer does not announce."""
    found: str = ""
    """What came instead, for people."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Verdicts on all expectations of a case."""

    case: Case
    judgments: Sequence[Judgment] = ()
    not_run: str = ""
    """Reason if the case was not run: it then counts nowhere."""
    absent: Sequence[str] = ()
    """Input files that are not here: their expectations count nowhere."""

    @property
    def is_right(self) -> bool:
        """True if every expectation holds."""
        return all(one.holds for one in self.judgments)


def announces_loss(warnings: Iterable[str], about: str = "") -> bool:
    """Return True if a warning reports a loss or a doubt; with `about`, only if it names this value."""
    losses = (one for one in warnings if not any(note in one for note in FORM_NOTES))
    return any(about.casefold() in one.casefold() for one in losses)


def area_figures(area: str, results: Sequence[CaseResult]) -> Figures:
    """Return the figures of the cases of one area."""
    ran = [one for one in results if not one.not_run]
    judgments = [judgment for one in ran for judgment in one.judgments]
    figures: Figures = {f"{area}.cases": len(ran), f"{area}.not_run": len(results) - len(ran)}
    if not judgments:
        return figures
    return figures | {
        f"{area}.expectations": len(judgments),
        f"{area}.held": sum(one.holds for one in judgments) / len(judgments),
        f"{area}.cases_right": sum(one.is_right for one in ran),
        f"{area}.silent": _PER * sum(one.is_silent for one in judgments) / len(judgments),
    }
