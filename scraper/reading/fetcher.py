"""Reads pages: from the cache, or by one visit whose verdict decides how far it goes."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import tenacity

from browsers import errors as door_errors
from browsers.model import Mode, Request, Snapshot, Tier
from browsers.visit import Enough
from scraper import errors
from scraper.model import Document, Reading
from scraper.reading import outcome
from scraper.reading.batch import read_all
from scraper.reading.deadline import Deadline
from scraper.reading.errors import translated
from scraper.reading.flights import Flights
from scraper.reading.judge import Judge
from scraper.reading.progress import Progress
from scraper.reading.tiers import TierMemory
from scraper.settings import Settings
from scraper.store.protocols import Entry, Pages, Shelf
from scraper.urls import cache_key, host_of, parse_target
from scraper.workers import WorkerFailed, Workers

__all__ = ["RENDERINGS", "Fetcher"]

_MODES = {"auto": Mode.AUTO, "http": Mode.PEEK, "browser": Mode.RENDER}
RENDERINGS = tuple(_MODES)
_METHODS = {"auto": ("http", "browser"), "http": ("http",), "browser": ("browser",)}
"""Which kept readings serve a request. Who asks for a rendered page gets no page as served, nor the reverse;
what is kept was found to be enough, so `auto` takes either."""

READ_RESERVE_S = 3.0
"""Kept back from the deadline to read what the visit brought."""
READ_RESERVE_SHARE = 0.2
TRIES = 2
PATIENCE_S = 5.0
"""A site that asks for a longer pause is left to the caller."""
BATCH_AT_ONCE = 8
"""Pages of one batch under way; the browsers' own bounds and their fairness stand behind it."""


class Door(Protocol):
    """The part of `Browsers` that is used."""

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot: ...


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be read, for whom: two equal jobs are one visit."""

    url: str
    render: str
    principal: str

    @property
    def host(self) -> str:
        """The host of the URL."""
        return host_of(self.url)


@dataclass(frozen=True, slots=True)
class _Visited:
    """What a visit brought, and what is to be read in it."""

    snapshot: Snapshot
    document: Document


class Fetcher:
    """Reads pages for callers who have a deadline."""

    def __init__(self, browsers: Door, workers: Workers, pages: Pages, settings: Settings) -> None:
        self._browsers = browsers
        self._workers = workers
        self._pages = pages
        self._settings = settings
        self._exceptions = _exceptions_from_the_rules(settings)
        self._tiers = TierMemory(Tier(settings.tier))
        self._flights: Flights[_Job, Reading] = Flights()

    @property
    def under_way(self) -> int:
        """Pages that are being visited."""
        return len(self._flights)

    async def close(self) -> None:
        """End what is being read."""
        await self._flights.close()

    async def fetch(
        self,
        url: str,
        *,
        render: str = "auto",
        force_refresh: bool = False,
        max_age_s: float | None = None,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: Progress | None = None,
    ) -> Reading:
        """Read one page; at the deadline, what there is of it, with a warning.

        Raises:
            ScraperError: there is nothing to read; the sentence says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        target = parse_target(url)
        job = _Job(cache_key(target), render, principal)
        if not force_refresh and (kept := await self._kept(job, max_age_s)) is not None:
            return replace(kept, requested_url=target)
        tell = functools.partial(_tell, progress, job.host)
        tell(0, "reading")
        try:
            async with asyncio.timeout(deadline.left_s()):
                reading = await self._flights.join(job, lambda: self._read(job, deadline, tell))
        except TimeoutError:
            raise _out_of_time(job) from None
        tell(1, "read")
        return replace(reading, requested_url=target)

    async def fetch_batch(
        self,
        urls: Sequence[str],
        *,
        render: str = "auto",
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: Progress | None = None,
    ) -> list[Reading | errors.ScraperError]:
        """Read several pages at once; a page that fails is its error, in its place."""

        async def read(url: str, left_s: float) -> Reading:
            return await self.fetch(url, render=render, principal=principal, deadline_s=left_s)

        return await read_all(
            read, urls, at_once=BATCH_AT_ONCE, deadline=Deadline.within(deadline_s), progress=progress
        )

    async def _kept(self, job: _Job, max_age_s: float | None) -> Reading | None:
        entry = await self._pages.get(
            job.url,
            shelf=self._shelf(job),
            methods=_METHODS[job.render],
            max_age_s=self._settings.cache_ttl_h * 3600 if max_age_s is None else max_age_s,
            allowed=self._exceptions,
        )
        return None if entry is None else replace(entry.reading, cached=True)

    def _shelf(self, job: _Job) -> Shelf:
        return Shelf(principal=job.principal, language=self._settings.language)

    async def _read(self, job: _Job, deadline: Deadline, tell: _Tell) -> Reading:
        visited = await self._visit_patiently(job, self._tiers.first(job.host), deadline, tell)
        if outcome.may_open(visited.snapshot, visited.document):
            visited = await self._try_full(job, visited, deadline, tell)
        reading = outcome.reading_of(
            visited.snapshot,
            visited.document,
            wanted_rendering=job.render != "http",
            requested_url=job.url,
        )
        if outcome.is_lasting(visited.snapshot, reading):
            self._pages.put(Entry(self._shelf(job), job.url, reading, self._exceptions))
        return reading

    async def _try_full(self, job: _Job, walled: _Visited, deadline: Deadline, tell: _Tell) -> _Visited:
        """Try a wall once with the full browser, where there is one."""
        if not self._tiers.worth_full(walled.snapshot.tier):
            return walled
        try:
            visited = await self._visit(job, Tier.FULL, deadline, tell)
        except errors.ScraperError:
            return walled
        let_in = not outcome.may_open(visited.snapshot, visited.document)
        self._tiers.note_tried(job.host, visited.snapshot.tier, let_in=let_in)
        return visited

    async def _visit_patiently(self, job: _Job, tier: Tier, deadline: Deadline, tell: _Tell) -> _Visited:
        """Visit, and once more after a pause where the site's failure may pass."""

        def pause_s(state: tenacity.RetryCallState) -> float:
            assert state.outcome is not None
            return outcome.pause_s(state.outcome.result().snapshot) or 0.0

        def may_pass(visited: _Visited) -> bool:
            pause = outcome.pause_s(visited.snapshot)
            return pause is not None and pause <= min(PATIENCE_S, deadline.left_s() / 2)

        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(TRIES),
            wait=pause_s,
            retry=tenacity.retry_if_result(may_pass),
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )
        visited: _Visited = await retrying(self._visit, job, tier, deadline, tell)
        return visited

    async def _visit(self, job: _Job, tier: Tier, deadline: Deadline, tell: _Tell) -> _Visited:
        """Visit once and read what came; what was served stands in where rendering it fails."""
        judge = Judge(self._workers, deadline, on_render=lambda: tell(0, "rendering"))
        request = self._request(job, tier, deadline)
        # The door keeps the deadline itself; this is for a door that does not.
        limit_s = (request.deadline_s + deadline.left_s()) / 2
        try:
            async with asyncio.timeout(limit_s):
                snapshot = await self._browsers.visit(request, judge.enough)
        except (door_errors.BrowsersError, TimeoutError) as error:
            if isinstance(error, door_errors.Refused) or not judge.has_text:
                raise _told(error, job) from error
            return _as_served(judge)
        return await _read_by(judge, snapshot)

    def _request(self, job: _Job, tier: Tier, deadline: Deadline) -> Request:
        reserve_s = min(READ_RESERVE_S, deadline.left_s() * READ_RESERVE_SHARE)
        return Request(
            job.url,
            tier=tier,
            mode=_MODES[job.render],
            principal=job.principal,
            language=self._settings.language,
            deadline_s=deadline.left_s(reserve_s=reserve_s),
        )


