"""Inputs that are read with and without a rule, and the sums of which the figures consist."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.common.command_line import Figures

Counts = Mapping[str, tuple[float, float]]
"""Numerator and denominator of each figure."""

_SEED = "halves of the domains"


@dataclass(frozen=True, slots=True)
class Answer:
    """Contribution of an input to the figures, and a digest of what was read."""

    counts: Counts
    digest: int = 0
    failures: frozenset[str] = field(default_factory=frozenset)
    """Expectations of a case that do not hold."""


@dataclass(frozen=True, slots=True)
class Item:
    """An input: a page, a document, a case or a site."""

    suite: str
    key: str
    domain: str
    """Inputs of one domain are in the same half."""
    read: Callable[[], Answer]

    @property
    def half(self) -> int:
        """Return 0 or 1, the half of the domain."""
        return zlib.crc32(f"{_SEED} {self.domain}".encode()) & 1


def digest(*texts: object) -> int:
    """Return a number that differs if what was read differs."""
    return zlib.crc32(repr(texts).encode("utf-8", "replace"))


def figures(sums: Mapping[str, tuple[float, float]]) -> Figures:
    """Return the figures of summed counts."""
    return {name: above / below for name, (above, below) in sums.items() if below}


def add(counts: Iterable[tuple[Counts, float]]) -> dict[str, tuple[float, float]]:
    """Return the sums of counts, each with a weight."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one, weight in counts:
        for name, (above, below) in one.items():
            sums[name][0] += weight * above
            sums[name][1] += weight * below
    return {name: (above, below) for name, (above, below) in sums.items()}
