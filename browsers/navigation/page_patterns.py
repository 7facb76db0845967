"""Predict when a page of a batch is idle from earlier pages built the same way.

A third of the time for a page of a batch is spent waiting for parts that may come after a pause (170 of 500 ms), and
pages of one host are often one program with different data. Each page is therefore compared with earlier ones by its
code, its build and its requests. After a page that did more when it seemed idle, similar pages always get the full
wait.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness_rules import MAX_PAUSE_S, MIN_PAUSE_S, DomSample, QuietTimers, calm_s

CALM_S = 0.04
"""Seconds of idle time after which a page is observed for more activity."""
KNOWN_QUIET_S = 0.08
"""Seconds to wait for a page if similar pages did nothing more. Twice the idle time of those, because load times
vary."""
ENOUGH_ALIKE = 2
WATCHED_AGAIN = 8
"""One of this many pages gets the full wait anyway."""
MOST_KINDS = 64


@dataclass(frozen=True, slots=True)
class PageSignature:
    """Two pages are similar if they have the same code, build and number of requests to the same paths."""

    likeness: str
    requests: int
    data_shapes: frozenset[str]


@dataclass(slots=True)
class _PatternRecord:
    ended_calmly: int = 0
    is_predicted_idle: int = 0
    did_more: bool = False
    height: int = 0
    """Pixels. Height of the tallest page without lazy content."""


class PagePatterns:
    """Results of the earlier pages of one batch."""

    def __init__(self) -> None:
        """Start without results."""
        self._records: dict[PageSignature, _PatternRecord] = {}

    def is_known_idle(self, kind: PageSignature) -> bool:
        """Return True if a page of this kind needs no full wait."""
        seen = self._records.get(kind)
        if seen is None or seen.did_more or seen.ended_calmly < ENOUGH_ALIKE:
            return False
        seen.is_predicted_idle = (seen.is_predicted_idle + 1) % WATCHED_AGAIN
        return seen.is_predicted_idle > 0

    def ended_calmly(self, kind: PageSignature) -> None:
        """Record a page that did nothing more during the full wait."""
        if kind in self._records or len(self._records) < MOST_KINDS:
            self._records.setdefault(kind, _PatternRecord()).ended_calmly += 1

    def nothing_below(self, kind: PageSignature, height: int) -> None:
        """Record the height of a page without lazy content."""
        if kind in self._records:
            self._records[kind].height = max(height, self._records[kind].height)

    def height(self, kind: PageSignature) -> int:
        """Return the greatest recorded height, or 0 if unknown."""
        seen = self._records.get(kind)
        return 0 if seen is None else seen.height

    def did_more(self, kind: PageSignature) -> None:
        """Record a page that did more after it had been idle."""
        if kind in self._records or len(self._records) < MOST_KINDS:
            self._records.setdefault(kind, _PatternRecord()).did_more = True


class PageProgress:
    """Progress of one page until it is ready."""

    def __init__(self, patterns: PagePatterns) -> None:
        """Compare the page with earlier ones."""
        self._patterns = patterns
        self._kind: PageSignature | None = None
        self._contents = 0
        self.is_predicted_idle = False
        """True if similar pages did nothing more."""
        self.pause_s = MAX_PAUSE_S
        """Seconds until the next sample at the latest. One is taken when the page becomes idle."""

    def follow(self, sample: DomSample, network: NetworkActivity, timers: QuietTimers) -> QuietTimers:
        """Add a sample and return the timers, shortened if similar pages did nothing more."""
        kind = self._kind
        if kind is not None and (network.requests != kind.requests or sample.contents != self._contents):
            self.did_more()
            self._kind, self.is_predicted_idle = None, False
        if self._kind is None:
            self._watch(sample, network, calm_s(sample, network, timers))
        if not self.is_predicted_idle:
            return timers
        return replace(timers, quiet_with_data_s=min(KNOWN_QUIET_S, timers.quiet_with_data_s))

    @property
    def known_height(self) -> int:
        """Height in pixels up to which similar pages have no lazy content. A longer page may have some."""
        return self._patterns.height(self._kind) if self._kind is not None and self.is_predicted_idle else 0

    def nothing_below(self, height: int) -> None:
        """Record that the page has no lazy content."""
        if self._kind is not None:
            self._patterns.nothing_below(self._kind, height)

    def did_more(self) -> None:
        """Record that the page did more after it had been idle, or has lazy content."""
        if self._kind is not None:
            self._patterns.did_more(self._kind)

    def end(self) -> None:
        """Record that the page is ready."""
        if self._kind is not None and not self.is_predicted_idle:
            self._patterns.ended_calmly(self._kind)

    def _watch(self, sample: DomSample, network: NetworkActivity, calm_for_s: float) -> None:
        self.pause_s = max(MIN_PAUSE_S, CALM_S - calm_for_s) if calm_for_s else MAX_PAUSE_S
        if calm_for_s >= CALM_S and sample.likeness:
            self.pause_s, self._contents = MAX_PAUSE_S, sample.contents
            self._kind = PageSignature(sample.likeness, network.requests, frozenset(network.data_shapes))
            self.is_predicted_idle = self._patterns.is_known_idle(self._kind)
