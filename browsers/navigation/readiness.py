"""Wait until a page is ready, and shorten the wait with virtual time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.page_patterns import PageProgress
from browsers.navigation.readiness_rules import (
    MIN_PAUSE_S,
    QUIET_S,
    QUIET_WITH_DATA_S,
    DomSample,
    QuietTimers,
    ReadinessDecision,
    decide_readiness,
    pause_s,
)
from browsers.scripts import PROBE

MAX_TASKS_A_MOMENT = 1000
"""Time moves on after so many tasks, even when a page always finds one more to do at once."""


class VirtualTime:
    """The clock of one tab."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._granted_at: float | None = None

    @property
    def taken(self) -> bool:
        """Whether the page's time is ours, and stands still."""
        return self._granted_at is not None

    async def skip(self, seconds: float, limit_s: float, *, waits_for_requests: bool = False) -> None:
        """Run the timers of the next `seconds`; ends when they have run, at the latest after `limit_s`.

        `waits_for_requests`: time stands still while anything is being loaded, a picture too.
        """
        expired: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        policy = "pauseIfNetworkFetchesPending" if waits_for_requests else "advance"
        granted = self._session.start("Emulation.setVirtualTimePolicy", **_budget(policy, seconds))

        def on_expired(_: Event) -> None:
            # An event before the answer is of an earlier grant.
            if granted.done() and not expired.done():
                expired.set_result(None)

        self._session.on("Emulation.virtualTimeBudgetExpired", on_expired)
        try:
            async with asyncio.timeout(limit_s):
                await granted
                await expired
        except (TimeoutError, CommandFailedError):
            pass
        finally:
            self._granted_at = time.monotonic()

    def keep_up(self) -> None:
        """Grant a page whose time was taken what has really passed since."""
        if self._granted_at is None:
            return
        now = time.monotonic()
        self._session.post("Emulation.setVirtualTimePolicy", **_budget("advance", now - self._granted_at))
        self._granted_at = now


def _budget(policy: str, seconds: float) -> Event:
    return {
        "policy": policy,
        "budget": max(1, round(seconds * 1000)),
        "maxVirtualTimeTaskStarvationCount": MAX_TASKS_A_MOMENT,
    }


WORLD = "settling"
"""Name of the isolated world that our scripts run in."""

LOOK_LIMIT_S = 1.0
"""A page whose world does not answer within this runs an endless loop: its script is ended."""

AFTER_THE_DUE = "new Promise((done) => setTimeout(() => done(%s)))"

FORWARD_S = 4.0
FORWARD_LIMIT_S = 3.0


