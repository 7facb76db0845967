"""Reads pages: from the cache, or by one visit for everyone who wants it, with the browser that is let in."""

from __future__ import annotations

import asyncio
import functools
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from browsers.model import Snapshot, Tier
from scraper import errors
from scraper.caching.distributed_single_flight import READINGS, DistributedSingleFlight
from scraper.caching.memory_cache import MemoryCache
from scraper.caching.revalidation import (
    NOT_MODIFIED,
    REVALIDATED_S,
    CachedReading,
    conditions,
    known,
    renewed,
    with_validators,
)
from scraper.caching.single_flight import SingleFlight
from scraper.coordination.local_state import LocalState
from scraper.coordination.protocols import SharedState
from scraper.deadline import Deadline
from scraper.model import Reading
from scraper.progress import ProgressCallback
from scraper.reading.batch import hosts_of_several, read_all
from scraper.reading.politeness.policy import manners_of
from scraper.reading.visiting import response_outcome
from scraper.reading.visiting.browser_protocol import BrowserClient
from scraper.reading.visiting.tier_memory import TierMemory
from scraper.reading.visiting.visitor import (
    PageVisitor,
    ProgressReporter,
    ReadJob,
    VisitResult,
    out_of_time,
    told,
)
from scraper.settings import Settings
from scraper.store.protocols import CacheScope, PageEntry, PageStore
from scraper.urls import cache_key, host_of, parse_target
from scraper.workers import WorkerPool

_METHODS = {
    "auto": ("http", "browser", "document"),
    "http": ("http", "document"),
    "browser": ("browser", "document"),
}
"""Which kept readings serve a request. Who asks for a rendered page gets no page as served, nor the reverse;
what is kept was found to be enough, so `auto` takes either."""

BATCH_AT_ONCE = 8
"""Pages of one batch under way; the browsers' own bounds and their fairness stand behind it."""
HOUR_S = 3_600.0


class ReadsDocuments(Protocol):
    """Reads what a visit brought where that is a document; None where it is a page or a text."""

    async def __call__(self, snapshot: Snapshot, job: ReadJob, deadline: Deadline) -> Reading | None: ...


