"""Keep tabs of callers open across calls, within limits of their number, idle time, age and steps."""

import asyncio
import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from browsers import errors
from browsers.acting.acting_page import ActingPage
from browsers.acting.dialogs_and_downloads import NewWindowBlocker
from browsers.acting.page_requests import ActingMode, AskUser
from browsers.acting.page_tools import PageToolsMode
from browsers.acting.step_parser import PICTURE_VERB, WRITE_VERBS, Step
from browsers.acting.step_runner import StepOutcome, StepRunner
from browsers.cdp.session import CommandFailedError, Connection
from browsers.fair_queue import FairSemaphore
from browsers.login_state import Login, covers_host
from browsers.model import Mode, Request, Snapshot, Tier
from browsers.pool.browser_handle import BrowserHandle
from browsers.pool.browser_pool import BrowserPool
from browsers.settings import BrowserSettings

log = logging.getLogger(__name__)

MAX_PER_PRINCIPAL = 3
"""Sessions of one caller. A further one ends the caller's least recently used idle session."""
_MAX_SESSIONS = 8
"""Sessions of all callers. Each has a tab of about 40 MB."""
MAX_STEPS = 200
TURN_WAIT_S = 10.0
"""Seconds to wait while another call uses the session."""
CALL_S = 60.0
"""Seconds for all steps of one call."""
_CHECK_S = 2.0


UrlPermission = Callable[[str], AbstractAsyncContextManager[tuple[str, ...]]]
"""Return a context manager that permits a URL and yields warnings, or raises a BrowsersError."""


@dataclass(frozen=True, slots=True)
class ActingRequest:
    """Steps of one call, with the session, the caller and the permission to load URLs."""

    steps: tuple[Step, ...]
    session_id: str | None
    principal: str
    mode: ActingMode
    permission: UrlPermission
    language: str = "en-US"
    deadline_s: float = 55.0
    login: Login | None = None
    follows_redirects: bool = False
    page_tools: PageToolsMode = PageToolsMode.OFF
    """Rule for the tools of pages in a new session; off for a visit of which no page may see a trace."""
    ask: AskUser | None = None
    """Question to the person before the first write on a site; None if the client cannot ask."""


@dataclass(frozen=True, slots=True)
class ActingResult:
    """Outcomes of the steps of one call."""

    session_id: str
    """Empty if the session has ended."""
    is_new: bool
    outcomes: tuple[StepOutcome, ...]


@dataclass(eq=False)
class _ActingSession:
    """One session: a tab that one call at a time may use."""

    id: str
    principal: str
    page: ActingPage
    runner: StepRunner
    handle: BrowserHandle
    resources: AsyncExitStack
    login: Login | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    started_at: float = field(default_factory=time.monotonic)
    used_at: float = field(default_factory=time.monotonic)
    steps: int = 0
    url: str = ""
    last_write: str = ""
    """Last step that may have changed something on the site; empty if there was none."""


