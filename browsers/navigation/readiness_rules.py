"""The rules by which a page counts as done: by its own content and requests, not by a silent network.

The rules and their figures come from 33 awkward pages (pollers, clocks, spinners, late scripts, endless
streams), where waiting for a silent network took three times as long and missed six of them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from browsers.navigation.network_activity import NetworkActivity

MIN_PAUSE_S = 0.02
MAX_PAUSE_S = 0.12
"""Between two looks. A look costs a millisecond of CPU, so none is taken before it can bring a decision."""

QUIET_S = 0.10
QUIET_WITH_DATA_S = 0.25
"""How long nothing may have come: longer for pages that fetch data, whose parts come one after the other."""

SKIP_AFTER_S = 0.05
"""The part of the quiet that really passes, for what is neither request nor timer: databases, workers."""

DATA_HOLDS_S = 1.2
CODE_HOLDS_S = 0.8
HOLDS_WHEN_THIN_S = 4.0
"""A request older than this no longer holds the page: a long poll, a dead script host."""

THIN_CHARS = 200
THIN_HEIGHT = 1.1
"""Less text than this and no taller than the window (in windows): the content is still to come."""

THIN_WAIT_S = 1.5
SPINNER_WAIT_S = 3.0
SPINNER_QUIET_S = 1.0
SOCKET_WAIT_S = 1.2

DOM_READY_HOLDS_S = 0.5
LOADING_HOLDS_S = 1.5
LOADING_QUIET_S = 0.8
"""A parser that waits for a dead script keeps readyState at "loading" for ever."""
BROKEN_QUIET_S = 1.0
"""So does a document that broke off. The looks at a younger one do not say what is there (probe.js)."""


class ReadinessDecision(enum.Enum):
    """What to do after a look at the page."""

    WAIT = "wait"
    DONE = "done"
    FORWARD = "forward"
    """Only timers can bring more: let virtual time run ahead of real time."""
    SKIP = "skip"
    """All is there, unless a timer brings more soon: let the rest of the quiet pass in virtual time."""


@dataclass(frozen=True, slots=True)
class DomSample:
    """One look at the page, as probe.js gives it."""

    ready_state: str
    quiet_s: float
    contents: int
    """Content mutations so far."""
    text_chars: int
    spinner: bool
    height: int
    window_height: int
    wanted: bool
    """Whether what the caller waits for is there."""
    scripted: bool
    """Whether the page has any script."""
    likeness: str = ""
    """The same for pages of one program in one state; empty where that was not asked, or cannot be told."""

    @classmethod
    def of(cls, raw: list[object]) -> DomSample:
        """From the tuple of probe.js."""
        ready_state, quiet_ms, contents, chars, spinner, height, window, wanted, scripted, likeness = raw
        return cls(
            str(ready_state),
            float(str(quiet_ms)) / 1000,
            int(str(contents)),
            int(str(chars)),
            bool(spinner),
            int(str(height)),
            int(str(window)),
            bool(wanted),
            bool(scripted),
            str(likeness),
        )


@dataclass(frozen=True, slots=True)
class QuietTimers:
    """Moments of `time.monotonic` that the decision needs."""

    now: float
    started_at: float
    dom_ready_at: float | None
    forwarded: bool
    """Whether virtual time has been used up."""
    may_be_thin: bool = True
    """False once the page is known to have content, as in the lazy steps."""
    may_skip: bool = False
    """Whether the page's time may be taken over."""
    quiet_s: float = QUIET_S
    quiet_with_data_s: float = QUIET_WITH_DATA_S
    broken: bool = False
    """Whether no more of the document will come, though its end did not."""


