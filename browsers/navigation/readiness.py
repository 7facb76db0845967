"""Wait until a page is ready, and shorten the wait with virtual time."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable

from browsers.cdp.session import CommandFailedError, Event, Session
from browsers.navigation import readiness_rules
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness_rules import DomSample, PageProgress, QuietTimers, ReadinessDecision
from browsers.scripts import READINESS_PROBE
from browsers.slot_scaling import measure_slowdown

_MAX_TASKS_PER_INSTANT = 1000
"""Maximum of tasks before time advances, for pages that always start another task."""


class _VirtualTime:
    """Control the virtual clock of one tab.

    Chromium cannot return from virtual time to real time: a clock that runs freely afterwards runs through hours within
    milliseconds, so sessions end and carousels turn. From the first skip on, the page's time therefore advances only
    when granted. While the page is observed, it is granted the real time that passes.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._granted_at: float | None = None

    @property
    def is_taken(self) -> bool:
        """True if the page runs in virtual time and stands still without grants."""
        return self._granted_at is not None

    async def skip(self, seconds: float, limit_s: float, *, waits_for_requests: bool = False) -> None:
        """Run the timers of the next `seconds` within `limit_s`; `waits_for_requests` pauses while anything loads."""
        expired: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        policy = "pauseIfNetworkFetchesPending" if waits_for_requests else "advance"
        granted = self._session.start("Emulation.setVirtualTimePolicy", **_budget(policy, seconds))

        def on_expired(_: Event) -> None:
            # An event before the answer belongs to an earlier grant.
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
            self._session.remove_handler("Emulation.virtualTimeBudgetExpired", on_expired)
            self._granted_at = time.monotonic()

    def grant_elapsed_time(self) -> None:
        """Grant the real time that has passed since the last grant, if virtual time is used."""
        if self._granted_at is None:
            return
        now = time.monotonic()
        self._session.post("Emulation.setVirtualTimePolicy", **_budget("advance", now - self._granted_at))
        self._granted_at = now


def _budget(policy: str, seconds: float) -> Event:
    return {
        "policy": policy,
        "budget": max(1, round(seconds * 1000)),
        "maxVirtualTimeTaskStarvationCount": _MAX_TASKS_PER_INSTANT,
    }


ISOLATED_WORLD = "readiness"

SAMPLE_LIMIT_S = 1.0
"""Seconds on an idle machine. If the isolated world does not answer, the page runs an endless loop and its script is
ended. At load 33 on two cores, 26 scripts of ten pages that took up to .4 s of CPU were ended after one second."""

_BUSY_LIMIT_S = 4.0
"""Seconds, on an idle machine, that a page may take for answers in one visit. Without a limit, nested tables took 18 s
to lay out; the largest pages take 2."""
MAX_READINESS_FACTOR = 2.0
"""Factor by which a page may take longer on a busy machine, to settle and for answers."""

_AFTER_TIMERS = "new Promise((done) => setTimeout(() => done(%s), %d))"
"""Expression that is evaluated after the timers of the page that are due within some milliseconds."""

_FORWARD_S = 5.5
"""Seconds of virtual time that a page without content is run ahead."""
_FORWARD_LIMIT_S = 3.0
"""Seconds of real time for one skip of virtual time."""
_REAL_TIME_S = 1.5
"""Seconds for which a thin page without virtual time may show more by its timers."""


