"""Turn violations into flat figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.common.command_line import Figures
from benchmarks.integrity.case import Violation
from benchmarks.integrity.invariants import INVARIANTS
from benchmarks.integrity.relations import Relation

_SILENT_INVARIANTS = (
    "sentence.inner",
    "pair.term",
    "pair.label",
    "pair.cells",
    "pair.column",
    "pair.intro",
    "pair.item",
    "words",
    "mark",
    "link",
    "order",
    "code",
)
"""Faults after which the output reads well but says something else."""
_SILENT_OUTCOMES = ("torn", "moved", "mark.", "pair.column", "words.joined", "link.target", "code")
"""The same for what a relation inserts."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A relation on a page, with what is broken."""

    relation: Relation
    violations: Sequence[Violation]

    @property
    def name(self) -> str:
        """Kind and name of the relation."""
        return f"{self.relation.kind}.{self.relation.name}"

    @property
    def is_silent(self) -> bool:
        """True if the output reads well but says something else."""
        is_exact = self.relation.kind == "same" and self.relation.least == 1.0
        return any(
            one.name.startswith(_SILENT_OUTCOMES) or (is_exact and one.name in ("lost", "more"))
            for one in self.violations
        )


def share(part: float, whole: float) -> float:
    """Return a part of a whole; 0 of nothing."""
    return part / whole if whole else 0.0


def invariant_figures(by_page: Sequence[Sequence[Violation]], examined: Mapping[str, int]) -> Figures:
    """Return for each invariant its violations and its examined places, and the figures of all."""
    figures: Figures = {}
    counts = Counter(one.name for violations in by_page for one in violations)
    for name, base in INVARIANTS.items():
        if counts[name] or examined.get(base):
            figures[f"invariant.{name}.violations"] = counts[name]
            figures[f"invariant.{name}.examined"] = examined.get(base, 0)
            figures[f"invariant.{name}.pages"] = sum(any(one.name == name for one in found) for found in by_page)
    silent = [[one for one in violations if one.name.startswith(_SILENT_INVARIANTS)] for violations in by_page]
    for prefix, pages in (("invariant", by_page), ("silent.invariant", silent)):
        total = sum(map(len, pages))
        figures[f"{prefix}.violations"] = total
        figures[f"{prefix}.per_1000_pages"] = share(1_000 * total, len(pages))
        figures[f"{prefix}.pages_share"] = share(sum(map(bool, pages)), len(pages))
    return figures


def relation_figures(trials: Sequence[Trial]) -> Figures:
    """Return for each relation how often it was tried and broken, and the shares of each kind and of all."""
    figures: Figures = {}
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        for name in (trial.name, trial.relation.kind, ""):
            groups.setdefault(name, []).append(trial)
    for name, group in groups.items():
        prefix = f"relation.{name}." if name else "relation."
        broken = sum(bool(trial.violations) for trial in group)
        figures |= {f"{prefix}tried": len(group), f"{prefix}broken": broken}
        figures[f"{prefix}broken_share"] = share(broken, len(group))
    silent = sum(trial.is_silent for trial in trials)
    return figures | {"silent.relation.broken": silent, "silent.relation.broken_share": share(silent, len(trials))}


def fact_figures(outcomes: Mapping[str, Sequence[str]]) -> Figures:
    """Return for each kind of page its outcomes, and the shares of each group and of all."""
    figures: Figures = {}
    groups: dict[str, Counter[str]] = {"": Counter()}
    for name, found in outcomes.items():
        counts = Counter(found)
        figures |= {f"fact.{name}.{outcome}": counts[outcome] for outcome in ("right", "missing", "wrong", "skipped")}
        groups.setdefault(f"{name.partition('.')[0]}.", Counter()).update(counts)
        groups[""].update(counts)
    for group, counts in groups.items():
        judged = counts.total() - counts["skipped"]
        figures |= {f"fact.{group}{key}_share": share(counts[key], judged) for key in ("right", "missing", "wrong")}
        figures[f"silent.fact.{group}wrong_share"] = figures[f"fact.{group}wrong_share"]
    return figures


def fault_figures(prefix: str, faults: Iterable[tuple[str, bool]]) -> Figures:
    """Return for each fault how often it was put in and reported, and the share of all that was reported."""
    tried: Counter[str] = Counter()
    reported: Counter[str] = Counter()
    for name, is_reported in faults:
        tried[name] += 1
        reported[name] += is_reported
    figures: Figures = {}
    for name in tried:
        figures |= {f"{prefix}.{name}.tried": tried[name], f"{prefix}.{name}.reported": reported[name]}
    return figures | {f"{prefix}.recall": share(reported.total(), tried.total())}