def decide_readiness(look: DomSample, traffic: NetworkActivity, clock: QuietTimers) -> ReadinessDecision:
    """Whether the page is done."""
    thin = clock.may_be_thin and _is_thin(look)
    waits = thin or look.spinner
    quiet_for = _quiet_for(look, traffic, clock.now)
    needed = clock.quiet_with_data_s if traffic.used_data else clock.quiet_s
    if not _is_loaded(look, clock, thin) or _is_held(traffic, clock.now, waits):
        return ReadinessDecision.WAIT
    if quiet_for < needed:
        skips = not waits and look.wanted and quiet_for >= SKIP_AFTER_S and _can_skip(look, traffic, clock)
        return ReadinessDecision.SKIP if skips else ReadinessDecision.WAIT
    age = clock.now - clock.started_at
    if traffic.sockets and not traffic.socket_frames and age < SOCKET_WAIT_S:
        return ReadinessDecision.WAIT
    if not look.wanted:
        return ReadinessDecision.WAIT
    if not waits or clock.forwarded:
        return ReadinessDecision.DONE
    if not (traffic.in_flight() or traffic.streams or traffic.sockets):
        return ReadinessDecision.FORWARD
    patience, calm = (SPINNER_WAIT_S, SPINNER_QUIET_S) if look.spinner else (THIN_WAIT_S, needed)
    return ReadinessDecision.DONE if age > patience and quiet_for > calm else ReadinessDecision.WAIT


def pause_s(look: DomSample, traffic: NetworkActivity, clock: QuietTimers) -> float:
    """How long nothing but a network event can change the decision."""
    if not _is_loaded(look, clock, False) or _is_held(traffic, clock.now, False):
        return MAX_PAUSE_S
    needed = clock.quiet_with_data_s if traffic.used_data else clock.quiet_s
    if _can_skip(look, traffic, clock):
        needed = min(needed, SKIP_AFTER_S)
    return min(MAX_PAUSE_S, max(MIN_PAUSE_S, needed - _quiet_for(look, traffic, clock.now)))


def calm_s(look: DomSample, traffic: NetworkActivity, clock: QuietTimers) -> float:
    """How long the page has stood as it is while nothing but its timers could bring more."""
    thin = clock.may_be_thin and _is_thin(look)
    if thin or look.spinner or not look.wanted or traffic.polls or look.ready_state != "complete":
        return 0.0
    if traffic.in_flight() or _comes_by_itself(traffic):
        return 0.0
    return _quiet_for(look, traffic, clock.now)


def _can_skip(look: DomSample, traffic: NetworkActivity, clock: QuietTimers) -> bool:
    """Whether timers alone could still bring something: what comes by itself keeps to real time."""
    held = traffic.in_flight() or _comes_by_itself(traffic)
    return clock.may_skip and look.ready_state == "complete" and not held


def _comes_by_itself(traffic: NetworkActivity) -> bool:
    return bool(traffic.streams or traffic.sockets or traffic.workers)


def _quiet_for(look: DomSample, traffic: NetworkActivity, now: float) -> float:
    return look.quiet_s if traffic.polls else min(look.quiet_s, now - traffic.last_at)


def _is_thin(look: DomSample) -> bool:
    return look.text_chars < THIN_CHARS and look.height <= look.window_height * THIN_HEIGHT


def _is_loaded(look: DomSample, clock: QuietTimers, thin: bool) -> bool:
    if look.ready_state == "complete":
        return True
    if look.ready_state == "interactive":
        return clock.dom_ready_at is not None and clock.now - clock.dom_ready_at > DOM_READY_HOLDS_S
    if clock.broken:
        return look.quiet_s > BROKEN_QUIET_S
    return not thin and clock.now - clock.started_at > LOADING_HOLDS_S and look.quiet_s > LOADING_QUIET_S


def _is_held(traffic: NetworkActivity, now: float, waits: bool) -> bool:
    for request in traffic.in_flight():
        limit_s = HOLDS_WHEN_THIN_S if waits else DATA_HOLDS_S if request.is_data else CODE_HOLDS_S
        if now - request.since < limit_s and not traffic.is_polled(request.path):
            return True
    return False