class ReadinessWaiter:
    """Looks at one tab until it is done."""

    def __init__(
        self,
        session: Session,
        traffic: NetworkActivity,
        frame_id: str,
        selector: str | None = None,
        *,
        may_skip: bool = False,
        course: PageProgress | None = None,
    ) -> None:
        """`may_skip`: quiet may pass in virtual time, which a page can notice by comparing clocks.

        `course`: pages that went the same way before this one say how long it is to be waited for.
        """
        self.traffic = traffic
        self.time = VirtualTime(session)
        self._may_skip = may_skip
        self._course = course
        self.started_at = time.monotonic()
        self.dom_ready_at: float | None = None
        self.last_look: DomSample | None = None
        self._session = session
        self._frame_id = frame_id
        wanted, compared = json.dumps(selector), int(course is not None)
        self._looking = f"globalThis.__settling?__settling.look({wanted},{compared}):0"
        self._document = ""
        """The name of its loading, which is that of its request too."""
        self._world: int | None = None
        self._contents = -1
        self._forwarded = False
        self.loops_ended = 0

    def new_document(self, loader_id: str) -> None:
        """The page went to another document: its world is gone."""
        self._document = loader_id
        self._world = None
        self._contents = -1
        self.dom_ready_at = None
        self.traffic.reset()

    def dom_ready(self) -> None:
        """The document is parsed."""
        self.dom_ready_at = time.monotonic()

    @property
    def hurried(self) -> bool:
        """Whether pages like this one were seen to do nothing more."""
        return self._course is not None and self._course.hurried

    @property
    def known_height(self) -> int:
        """How tall pages like this one were that held nothing back; 0 where that is unknown."""
        return 0 if self._course is None else self._course.known_height

    def showed(self, height: int, *, more: bool) -> None:
        """Who scrolled to its end was shown more, or not: pages like it may do the same."""
        if self._course is not None and more:
            self._course.did_more()
        elif self._course is not None:
            self._course.nothing_below(height)

    async def until_done(
        self,
        limit_s: float,
        *,
        may_be_thin: bool = True,
        may_skip: bool = True,
        quiet_s: float = QUIET_S,
        quiet_with_data_s: float = QUIET_WITH_DATA_S,
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Wait until the page is done; False when `limit_s` ran out or `stop` said so first."""
        end = time.monotonic() + limit_s
        course = self._course if may_be_thin else None
        while time.monotonic() < end and not stop():
            look, wait_s = await self.look(), MIN_PAUSE_S
            if look is not None:
                self._note(look)
                clock = self._clock(may_be_thin, may_skip, quiet_s, quiet_with_data_s)
                if course is not None:
                    clock = course.follow(look, self.traffic, clock)
                decision = decide_readiness(look, self.traffic, clock)
                if decision is ReadinessDecision.DONE:
                    if look.scripted and not self.time.taken and await self._was_late(look):
                        continue
                    if course is not None:
                        course.end()
                    return True
                if decision is ReadinessDecision.FORWARD:
                    await self._forward()
                    continue
                if decision is ReadinessDecision.SKIP:
                    quiet = quiet_with_data_s if self.traffic.used_data else quiet_s
                    if await self._stays_quiet(look, quiet):
                        return True
                    continue
                wait_s = pause_s(look, self.traffic, clock)
                if course is not None:
                    wait_s = min(wait_s, course.pause_s)
            await self.traffic.quiet_or(wait_s)
            self.time.keep_up()
        return False

    async def look(self) -> DomSample | None:
        """One look; None when the page cannot answer now."""
        try:
            raw = await self.evaluate(self._looking, limit_s=LOOK_LIMIT_S)
            if not raw:
                # The new-document script does not run in documents without a script of their own.
                await self.evaluate(PROBE, limit_s=LOOK_LIMIT_S)
                raw = await self.evaluate(self._looking, limit_s=LOOK_LIMIT_S)
        except TimeoutError:
            self.loops_ended += 1
            self._session.post("Runtime.terminateExecution")
            return None
        except CommandFailedError:
            return None
        return DomSample.of(raw) if isinstance(raw, list) else None

    async def evaluate(self, expression: str, *, limit_s: float, promise: bool = False) -> object:
        """Evaluate in the isolated world of the main frame; `promise` waits for what it resolves to.

        Raises:
            TimeoutError: the page does not answer.
            CommandFailed: it is between two documents.
        """
        answer = await self._evaluated(expression, limit_s, returnByValue=True, awaitPromise=promise)
        value: object = answer.get("result", {}).get("value")
        return value

    async def object_of(self, expression: str, *, limit_s: float) -> str:
        """The id of the object that an expression comes to; asked again where a new document came between."""
        try:
            answer = await self._evaluated(expression, limit_s)
        except CommandFailedError:
            answer = await self._evaluated(expression, limit_s)
        return str(answer["result"]["objectId"])

    async def _evaluated(self, expression: str, limit_s: float, **how: bool) -> Event:
        try:
            if self._world is None:
                made = await self._session.send(
                    "Page.createIsolatedWorld", frameId=self._frame_id, worldName=WORLD, limit_s=limit_s
                )
                self._world = made["executionContextId"]
            return await self._session.send(
                "Runtime.evaluate", expression=expression, contextId=self._world, limit_s=limit_s, **how
            )
        except CommandFailedError:
            self._world = None
            raise

    def _clock(
        self, may_be_thin: bool, may_skip: bool, quiet_s: float, quiet_with_data_s: float
    ) -> QuietTimers:
        return QuietTimers(
            time.monotonic(),
            self.started_at,
            self.dom_ready_at,
            self._forwarded,
            may_be_thin,
            may_skip and self._may_skip,
            quiet_s,
            quiet_with_data_s,
            broken=self.traffic.is_broken(self._document),
        )

    def _note(self, look: DomSample) -> None:
        self.last_look = look
        if look.contents != self._contents:
            self._contents = look.contents
            self.traffic.content_came()

    async def _forward(self) -> None:
        """Let the page's timers run ahead: a spinner of 1.2 s ends after 0.3 s."""
        self._forwarded = True
        await self.time.skip(FORWARD_S, FORWARD_LIMIT_S, waits_for_requests=True)

    async def _was_late(self, before: DomSample) -> bool:
        """Whether something was due that a busy machine had not come to: content or requests.

        A timer of ours runs after all that were due before it, and what they ask for is told before it ends.
        """
        requests = self.traffic.requests
        try:
            raw = await self.evaluate(AFTER_THE_DUE % self._looking, limit_s=LOOK_LIMIT_S, promise=True)
        except (TimeoutError, CommandFailedError):
            return False
        asked = self.traffic.requests != requests and not self.traffic.polls
        return asked or (isinstance(raw, list) and DomSample.of(raw).contents != before.contents)

    async def _stays_quiet(self, before: DomSample, seconds: float) -> bool:
        """Whether `seconds` of timers bring neither content nor requests."""
        requests = self.traffic.requests
        await self.time.skip(seconds, FORWARD_LIMIT_S)
        after = await self.look()
        if after is None:
            return False
        self._note(after)
        return after.contents == before.contents and self.traffic.requests == requests