class Fetcher:
    """Reads pages for callers who have a deadline."""

    def __init__(
        self,
        browsers: BrowserClient,
        workers: WorkerPool,
        pages: PageStore,
        settings: Settings,
        *,
        documents: ReadsDocuments | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """`documents`: reads what turns out to be no page; without it that is an error. `shared`: what other
        servers are told; without it there are none."""
        shared = shared or LocalState()
        self._documents = documents
        self._manners = manners_of(settings, browsers, shared)
        self._visits = PageVisitor(browsers, workers, settings.language, self._manners)
        self._elsewhere = DistributedSingleFlight(READINGS, shared.claims, settings)
        self._pages = pages
        self._language = settings.language
        self._usual_age_s = settings.cache_ttl_h * HOUR_S
        self._exceptions = exceptions_from_the_rules(settings)
        self._tiers = TierMemory(Tier(settings.tier))
        self._flights: SingleFlight[ReadJob, Reading] = SingleFlight()
        self._recent = MemoryCache()
        # A batch waits for its own pages; it must not fill the queue with them and fail by that.
        self._batch_width = min(BATCH_AT_ONCE, settings.peek_slots)

    @property
    def under_way(self) -> int:
        """Pages that are being visited."""
        return len(self._flights)

    async def close(self) -> None:
        """End what is being read."""
        await self._flights.close()
        await self._manners.close()

    async def fetch(
        self,
        url: str,
        *,
        render: str = "auto",
        force_refresh: bool = False,
        own_visit: bool = False,
        continuing: bool = False,
        max_age_s: float | None = None,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
        seen: Callable[[Snapshot], None] | None = None,
        batch: str | None = None,
    ) -> Reading:
        """Read one page; at the deadline, what there is of it, with a warning.

        `own_visit`: neither what is kept serves, nor what another server is just reading; `seen` is told.
        `continuing`: more of what was just read is wanted, whatever its age and the state of the cache.
        `seen`: is told what the visit brought, where this call makes one. `batch`: whose pages of this host
        follow each other.

        Raises:
            ScraperError: there is nothing to read; the sentence says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        target = parse_target(url)
        job = ReadJob(cache_key(target), render, principal, batch=batch)
        if continuing and (begun := self._recent.get(job)) is not None:
            return _given(replace(begun, cached=True), target)
        cached = CachedReading() if force_refresh or own_visit else await self._known(job, max_age_s)
        if cached.fresh is not None:
            self._recent.put(job, cached.fresh)
            return _given(cached.fresh, target)
        tell = functools.partial(_tell, progress, job.host)
        tell(0, "reading")

        def work() -> Awaitable[Reading]:
            return self._read(job, deadline, tell, cached.stale, seen)

        def work_anywhere() -> Awaitable[Reading]:
            return self._elsewhere.join(job, work, anew=force_refresh or max_age_s == 0)

        try:
            async with asyncio.timeout(deadline.left_s()):
                reading = await self._flights.join(job, work if own_visit else work_anywhere)
        except TimeoutError:
            raise out_of_time(job) from None
        tell(1, "read")
        self._recent.put(job, reading)
        return _given(reading, target)

    def gap_s(self, url: str) -> float | None:
        """The pause between two visits to the host of a URL; None: nobody has asked what its site wants."""
        return self._manners.gap_s(parse_target(url))

    def hosts_were_asked(self) -> None:
        """Somebody who was cut off may have asked any host just now: every gap counts from now on."""
        self._manners.hosts_were_asked()

    async def fetch_batch(
        self,
        urls: Sequence[str],
        *,
        render: str = "auto",
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> list[Reading | errors.ScraperError]:
        """Read several pages at once; a page that fails is its error, in its place."""
        batch, several = uuid.uuid4().hex, hosts_of_several(urls)

        async def read(url: str, left_s: float) -> Reading:
            series = batch if host_of(url) in several else None
            return await self.fetch(url, render=render, principal=principal, deadline_s=left_s, batch=series)

        return await read_all(
            read, urls, at_once=self._batch_width, deadline=Deadline.within(deadline_s), progress=progress
        )

    async def _known(self, job: ReadJob, max_age_s: float | None) -> CachedReading:
        """What the cache has, found by one look: what is too old to be given out may still be asked about."""
        limit_s = self._usual_age_s if max_age_s is None else max_age_s
        if max_age_s == 0:
            return CachedReading()
        entry = await self._pages.get(
            job.url,
            shelf=self._shelf(job),
            methods=_METHODS[job.render],
            max_age_s=max(limit_s, REVALIDATED_S),
            allowed=self._exceptions,
        )
        return known(entry, limit_s)

    def _shelf(self, job: ReadJob) -> CacheScope:
        return CacheScope(principal=job.principal, language=self._language)

    async def visited(self, job: ReadJob, deadline: Deadline, tell: ProgressReporter) -> VisitResult:
        """What a visit brings, by the browser that is let in.

        Raises:
            ScraperError: nothing came.
        """
        visited = await self._visits.patiently(job, self._tiers.first(job.host), deadline, tell)
        if response_outcome.may_open(visited.snapshot, visited.document):
            visited = await self._try_full(job, visited, deadline, tell)
        return visited

    async def _read(
        self,
        job: ReadJob,
        deadline: Deadline,
        tell: ProgressReporter,
        stale: Reading | None,
        seen: Callable[[Snapshot], None] | None = None,
    ) -> Reading:
        asked = job if stale is None else replace(job, conditions=conditions(stale))
        visited = await self.visited(asked, deadline, tell)
        snapshot = visited.snapshot
        if seen is not None:
            seen(snapshot)
        if stale is not None and snapshot.status == NOT_MODIFIED:
            if (same := renewed(stale, snapshot)) is None:
                return await self._read(job, deadline, tell, None, seen)
            self._pages.put(PageEntry(self._shelf(job), job.url, same, self._exceptions))
            return replace(same, cached=True)
        reading = None
        if self._documents is not None:
            response_outcome.check(snapshot, visited.document)
            reading = await self._documents(snapshot, job, deadline)
        if reading is None:
            reading = response_outcome.reading_of(
                snapshot,
                visited.document,
                wanted_rendering=job.render != "http",
                requested_url=job.url,
            )
        reading = with_validators(told(reading, visited), snapshot.headers)
        if response_outcome.is_lasting(visited.snapshot, reading):
            self._pages.put(PageEntry(self._shelf(job), job.url, reading, self._exceptions))
        return reading

    async def _try_full(
        self, job: ReadJob, walled: VisitResult, deadline: Deadline, tell: ProgressReporter
    ) -> VisitResult:
        """Try a wall once with the full browser, where there is one."""
        if not self._tiers.worth_full(walled.snapshot.tier):
            return walled
        try:
            visited = await self._visits.once(job, Tier.FULL, deadline, tell)
        except errors.ScraperError:
            return walled
        let_in = not response_outcome.may_open(visited.snapshot, visited.document)
        self._tiers.note_tried(job.host, visited.snapshot.tier, let_in=let_in)
        return visited


def _given(reading: Reading, requested_url: str) -> Reading:
    """The reading as this caller gets it; the cache has it for `read_doc` too."""
    note = response_outcome.document_note(reading)
    warnings = (note, *reading.warnings) if note else reading.warnings
    return replace(reading, requested_url=requested_url, warnings=warnings)


def _tell(progress: ProgressCallback | None, host: str, done: float, verb: str) -> None:
    if progress is not None:
        progress(done, 1, f"{verb} {host}")


def exceptions_from_the_rules(settings: Settings) -> frozenset[str]:
    """What this operator lets through that others would not; kept with each page."""
    hosts = {f"{name}={address}:{port}" for name, address, port in settings.test_hosts}
    # A proxy that looks names up itself may reach hosts that we would have refused.
    proxies = {"proxy"} if settings.proxy else set()
    return frozenset(settings.allow_nets) | hosts | proxies
