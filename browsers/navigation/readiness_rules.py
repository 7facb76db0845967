"""Decide when a page is ready from its content and requests, not from a silent network.

The rules and their figures come from 33 difficult pages (pollers, clocks, spinners, late scripts, endless streams).
Waiting for a silent network took three times as long and failed on six of them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from browsers.navigation.network_activity import NetworkActivity

IDLE_S = 0.04
"""Seconds of idle time after which a page is observed for more activity."""
KNOWN_QUIET_S = 0.08
"""Seconds to wait for a page if similar pages did nothing more. Twice their idle time, because load times vary."""
MIN_SIMILAR_PAGES = 2
"""Similar pages that must have stayed idle before a prediction."""
FULL_WAIT_EVERY = 8
"""One of this many pages gets the full wait anyway."""
_MAX_SIGNATURES = 64


PageSignature = tuple[str, int, frozenset[str]]
"""Features by which two pages are similar: code and structure, number of requests, and paths of data requests."""


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
        self.pause_s = MAX_PAUSE_S
        """Seconds until the next sample at the latest. One is taken when the page becomes idle."""

    def follow(self, sample: DomSample, network: NetworkActivity, timers: QuietTimers) -> QuietTimers:
        """Add a sample and return the timers, shortened if similar pages did nothing more."""
        if self._record is not None and (network.requests != self._requests or sample.contents != self._contents):
            self.did_more()
            self._record, self.is_predicted_idle = None, False
        if self._record is None:
            idle_s = compute_idle_s(sample, network, timers)
            self.pause_s = max(MIN_PAUSE_S, IDLE_S - idle_s) if idle_s else MAX_PAUSE_S
            if idle_s >= IDLE_S and sample.code_hash:
                self.pause_s, self._contents, self._requests = MAX_PAUSE_S, sample.contents, network.requests
                self._record = self._patterns.find((sample.code_hash, network.requests, frozenset(network.data_shapes)))
                self.is_predicted_idle = self._record.predict_idle()
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


MIN_PAUSE_S = 0.02
MAX_PAUSE_S = 0.12
"""Seconds between two samples. A sample costs a millisecond of CPU, so none is taken before it can matter."""

QUIET_S = 0.10
QUIET_WITH_DATA_S = 0.25
"""Seconds without activity before a page is ready. Longer for pages that fetch data in several steps."""

SKIP_AFTER_S = 0.05
"""Seconds of the idle time that pass in real time, for work other than requests and timers: databases, workers."""

DATA_HOLDS_S = 3.0
CODE_HOLDS_S = 0.8
HOLDS_WHEN_THIN_S = 4.0
"""Seconds after which a request for data, for code, or of a page without content no longer delays the page.

It may be a long poll, or a script host that does not answer. Of the requests of `benchmarks.real_web`, whose latencies
are those of HTTP Archive, one in a hundred takes more than 1.2 s and none more than 2.4 s.
"""

_THIN_CHARS = 200
_THIN_HEIGHT = 1.1
"""Characters of text, and height in windows. A page below both is still empty: its content is expected."""

_THIN_WAIT_S = 1.5
_SPINNER_WAIT_S = 3.0
"""Seconds since the start of the wait after which a thin page, or one with a spinner, is accepted as ready.

They apply while requests, streams or web sockets are open. Otherwise virtual time runs ahead.
"""
_SPINNER_QUIET_S = 1.0
"""Seconds without activity before a page with a spinner is accepted."""
SOCKET_WAIT_S = 1.2
"""Seconds since the start of the wait in which a page waits for the first message of its web socket."""

_DOM_READY_HOLDS_S = 0.5
"""Seconds after the document was parsed in which its remaining resources delay the page."""
_LOADING_HOLDS_S = 1.5
_LOADING_QUIET_S = 0.8
"""Seconds since the start, and without activity, after which a document that is still loading counts as loaded.

A parser that waits for a script without an answer keeps readyState at "loading" forever.
"""
_BROKEN_QUIET_S = 1.0
"""Seconds without activity after which a document with a broken connection, always "loading", counts as loaded."""


class ReadinessDecision(enum.Enum):
    """Next step after a sample."""

    WAIT = "wait"
    DONE = "done"
    FORWARD = "forward"
    """Only timers can bring more: run virtual time ahead."""
    SKIP = "skip"
    """Everything is loaded unless a timer brings more soon: pass the remaining idle time in virtual time."""


@dataclass(frozen=True, slots=True)
class DomSample:
    """One sample of the page from probe.js."""

    ready_state: str
    quiet_s: float
    """Seconds since the last content mutation."""
    contents: int
    text_chars: int
    spinner: bool
    height: int
    """Height of the page in CSS pixels."""
    window_height: int
    selector_matches: bool
    """True if the selector that the caller waits for matches, or if there is none."""
    scripted: bool
    code_hash: str = ""
    """Hash that is equal for pages with the same code and structure. Empty if unknown or not requested."""
    swaps: int = 0
    """Number of times that several nodes were replaced at once: as content for scrolling, but not for waiting."""

    @classmethod
    def of(cls, raw: object) -> DomSample | None:
        """Parse the list of numbers and texts from probe.js, or return None if it is none."""
        if not isinstance(raw, list):
            return None
        ready_state, quiet_ms, contents, chars, spinner, height, window, matches, scripted, *more = raw
        flags = (bool(matches), bool(scripted))
        return cls(ready_state, quiet_ms / 1000, contents, chars, bool(spinner), height, window, *flags, *more)


@dataclass(frozen=True, slots=True)
class QuietTimers:
    """Times of `time.monotonic` and limits for the decision."""

    now: float
    started_at: float
    dom_ready_at: float | None
    is_forwarded: bool
    may_be_thin: bool = True
    """False after the page is known to have content, as for lazy content."""
    may_skip: bool = False
    quiet_s: float = QUIET_S
    quiet_with_data_s: float = QUIET_WITH_DATA_S
    broken: bool = False
    """True if the document's connection broke before its end."""


