"""When is a page done: by its own content and requests, not by a silent network.

The rules and their figures come from 33 awkward pages (pollers, clocks, spinners, late scripts, endless
streams), where waiting for a silent network took three times as long and missed six of them.
"""

from __future__ import annotations

import asyncio
import enum
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from browsers.cdp import CommandFailed, Event, Session
from browsers.scripts import PROBE
from browsers.traffic import Traffic

__all__ = ["WORLD", "Clock", "Decision", "Look", "Settling", "decide", "pause_s"]

WORLD = "settling"
"""Name of the isolated world that our scripts run in."""

MIN_PAUSE_S = 0.02
MAX_PAUSE_S = 0.12
"""Between two looks. A look costs a millisecond of CPU, so none is taken before it can bring a decision."""

QUIET_S = 0.10
QUIET_WITH_DATA_S = 0.25
"""How long nothing may have come: longer for pages that fetch data, whose parts come one after the other."""

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

LOOK_LIMIT_S = 1.0
"""A page whose world does not answer within this runs an endless loop: its script is ended."""

FORWARD_BUDGET_MS = 4000
FORWARD_LIMIT_S = 3.0


class Decision(enum.Enum):
    """What to do after a look at the page."""

    WAIT = "wait"
    DONE = "done"
    FORWARD = "forward"
    """Only timers can bring more: let virtual time run ahead of real time."""


@dataclass(frozen=True, slots=True)
class Look:
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

    @classmethod
    def of(cls, raw: list[object]) -> Look:
        """From the tuple of probe.js."""
        ready_state, quiet_ms, contents, chars, spinner, height, window, wanted, scripted = raw
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
        )


@dataclass(frozen=True, slots=True)
class Clock:
    """Moments of `time.monotonic` that the decision needs."""

    now: float
    started_at: float
    dom_ready_at: float | None
    forwarded: bool
    """Whether virtual time has been used up."""
    may_be_thin: bool = True
    """False once the page is known to have content, as in the lazy steps."""
    quiet_s: float = QUIET_S
    quiet_with_data_s: float = QUIET_WITH_DATA_S


def decide(look: Look, traffic: Traffic, clock: Clock) -> Decision:
    """Whether the page is done."""
    thin = clock.may_be_thin and _is_thin(look)
    waits = thin or look.spinner
    quiet_for = _quiet_for(look, traffic, clock.now)
    needed = clock.quiet_with_data_s if traffic.used_data else clock.quiet_s
    if not _is_loaded(look, clock, thin) or _is_held(traffic, clock.now, waits) or quiet_for < needed:
        return Decision.WAIT
    age = clock.now - clock.started_at
    if traffic.sockets and not traffic.socket_frames and age < SOCKET_WAIT_S:
        return Decision.WAIT
    if not look.wanted:
        return Decision.WAIT
    if not waits or clock.forwarded:
        return Decision.DONE
    if not (traffic.in_flight() or traffic.streams or traffic.sockets):
        return Decision.FORWARD
    patience, calm = (SPINNER_WAIT_S, SPINNER_QUIET_S) if look.spinner else (THIN_WAIT_S, needed)
    return Decision.DONE if age > patience and quiet_for > calm else Decision.WAIT


def pause_s(look: Look, traffic: Traffic, clock: Clock) -> float:
    """How long nothing but a network event can change the decision."""
    if not _is_loaded(look, clock, False) or _is_held(traffic, clock.now, False):
        return MAX_PAUSE_S
    needed = clock.quiet_with_data_s if traffic.used_data else clock.quiet_s
    return min(MAX_PAUSE_S, max(MIN_PAUSE_S, needed - _quiet_for(look, traffic, clock.now)))


def _quiet_for(look: Look, traffic: Traffic, now: float) -> float:
    return look.quiet_s if traffic.polls else min(look.quiet_s, now - traffic.last_at)


def _is_thin(look: Look) -> bool:
    return look.text_chars < THIN_CHARS and look.height <= look.window_height * THIN_HEIGHT


def _is_loaded(look: Look, clock: Clock, thin: bool) -> bool:
    if look.ready_state == "complete":
        return True
    if look.ready_state == "interactive":
        return clock.dom_ready_at is not None and clock.now - clock.dom_ready_at > DOM_READY_HOLDS_S
    return not thin and clock.now - clock.started_at > LOADING_HOLDS_S and look.quiet_s > LOADING_QUIET_S