async def _read_by(judge: Judge, snapshot: Snapshot) -> _Visited:
    if not snapshot.html:
        return _Visited(snapshot, Document(url=snapshot.url))
    if not snapshot.rendered and judge.document is not None:
        return _Visited(snapshot, judge.document)
    try:
        return _Visited(snapshot, await judge.read(snapshot))
    except WorkerFailed as error:
        if judge.has_text:
            return _as_served(judge)
        raise errors.TooLarge(
            f"The page at {host_of(snapshot.url)} could not be read: {error}.",
            target=snapshot.requested_url,
            next_step="Look for a smaller page, or another source.",
        ) from error


def _as_served(judge: Judge) -> _Visited:
    assert judge.peek is not None and judge.document is not None
    return _Visited(replace(judge.peek, complete=False), judge.document)


class _Tell(Protocol):
    def __call__(self, done: float, verb: str) -> None: ...


def _tell(progress: Progress | None, host: str, done: float, verb: str) -> None:
    if progress is not None:
        progress(done, 1, f"{verb} {host}")


def _told(error: door_errors.BrowsersError | TimeoutError, job: _Job) -> errors.ScraperError:
    return _out_of_time(job) if isinstance(error, TimeoutError) else translated(error, job.url)


def _out_of_time(job: _Job) -> errors.TimedOut:
    return errors.TimedOut(
        f"The page at {job.host} was not read in time.",
        target=job.url,
        next_step="Try again later, or another source.",
    )


def _exceptions_from_the_rules(settings: Settings) -> frozenset[str]:
    """What this operator lets through that others would not; kept with each page."""
    hosts = {f"{name}={address}:{port}" for name, address, port in settings.test_hosts}
    # A proxy that looks names up itself may reach hosts that we would have refused.
    proxies = {"proxy"} if settings.proxy and settings.proxy_dns == "remote" else set()
    return frozenset(settings.allow_nets) | hosts | proxies