class ReadinessWaiter:
    """Sample one tab until its page is ready."""

    def __init__(
        self,
        session: Session,
        network: NetworkActivity,
        frame_id: str,
        selector: str | None = None,
        *,
        may_skip: bool = False,
        keeps_real_time: bool = False,
        progress: PageProgress | None = None,
    ) -> None:
        """Set up the waiter.

        `may_skip` allows idle time to pass in virtual time, which a page can notice by comparing clocks.
        `keeps_real_time` forbids virtual time altogether: afterwards no timer and no frame of the page would run.
        `progress` predicts the wait from similar pages.
        """
        self.network = network
        self.time = _VirtualTime(session)
        self._may_skip = may_skip and not keeps_real_time
        self._keeps_real_time = keeps_real_time
        self.progress = progress
        """Comparison with similar pages, or None outside a batch."""
        self.started_at = time.monotonic()
        self.dom_ready_at: float | None = None
        self.last_sample: DomSample | None = None
        self._session = session
        self._frame_id = frame_id
        arguments = f"{json.dumps(selector)},{int(progress is not None)}"
        self._sample_script = f"globalThis.__readinessProbe?__readinessProbe.sample({arguments}):0"
        self._own_timers = 0
        """Timers of this document that are not the page's."""
        self._document = ""
        """Loader id of the main document, which is also its request id."""
        self._world: int | None = None
        self._contents = -1
        self._is_forwarded = False
        self._ends_at = 0.0
        self.loops_ended = 0
        self._busy_s = 0.0
        session.on("Page.domContentEventFired", self._on_dom_ready)

    @property
    def answer_s(self) -> float:
        """Seconds that the page may still take for answers; 0 if its layout, which nothing can end, takes too long."""
        return max(0.0, _BUSY_LIMIT_S * min(measure_slowdown(), MAX_READINESS_FACTOR) - self._busy_s)

    def on_new_document(self, loader_id: str) -> None:
        """Reset for another main document, whose isolated world does not exist yet."""
        self._document = loader_id
        self._world = None
        self._contents = -1
        self._own_timers = 0
        self.dom_ready_at = None
        self.network.reset()

    def restart(self) -> None:
        """Begin another wait on the same page."""
        self.started_at = time.monotonic()
        self._is_forwarded = False
        self._busy_s = 0.0

    async def wait_until_ready(
        self,
        limit_s: float,
        *,
        may_be_thin: bool = True,
        quiet_s: tuple[float, float] = (readiness_rules.QUIET_S, readiness_rules.QUIET_WITH_DATA_S),
        stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Wait until the page is ready. Return False if `limit_s` passed or `stop` returned True first.

        `may_be_thin` is False if the page is known to have content: then little text does not delay it, and idle time
        does not pass in virtual time. `quiet_s` are the seconds without activity before a page is ready, and before one
        that fetches data is.
        """
        end = self._ends_at = time.monotonic() + limit_s
        progress = self.progress if may_be_thin else None
        while time.monotonic() < end and not stop():
            sample, wait_s = await self.sample(), readiness_rules.MIN_PAUSE_S
            if sample is not None:
                self._record_sample(sample)
                may_skip, is_broken = may_be_thin and self._may_skip, self.network.is_broken(self._document)
                times = (time.monotonic(), self.started_at, self.dom_ready_at)
                timers = QuietTimers(*times, self._is_forwarded, may_be_thin, may_skip, *quiet_s, broken=is_broken)
                if progress is not None:
                    timers = progress.follow(sample, self.network, timers)
                decision = readiness_rules.decide_readiness(sample, self.network, timers)
                if decision is ReadinessDecision.DONE:
                    if sample.scripted and not self.time.is_taken and await self._had_overdue_work(sample):
                        continue
                    if progress is not None:
                        progress.end()
                    return True
                if decision is ReadinessDecision.FORWARD and self._keeps_real_time:
                    self._is_forwarded = time.monotonic() - self.started_at >= _REAL_TIME_S
                elif decision is ReadinessDecision.FORWARD:
                    # Run the page's timers ahead: a spinner of 1.2 s ends after 0.3 s.
                    self._is_forwarded = True
                    await self.time.skip(_FORWARD_S, _FORWARD_LIMIT_S, waits_for_requests=True)
                    continue
                if decision is ReadinessDecision.SKIP:
                    if await self._stays_idle(sample, quiet_s[self.network.used_data]):
                        return True
                    continue
                wait_s = readiness_rules.pause_s(sample, self.network, timers)
                if progress is not None:
                    wait_s = min(wait_s, progress.pause_s)
            await self.network.wait_idle(wait_s)
            self.time.grant_elapsed_time()
        return False

    def _on_dom_ready(self, _: Event) -> None:
        self.dom_ready_at = time.monotonic()

    async def wait_for_timers(self, seconds: float) -> None:
        """Wait until the timers of the page that are due within `seconds` have run, on a busy machine too."""
        self._ends_at = time.monotonic() + seconds
        await self._sample_after(round(1000 * seconds))

    async def has_timers(self) -> bool:
        """Return True if timers, animations or messages of the page may change it, or if it does not answer."""
        if self.network.has_push_source or self.network.in_flight():
            return True
        if await self.count_timers():
            return True
        with contextlib.suppress(TimeoutError, CommandFailedError):
            return await self.evaluate("document.getAnimations().length > 0", limit_s=SAMPLE_LIMIT_S) is not False
        return True

    async def count_timers(self) -> int:
        """Return the number of timers that scripts of the page have set; -1 if it does not answer."""
        with contextlib.suppress(TimeoutError, CommandFailedError):
            self._own_timers += 1
            count = await self.evaluate("__readinessProbe.timers()", limit_s=SAMPLE_LIMIT_S)
            return int(str(count)) - self._own_timers
        return -1

    async def sample(self) -> DomSample | None:
        """Take one sample, or return None if the page cannot answer. A script that blocks the answer is ended."""
        limit_s = self._answer_limit_s()
        try:
            raw = await self.evaluate(self._sample_script, limit_s=limit_s)
            if not raw:
                # The new-document script does not run in documents without a script of their own.
                await self.evaluate(READINESS_PROBE, limit_s=limit_s)
                raw = await self.evaluate(self._sample_script, limit_s=limit_s)
        except TimeoutError:
            self.loops_ended += 1
            self._session.post("Runtime.terminateExecution")
            return None
        except CommandFailedError:
            return None
        return DomSample.of(raw)

    def _answer_limit_s(self) -> float:
        left_s = min(self._ends_at - time.monotonic(), self.answer_s)
        return max(SAMPLE_LIMIT_S, min(SAMPLE_LIMIT_S * measure_slowdown(), left_s))

    async def evaluate(self, expression: str, *, limit_s: float, await_promise: bool = False) -> object:
        """Evaluate in the main frame's isolated world. Raises TimeoutError, or CommandFailedError between documents."""
        answer = await self._evaluate_raw(expression, limit_s, returnByValue=True, awaitPromise=await_promise)
        value: object = answer.get("result", {}).get("value")
        return value

    async def evaluate_object(self, expression: str, *, limit_s: float) -> str:
        """Evaluate an expression as `evaluate` and return the id of its object. Retry once after a new document."""
        try:
            answer = await self._evaluate_raw(expression, limit_s)
        except CommandFailedError:
            answer = await self._evaluate_raw(expression, limit_s)
        return str(answer["result"]["objectId"])

    async def _evaluate_raw(self, expression: str, limit_s: float, **options: bool) -> Event:
        started_at = time.monotonic()
        try:
            if self._world is None:
                made = await self._session.send(
                    "Page.createIsolatedWorld", frameId=self._frame_id, worldName=ISOLATED_WORLD, limit_s=limit_s
                )
                self._world = made["executionContextId"]
            return await self._session.send(
                "Runtime.evaluate", expression=expression, contextId=self._world, limit_s=limit_s, **options
            )
        except CommandFailedError:
            self._world = None
            raise
        finally:
            if not options.get("awaitPromise"):
                self._busy_s += time.monotonic() - started_at

    def _record_sample(self, sample: DomSample) -> None:
        self.last_sample = sample
        if sample.contents != self._contents:
            self._contents = sample.contents
            self.network.on_content()

    async def _had_overdue_work(self, before: DomSample) -> bool:
        """Return True if overdue timers of a busy machine, which run before that of this check, bring anything."""
        requests = self.network.requests
        after = await self._sample_after(0)
        has_requested = after is not None and self.network.requests != requests and not self.network.polls
        return has_requested or (after is not None and after.contents != before.contents)

    async def _sample_after(self, milliseconds: int) -> DomSample | None:
        expression = _AFTER_TIMERS % (self._sample_script, milliseconds)
        self._own_timers += 1
        limit_s = milliseconds / 1000 + self._answer_limit_s()
        try:
            return DomSample.of(await self.evaluate(expression, limit_s=limit_s, await_promise=True))
        except (TimeoutError, CommandFailedError):
            return None

    async def _stays_idle(self, before: DomSample, seconds: float) -> bool:
        requests = self.network.requests
        await self.time.skip(seconds, _FORWARD_LIMIT_S)
        after = await self.sample()
        if after is None:
            return False
        self._record_sample(after)
        return after.contents == before.contents and self.network.requests == requests