def _is_held(traffic: Traffic, now: float, waits: bool) -> bool:
    for request in traffic.in_flight():
        limit_s = HOLDS_WHEN_THIN_S if waits else DATA_HOLDS_S if request.is_data else CODE_HOLDS_S
        if now - request.since < limit_s and not traffic.is_polled(request.path):
            return True
    return False


class Settling:
    """Looks at one tab until it is done."""

    def __init__(
        self, session: Session, traffic: Traffic, frame_id: str, selector: str | None = None
    ) -> None:
        self.traffic = traffic
        self.started_at = time.monotonic()
        self.dom_ready_at: float | None = None
        self.last_look: Look | None = None
        self._session = session
        self._frame_id = frame_id
        self._selector = json.dumps(selector)
        self._world: int | None = None
        self._contents = -1
        self._forwarded = False
        self.loops_ended = 0

    def new_document(self) -> None:
        """The page went to another document: its world is gone."""
        self._world = None
        self._contents = -1
        self.dom_ready_at = None
        self.traffic.reset()

    def dom_ready(self) -> None:
        """The document is parsed."""
        self.dom_ready_at = time.monotonic()

    async def until_done(
        self,
        limit_s: float,
        *,
        may_be_thin: bool = True,
        quiet_s: float = QUIET_S,
        quiet_with_data_s: float = QUIET_WITH_DATA_S,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Wait until the page is done; False when `limit_s` ran out or `stop` said so first."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end and not stop():
            look, wait_s = await self.look(), MIN_PAUSE_S
            if look is not None:
                self._note(look)
                clock = Clock(
                    time.monotonic(),
                    self.started_at,
                    self.dom_ready_at,
                    self._forwarded,
                    may_be_thin,
                    quiet_s,
                    quiet_with_data_s,
                )
                decision = decide(look, self.traffic, clock)
                if decision is Decision.DONE:
                    return True
                if decision is Decision.FORWARD:
                    await self._run_timers()
                    continue
                wait_s = pause_s(look, self.traffic, clock)
            await self.traffic.quiet_or(wait_s)
        return False

    async def look(self) -> Look | None:
        """One look; None when the page cannot answer now."""
        expression = f"globalThis.__settling?__settling.look({self._selector}):0"
        try:
            raw = await self.evaluate(expression, limit_s=LOOK_LIMIT_S)
            if not raw:
                # The new-document script does not run in documents without a script of their own.
                await self.evaluate(PROBE, limit_s=LOOK_LIMIT_S)
                raw = await self.evaluate(expression, limit_s=LOOK_LIMIT_S)
        except TimeoutError:
            self.loops_ended += 1
            self._session.post("Runtime.terminateExecution")
            return None
        except CommandFailed:
            return None
        return Look.of(raw) if isinstance(raw, list) else None

    async def evaluate(self, expression: str, *, limit_s: float, promise: bool = False) -> object:
        """Evaluate in the isolated world of the main frame; `promise` waits for what it resolves to.

        Raises:
            TimeoutError: the page does not answer.
            CommandFailed: it is between two documents.
        """
        try:
            if self._world is None:
                made = await self._session.send(
                    "Page.createIsolatedWorld", frameId=self._frame_id, worldName=WORLD, limit_s=limit_s
                )
                self._world = made["executionContextId"]
            answer = await self._session.send(
                "Runtime.evaluate",
                expression=expression,
                contextId=self._world,
                returnByValue=True,
                awaitPromise=promise,
                limit_s=limit_s,
            )
        except CommandFailed:
            self._world = None
            raise
        value: object = answer.get("result", {}).get("value")
        return value

    def _note(self, look: Look) -> None:
        self.last_look = look
        if look.contents != self._contents:
            self._contents = look.contents
            self.traffic.content_came()

    async def _run_timers(self) -> None:
        """Let the page's timers run ahead: a spinner of 1.2 s ends after 0.3 s."""
        self._forwarded = True
        expired: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def on_expired(_: Event) -> None:
            if not expired.done():
                expired.set_result(None)

        self._session.on("Emulation.virtualTimeBudgetExpired", on_expired)
        try:
            await self._session.send(
                "Emulation.setVirtualTimePolicy",
                policy="pauseIfNetworkFetchesPending",
                budget=FORWARD_BUDGET_MS,
                maxVirtualTimeTaskStarvationCount=1000,
            )
            async with asyncio.timeout(FORWARD_LIMIT_S):
                await expired
        except (TimeoutError, CommandFailed):
            pass
        finally:
            self._session.post("Emulation.setVirtualTimePolicy", policy="advance")