class ActingSessions:
    """Sessions of all callers."""

    def __init__(self, pool: BrowserPool, slots: FairSemaphore, settings: BrowserSettings) -> None:
        """Open tabs in the browsers of `pool`. Each step but a pause takes a slot of `slots`."""
        self._pool = pool
        self.settings = settings
        self._slots = slots
        self._sessions: dict[str, _ActingSession] = {}
        self._opening: Counter[str] = Counter()
        self._blockers: dict[Connection, NewWindowBlocker] = {}
        self._reaper: asyncio.Task[None] | None = None

    @property
    def count(self) -> int:
        """Number of open sessions."""
        return len(self._sessions)

    async def close(self) -> None:
        """End all sessions."""
        if self._reaper is not None:
            self._reaper.cancel()
            await asyncio.gather(self._reaper, return_exceptions=True)
        await asyncio.gather(*(self._end(session) for session in list(self._sessions.values())))

    async def run(self, request: ActingRequest) -> ActingResult:
        """Run steps until one fails, which is an outcome; end the session if it shows no page. Raises BrowsersError."""
        deadline_at = time.monotonic() + min(CALL_S, request.deadline_s)
        is_new = request.session_id is None
        session = await self._open(request) if is_new else self._find(request)
        async with self._turn(session, request):
            outcomes: list[StepOutcome] = []
            for step in request.steps:
                outcome = await self._run_step(session, step, request, deadline_at)
                outcomes.append(outcome)
                if outcome.error or step.verb == "close":
                    break
            if request.steps[len(outcomes) - 1].verb == "close" or not session.page.outlines.url:
                await self._end(session)
            is_open = session.id in self._sessions
            if is_open:
                session.page.guard.cancel_questions()
                await session.page.freeze()
        return ActingResult(session.id if is_open else "", is_new, tuple(outcomes))

    async def _run_step(
        self, session: _ActingSession, step: Step, request: ActingRequest, deadline_at: float
    ) -> StepOutcome:
        left_s = deadline_at - time.monotonic()
        if left_s <= 0:
            return StepOutcome(step.source, error="the time of this call is over; call again with the steps left")
        session.steps += 1
        if session.steps > MAX_STEPS:
            await self._end(session)
            return StepOutcome(step.source, error=f"the session has ended after {MAX_STEPS} steps; open a new one")
        try:
            if not session.page.is_alive:
                lost = await self._recover(session, request, deadline_at)
                if lost is not None:
                    return lost
            return await self._run_in_slot(session, step, request, deadline_at)
        except (errors.PageCrashedError, errors.BrowserGoneError) as error:
            await self._end(session)
            after = f', after "{session.last_write}"' if session.last_write else ""
            return StepOutcome(step.source, error=f"the tab was lost at step {session.steps}{after}: {error}")
        except (CommandFailedError, TimeoutError):
            return StepOutcome(step.source, error="the page did not show if its login is valid; try again")
        except errors.BrowsersError as error:
            if isinstance(error, errors.ExpiredLoginError):
                await self._end(session)
            return StepOutcome(step.source, error=f"{error} {error.next_step}", failure=error)

    async def _run_in_slot(
        self, session: _ActingSession, step: Step, request: ActingRequest, deadline_at: float
    ) -> StepOutcome:
        url = step.text if step.verb == "open" else session.url
        host, wait_s = urlsplit(url).hostname or "", max(0.0, deadline_at - time.monotonic())
        async with AsyncExitStack() as held:
            if step.verb == "open":
                if (login := session.login) is not None and not covers_host(login.hosts, host):
                    message = f"Profile {login.name} is for {', '.join(login.hosts)}, not for {host}."
                    raise errors.RefusedError(message, url=url, next_step="Open this URL without a profile.")
                for warning in await held.enter_async_context(request.permission(url)):
                    session.page.notice(warning)
                session.page.guard.allow(url)
            if not (step.verb == "wait" and step.numbers):
                # A pause needs no browser.
                slot = self._slots.acquire(session.principal, host, url=url, wait_s=wait_s)
                await held.enter_async_context(slot)
            session.handle.chromium.renderer_guard.watch(1)
            held.callback(session.handle.chromium.renderer_guard.watch, -1)
            outcome = await session.runner.run(step, deadline_at)
            shows_page = step.verb in ("open", "read", PICTURE_VERB) and not outcome.error
            if shows_page and await session.page.has_expired_login():
                assert session.login is not None
                raise errors.ExpiredLoginError(session.login.name, url=url)
            if step.picture is not None and outcome.page is not None:
                outcome = replace(outcome, page=replace(outcome.page, tier=session.handle.chromium.tier))
                _check_picture(session.page, session.login, url)
        session.url = session.page.outlines.url or session.url
        if step.verb in WRITE_VERBS:
            session.last_write = step.source[:80]
        session.used_at = time.monotonic()
        outcome = _redact(outcome, session.page.outlines.redact)
        return outcome if session.login is None else _redact(outcome, session.login.redact)

    async def _recover(self, session: _ActingSession, request: ActingRequest, deadline_at: float) -> StepOutcome | None:
        """Open the last URL in a new tab after a crash, if no step changed anything; else return the error."""
        if session.last_write or not session.url:
            await self._end(session)
            message = f'the tab was lost at step {session.steps}, after "{session.last_write}"; nothing was repeated'
            return StepOutcome("", error=message)
        await session.resources.aclose()
        opened = await self._open_page(request, session.login)
        session.page, session.runner, session.handle, session.resources = opened
        await session.page.resume()
        outcome = await self._run_in_slot(
            session, Step(f"open {session.url}", "open", text=session.url), request, deadline_at
        )
        session.page.notice("the tab was lost; its last URL was opened again")
        return outcome if outcome.error else None

    def _find(self, request: ActingRequest) -> _ActingSession:
        session = self._sessions.get(request.session_id or "")
        # The same error for the session of another caller: its existence is a secret.
        if session is None or session.principal != request.principal or self._has_expired(session):
            raise _unknown_session()
        if session.login is not None and request.mode is ActingMode.READ is not session.page.guard.mode:
            raise errors.RefusedError("A session with a login goes on only with steps that may act.")
        return session

    def _has_expired(self, session: _ActingSession) -> bool:
        """Return True if no call uses the session, and its idle time or age exceeds the limit."""
        idle_s, age_s = time.monotonic() - session.used_at, time.monotonic() - session.started_at
        is_old = idle_s > self.settings.session_idle_s or age_s > self.settings.session_lifetime_s
        return is_old and not session.lock.locked()

    @asynccontextmanager
    async def _turn(self, session: _ActingSession, request: ActingRequest) -> AsyncIterator[None]:
        """Lock and resume a session for the block; end it if the block fails. Raises BusyError, UnknownSessionError."""
        try:
            async with asyncio.timeout(TURN_WAIT_S):
                await session.lock.acquire()
        except TimeoutError:
            raise errors.BusyError("Another call uses this session.", retry_after_s=TURN_WAIT_S) from None
        if session.id not in self._sessions:
            session.lock.release()
            raise _unknown_session()
        session.page.guard.ask, session.page.guard.mode = request.ask, request.mode
        try:
            if session.page.is_alive:
                await session.page.resume()
            yield
        except BaseException:
            # Canceled, or a fault: the state of the page is unknown.
            await self._end(session)
            raise
        finally:
            session.used_at = time.monotonic()
            session.lock.release()

    async def _open(self, request: ActingRequest) -> _ActingSession:
        principal = request.principal
        self._opening[principal] += 1
        try:
            await self._make_room(principal)
            page, runner, handle, resources = await self._open_page(request, request.login)
        finally:
            self._opening -= Counter([principal])
        identifier = secrets.token_hex(self.settings.session_id_bytes)
        session = _ActingSession(identifier, principal, page, runner, handle, resources, login=request.login)
        self._sessions[session.id] = session
        if self._reaper is None or self._reaper.done():
            self._reaper = asyncio.ensure_future(self._end_expired())
        return session

    async def _make_room(self, principal: str) -> None:
        """End the caller's least recently used idle session if there are too many, those now opened included."""
        own = [session for session in self._sessions.values() if session.principal == principal]
        total = len(self._sessions) + self._opening.total()
        if len(own) + self._opening[principal] <= MAX_PER_PRINCIPAL and total <= _MAX_SESSIONS:
            return
        idle = [session for session in own if not session.lock.locked()]
        if not idle:
            raise errors.BusyError("All sessions are in use.", retry_after_s=self.settings.session_idle_s)
        await self._end(min(idle, key=lambda session: session.used_at))

    async def _open_page(
        self, request: ActingRequest, login: Login | None
    ) -> tuple[ActingPage, StepRunner, BrowserHandle, AsyncExitStack]:
        async with AsyncExitStack() as stack:
            handle: BrowserHandle = await self._pool.get_handle(Tier.FULL)
            blank = Request("about:blank", tier=Tier.FULL, mode=Mode.RENDER, principal=request.principal)
            lease = await stack.enter_async_context(handle.lease(replace(blank, language=request.language)))
            stack.enter_context(handle.hold_for_session())
            page = ActingPage(lease.tab, request.mode, login, request.page_tools)
            page.guard.ask, page.guard.signer = request.ask, self.settings.signer
            page.guard.follows_redirects = request.follows_redirects
            connection = handle.chromium.connection
            if (blocker := self._blockers.get(connection)) is None:
                self._blockers = {one: of for one, of in self._blockers.items() if not one.closed.is_set()}
                blocker = self._blockers[connection] = NewWindowBlocker(connection)
            try:
                if handle.chromium.tier is Tier.FULL:
                    await stack.enter_async_context(blocker.block(lease.tab, page.watch_worker))
                await stack.enter_async_context(page.downloads.accept(self._pool.folder))
                await page.prepare()
            except (CommandFailedError, TimeoutError) as error:
                raise errors.BrowserGoneError("The browser did not open a tab.") from error
            return page, StepRunner(page), handle, stack.pop_all()
        raise AssertionError  # the exit stack suppresses no exception

    async def _end(self, session: _ActingSession) -> None:
        self._sessions.pop(session.id, None)
        await session.resources.aclose()

    async def _end_expired(self) -> None:
        while self._sessions:
            await asyncio.sleep(_CHECK_S)
            for session in list(self._sessions.values()):
                if self._has_expired(session):
                    log.info("session ended idle_s=%.0f", time.monotonic() - session.used_at)
                    await self._end(session)


