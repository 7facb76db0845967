"""Predict when a page of a batch is idle from earlier pages built the same way.

A third of the time for a page of a batch is spent waiting for parts that may come after a pause (170 of 500 ms), and
pages of one host are often one program with different data. Each page is therefore compared with earlier ones by its
code, its build and its requests. After a page that did more when it seemed idle, similar pages always get the full
wait.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness_rules import MAX_PAUSE_S, MIN_PAUSE_S, DomSample, QuietTimers, compute_idle_s

IDLE_S = 0.04
"""Seconds of idle time after which a page is observed for more activity."""
KNOWN_QUIET_S = 0.08
"""Seconds to wait for a page if similar pages did nothing more. Twice the idle time of those, because load times
vary."""
MIN_SIMILAR_PAGES = 2
"""Similar pages that must have stayed idle before a prediction."""
FULL_WAIT_EVERY = 8
"""One of this many pages gets the full wait anyway."""
_MAX_SIGNATURES = 64
"""Maximum of records of one batch."""


@dataclass(frozen=True, slots=True)
class PageSignature:
    """Features by which two pages are similar: code and structure, number of requests, and paths of data requests."""

    code_hash: str
    requests: int
    data_shapes: frozenset[str]


@dataclass(slots=True)
class PatternRecord:
    """Results of similar pages."""

    stayed_idle: int = 0
    """Number of pages that did nothing more during the full wait."""
    did_more: bool = False
    """True if a page did more after it had been idle, or has lazy content."""
    height: int = 0
    """Pixels. Height of the tallest page without lazy content."""
    _predictions: int = 0

    def predict_idle(self) -> bool:
        """Return True if the next similar page needs no full wait. Each call counts as one page (`FULL_WAIT_EVERY`)."""
        if self.did_more or self.stayed_idle < MIN_SIMILAR_PAGES:
            return False
        self._predictions = (self._predictions + 1) % FULL_WAIT_EVERY
        return self._predictions > 0


class PagePatterns:
    """Record the progress of the earlier pages of one batch, to predict later ones."""

    def __init__(self) -> None:
        """Start without results."""
        self._records: dict[PageSignature, PatternRecord] = {}

    def find(self, signature: PageSignature) -> PatternRecord:
        """Return the record of similar pages. Beyond _MAX_SIGNATURES a new record is not stored."""
        if signature in self._records or len(self._records) < _MAX_SIGNATURES:
            return self._records.setdefault(signature, PatternRecord())
        return PatternRecord()


class PageProgress:
    """Progress of one page until it is ready."""

    def __init__(self, patterns: PagePatterns) -> None:
        """Compare the page with earlier pages of its batch."""
        self._patterns = patterns
        self._record: PatternRecord | None = None
        """Record of similar pages, from the time when the page is idle."""
        self._requests = 0
        self._contents = 0
        self.is_predicted_idle = False
        """True if similar pages did nothing more."""
        self.pause_s = MAX_PAUSE_S
        """Seconds until the next sample at the latest. One is taken when the page becomes idle."""

    def follow(self, sample: DomSample, network: NetworkActivity, timers: QuietTimers) -> QuietTimers:
        """Add a sample and return the timers, shortened if similar pages did nothing more."""
        if self._record is not None and (network.requests != self._requests or sample.contents != self._contents):
            self.did_more()
            self._record, self.is_predicted_idle = None, False
        if self._record is None:
            self._compare(sample, network, compute_idle_s(sample, network, timers))
        if not self.is_predicted_idle:
            return timers
        return replace(timers, quiet_with_data_s=min(KNOWN_QUIET_S, timers.quiet_with_data_s))

    @property
    def known_height(self) -> int:
        """Height in pixels up to which similar pages have no lazy content. A longer page may have some."""
        return self._record.height if self._record is not None and self.is_predicted_idle else 0

    def nothing_below(self, height: int) -> None:
        """Record that a page of this height has no lazy content."""
        if self._record is not None:
            self._record.height = max(height, self._record.height)

    def did_more(self) -> None:
        """Record that the page did more after it had been idle, or has lazy content."""
        if self._record is not None:
            self._record.did_more = True

    def end(self) -> None:
        """Record that the page is ready."""
        if self._record is not None and not self.is_predicted_idle:
            self._record.stayed_idle += 1

    def _compare(self, sample: DomSample, network: NetworkActivity, idle_s: float) -> None:
        self.pause_s = max(MIN_PAUSE_S, IDLE_S - idle_s) if idle_s else MAX_PAUSE_S
        if idle_s >= IDLE_S and sample.code_hash:
            self.pause_s, self._contents, self._requests = MAX_PAUSE_S, sample.contents, network.requests
            signature = PageSignature(sample.code_hash, network.requests, frozenset(network.data_shapes))
            self._record = self._patterns.find(signature)
            self.is_predicted_idle = self._record.predict_idle()