def decide_readiness(sample: DomSample, network: NetworkActivity, timers: QuietTimers) -> ReadinessDecision:
    """Return the next step: wait, end, or use virtual time.

    A page is ready when it is loaded, no request delays it, it was idle long enough and it shows content. Without
    content (little text, or a spinner), virtual time runs ahead once, or more time passes.
    """
    thin = timers.may_be_thin and _is_thin(sample)
    lacks_content = thin or sample.spinner
    idle_s = _idle_s(sample, network, timers.now)
    needed = timers.quiet_with_data_s if network.used_data else timers.quiet_s
    if not _is_loaded(sample, timers, thin) or _is_held(network, timers.now, lacks_content):
        return ReadinessDecision.WAIT
    if idle_s < needed:
        is_only_idle_left = not lacks_content and sample.selector_matches and idle_s >= SKIP_AFTER_S
        can_skip = is_only_idle_left and _can_skip(sample, network, timers)
        return ReadinessDecision.SKIP if can_skip else ReadinessDecision.WAIT
    age_s = timers.now - timers.started_at
    is_socket_silent = network.sockets and not network.socket_frames and age_s < SOCKET_WAIT_S
    if is_socket_silent or not sample.selector_matches:
        return ReadinessDecision.WAIT
    if not lacks_content or timers.is_forwarded:
        return ReadinessDecision.DONE
    return _decide_without_content(sample, network, age_s=age_s, idle_s=idle_s, needed_s=needed)


def _decide_without_content(
    sample: DomSample, network: NetworkActivity, *, age_s: float, idle_s: float, needed_s: float
) -> ReadinessDecision:
    """Return the next step for an idle page without content, for which virtual time has not run ahead."""
    if not (network.in_flight() or network.streams or network.sockets):
        return ReadinessDecision.FORWARD
    patience_s, quiet_s = (_SPINNER_WAIT_S, _SPINNER_QUIET_S) if sample.spinner else (_THIN_WAIT_S, needed_s)
    return ReadinessDecision.DONE if age_s > patience_s and idle_s > quiet_s else ReadinessDecision.WAIT


def pause_s(sample: DomSample, network: NetworkActivity, timers: QuietTimers) -> float:
    """Return the seconds in which only a network event can change the decision."""
    if not _is_loaded(sample, timers, False) or _is_held(network, timers.now, False):
        return MAX_PAUSE_S
    needed = timers.quiet_with_data_s if network.used_data else timers.quiet_s
    if _can_skip(sample, network, timers):
        needed = min(needed, SKIP_AFTER_S)
    return min(MAX_PAUSE_S, max(MIN_PAUSE_S, needed - _idle_s(sample, network, timers.now)))


def compute_idle_s(sample: DomSample, network: NetworkActivity, timers: QuietTimers) -> float:
    """Return the seconds since the last activity if only timers can bring more, else 0."""
    thin = timers.may_be_thin and _is_thin(sample)
    if thin or sample.spinner or not sample.selector_matches or network.polls or sample.ready_state != "complete":
        return 0.0
    if network.in_flight() or network.has_push_source:
        return 0.0
    return _idle_s(sample, network, timers.now)


def _can_skip(sample: DomSample, network: NetworkActivity, timers: QuietTimers) -> bool:
    """Return True if only timers could bring more. Other sources need real time."""
    held = network.in_flight() or network.has_push_source
    return timers.may_skip and sample.ready_state == "complete" and not held


def _idle_s(sample: DomSample, network: NetworkActivity, now: float) -> float:
    return sample.quiet_s if network.polls else min(sample.quiet_s, now - network.last_at)


def _is_thin(sample: DomSample) -> bool:
    return sample.text_chars < _THIN_CHARS and sample.height <= sample.window_height * _THIN_HEIGHT


def _is_loaded(sample: DomSample, timers: QuietTimers, thin: bool) -> bool:
    if sample.ready_state == "complete":
        return True
    if sample.ready_state == "interactive":
        return timers.dom_ready_at is not None and timers.now - timers.dom_ready_at > _DOM_READY_HOLDS_S
    if timers.broken:
        return sample.quiet_s > _BROKEN_QUIET_S
    return not thin and timers.now - timers.started_at > _LOADING_HOLDS_S and sample.quiet_s > _LOADING_QUIET_S


def _is_held(network: NetworkActivity, now: float, lacks_content: bool) -> bool:
    for request in network.in_flight():
        data_holds_s = min(DATA_HOLDS_S, network.data_holds_s)
        limit_s = HOLDS_WHEN_THIN_S if lacks_content else data_holds_s if request.is_data else CODE_HOLDS_S
        if (network.holds_all or now - request.since < limit_s) and not network.is_polled(request.path):
            return True
    return False