def _unknown_session() -> errors.UnknownSessionError:
    return errors.UnknownSessionError(
        "There is no such session on this server: it has ended, its id is wrong, or another server has it."
    )


def _check_picture(page: ActingPage, login: Login | None, url: str) -> None:
    """Raise RefusedError if a page shows a secret of its login: a picture cannot be redacted."""
    if login is None or page.outlines.latest is None:
        return
    lines = page.outlines.latest.lines
    if any(login.redact(text) != text for line in lines for text in (line.name, line.states)):
        message = f"The page shows a cookie of profile {login.name}, so no picture of it is returned."
        raise errors.RefusedError(message, url=url, next_step="Read its text: cookies are replaced there.")


def _redact_page(page: Snapshot, redact: Callable[[str], str]) -> Snapshot:
    frames = tuple(replace(frame, url=redact(frame.url), html=redact(frame.html)) for frame in page.frames)
    html, requested_url = redact(page.html or ""), redact(page.requested_url)
    return replace(page, url=redact(page.url), requested_url=requested_url, html=html, frames=frames)


def _redact(outcome: StepOutcome, redact: Callable[[str], str]) -> StepOutcome:
    page = outcome.page
    return replace(
        outcome,
        notices=tuple(redact(notice) for notice in outcome.notices),
        result=tuple(redact(line) for line in outcome.result),
        content=redact(outcome.content),
        heading=redact(outcome.heading),
        error=redact(outcome.error),
        page=None if page is None else _redact_page(page, redact),
    )
