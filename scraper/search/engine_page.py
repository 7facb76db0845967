"""One page of an engine: visited, its wall waited out, its question for consent answered, and read."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from browsers import errors as door_errors
from browsers.model import Mode, Request, Snapshot, Tier
from scraper.deadline import Deadline
from scraper.engines.common.request_builder import engine_profile
from scraper.engines.model import Engine, EngineOutcome, EngineResponse, HomePageForm, SearchQuery
from scraper.reading.visiting.browser_protocol import BrowserClient
from scraper.search.consent_forms import refusal
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

WALL_LIMIT_S = 15.0
"""How long a wall may take to clear itself. Measured: a second at the usual difficulty."""
READ_RESERVE_S = 0.4
"""Kept back from the deadline to read what the visit brought."""
PARSE_LIMIT_S = 3.0

_WALLS = (
    "#anubis_challenge, script[src*='.within.website/x/cmd/anubis'], altcha-widget, .captcha-wrap, "
    "script[src*='/altcha'], #challenge-error-text, #challenge-running, "
    "script[src*='/cdn-cgi/challenge-platform/h/']"
)
"""What stands on walls that clear themselves; CSS, because the browser looks for it."""

_REASONS = frozenset(
    {"captcha", "consent", "rate_limited", "refused", "off_topic", "layout_changed", "timeout", "unreachable"}
)
_FAULTS: Mapping[type[door_errors.BrowsersError], str] = {
    door_errors.DeadlineExceededError: "timeout",
    door_errors.ConnectTimeoutError: "timeout",
    door_errors.BusyError: "busy",
    door_errors.PageCrashedError: "browser_failed",
    door_errors.BrowserGoneError: "browser_failed",
    door_errors.NoBrowserError: "browser_failed",
}

Read = Callable[[Snapshot], Awaitable[EngineResponse]]


@dataclass(frozen=True, slots=True)
class EnginePageRequest:
    """What one engine is asked, for whom and until when."""

    engine: Engine
    query: SearchQuery
    principal: str
    deadline: Deadline


class EngineBrowserClient(BrowserClient, Protocol):
    """The part of `Browsers` that is used."""

    def forget(self, principal: str, site_profile: str) -> bool: ...

    def start_soon(self, tier: Tier) -> None: ...


class EnginePages:
    """Visits and reads."""

    def __init__(self, browsers: EngineBrowserClient, workers: WorkerPool) -> None:
        self._browsers = browsers
        self._workers = workers

    def forget(self, asked: EnginePageRequest) -> bool:
        """Let the engine see a stranger in this caller's next visit; whether it had left any cookies."""
        return self._browsers.forget(asked.principal, engine_profile(asked.engine.name))

    async def read(self, asked: EnginePageRequest, request: Request) -> EngineResponse:
        """The page behind a request; what goes wrong is an outcome, not an exception."""
        snapshot, response = await self._visited(asked, request)
        if response.clears_itself and snapshot is not None and snapshot.complete and asked.engine.ready:
            response = await self._patiently(asked, request)
        if snapshot is None or response.outcome is not EngineOutcome.WALL or reason_of(response) != "consent":
            return response
        answer = refusal(snapshot, request)
        if answer is None:
            return response
        _, response = await self._visited(asked, answer)
        if response.outcome is EngineOutcome.ERROR:
            # The answer may lead anywhere; what counts is the cookie that it left.
            _, response = await self._visited(asked, request)
        return response

    async def through_entrance(
        self, asked: EnginePageRequest, entrance: HomePageForm
    ) -> EngineResponse | None:
        """The page that the form of the engine's home page leads to; None where there is no such form."""
        now = datetime.now(UTC)

        async def filled(snapshot: Snapshot) -> Request | None:
            limit_s = min(PARSE_LIMIT_S, max(0.1, asked.deadline.left_s()))
            return await self._workers.run(entrance.ask, snapshot, asked.query, now, limit_s=limit_s)

        async def enough(snapshot: Snapshot) -> bool:
            return await filled(snapshot) is not None

        try:
            request = _shaped(asked, entrance.page(asked.query, now))
            form = await filled(await self._browsers.visit(request, enough))
        except (door_errors.BrowsersError, WorkerFailedError):
            return None
        return None if form is None else await self.read(asked, form)

    async def _visited(
        self, asked: EnginePageRequest, request: Request
    ) -> tuple[Snapshot | None, EngineResponse]:
        async def read(snapshot: Snapshot) -> EngineResponse:
            return await self._parsed(asked, snapshot)

        judge = _Judge(read, always_renders=request.mode is Mode.RENDER)
        try:
            snapshot = await self._browsers.visit(_shaped(asked, request), judge.enough)
        except door_errors.BrowsersError as error:
            return None, EngineResponse(EngineOutcome.ERROR, detail=_FAULTS.get(type(error), "unreachable"))
        if not snapshot.rendered and judge.response is not None:
            return snapshot, judge.response
        return snapshot, await read(snapshot)

    async def _patiently(self, asked: EnginePageRequest, request: Request) -> EngineResponse:
        """Once more, to wait for rows: for walls that clear themselves and are known by other marks."""
        return (await self._visited(asked, replace(request, wait=asked.engine.ready)))[1]

    async def _parsed(self, asked: EnginePageRequest, snapshot: Snapshot) -> EngineResponse:
        """The page, read in a worker: result pages are large, and strangers write them."""
        limit_s = min(PARSE_LIMIT_S, max(0.1, asked.deadline.left_s()))
        now = datetime.now(UTC)
        try:
            return await self._workers.run(asked.engine.parse, snapshot, now, limit_s=limit_s)
        except WorkerFailedError as error:
            log.warning("a page of %s could not be read: %s", asked.engine.name, error)
            return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")


class _Judge:
    """Says whether a page as served is all there will be."""

    def __init__(self, read: Read, *, always_renders: bool) -> None:
        self.response: EngineResponse | None = None
        self._read = read
        self._always_renders = always_renders

    async def enough(self, snapshot: Snapshot) -> bool:
        """Whether rendering can bring nothing more."""
        self.response = response = await self._read(snapshot)
        if response.outcome is EngineOutcome.NONE:
            return True
        if response.outcome is EngineOutcome.WALL:
            return not response.clears_itself
        return response.outcome is EngineOutcome.OK and not self._always_renders


def reason_of(response: EngineResponse) -> str:
    """The named reason of a wall or an error; what an engine's reader calls otherwise is put under one."""
    detail = response.detail
    if detail in _REASONS or detail in _FAULTS.values():
        return detail
    if response.outcome is EngineOutcome.WALL:
        return "captcha"
    return "unreachable" if detail.startswith("http_") or detail == "unreadable" else "layout_changed"


def _or_no_wall(ready: str | None) -> str | None:
    """Rows, or a page that is no wall: also where the rows have moved, nothing waits for them in vain."""
    return f"{ready}, html:not(:has({_WALLS}))" if ready else None


def _shaped(asked: EnginePageRequest, request: Request) -> Request:
    """The engine's request in this caller's name, with time for a wall to clear itself."""
    left_s = asked.deadline.left_s(reserve_s=READ_RESERVE_S)
    return replace(
        request,
        # Also what is always rendered is looked at as served: nothing waits for rows that will not come.
        mode=Mode.AUTO if request.mode is Mode.RENDER else request.mode,
        principal=asked.principal,
        site_profile=request.site_profile or engine_profile(asked.engine.name),
        wait=request.wait or _or_no_wall(asked.engine.ready),
        deadline_s=max(0.1, min(request.deadline_s, left_s)),
        limits=replace(request.limits, settle_s=WALL_LIMIT_S),
    )
