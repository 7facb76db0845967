"""Fetch pages from the cache or the web."""

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from browsers.client import Browsers
from scraper import caching, errors
from scraper.caching import DistributedSingleFlight, LoadRequest, MemoryCache, PageCache, ReadThrough, StoreLookup
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.coordination.state import SharedState
from scraper.documents.sniff import is_document
from scraper.model import WHOLE_PAGE, Reading, ReadRequest
from scraper.reading import visit_outcome
from scraper.reading.batch import read_all, repeated_hosts
from scraper.reading.documents.parser import DocumentParser
from scraper.reading.response_reader import VisitResult
from scraper.reading.visit_outcome import VisitJob
from scraper.reading.visitor import PageVisitor, timeout_error
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.urls import host_of, is_missing_url, parse_target, request_key
from scraper.workers import WorkerPool

_METHODS = {"auto": ("http", "browser", "document"), "http": ("http", "document"), "browser": ("browser", "document")}
"""Methods of cached readings that may answer each value of `render`.

`browser` accepts no unrendered page, `http` no rendered one. `auto` accepts both, because only pages with enough
content are stored.
"""

_BATCH_CONCURRENCY = 8
"""Pages of one batch read at once. The browsers limit the total and share it fairly."""

OnVisit = Callable[[VisitResult], None]


class Fetcher:
    """Fetch pages for callers within a deadline."""

    def __init__(
        self,
        browsers: Browsers,
        workers: WorkerPool,
        pages: PageStore,
        settings: Settings,
        *,
        documents: DocumentParser | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """Create the service.

        Without `documents`, documents are errors; `shared` is None if there are no other servers.
        """
        shared = shared or SharedState()
        self.visitor = PageVisitor(browsers, workers, settings, shared)
        self._documents = documents
        self._cache = PageCache(pages, settings)
        self._service: ReadThrough[Reading] = ReadThrough(
            caching.mark_reading_cached,
            memory=MemoryCache(markdown_size),
            join_others=DistributedSingleFlight(Reading, shared.claims, settings).join,
        )
        # A batch waits for its own pages; it must not fail because they fill the queue.
        self._batch_concurrency = min(_BATCH_CONCURRENCY, settings.peek_slots)

    @property
    def in_flight(self) -> int:
        """Number of pages being read."""
        return self._service.in_flight

    async def close(self) -> None:
        """Cancel the pages that are being read."""
        await self._service.close()
        await self.visitor.politeness.close()

    async def fetch(
        self, request: ReadRequest, *, progress: ProgressCallback | None = None, on_visit: OnVisit | None = None
    ) -> Reading:
        """Read one page; at the deadline, return the part that was loaded, with a warning.

        `on_visit` is called with the response if this call makes the visit.

        Raises:
            ScraperError: The page cannot be read; the message says why and what to do.
        """
        deadline = Deadline.within(request.deadline_s)
        target = parse_target(request.url)
        job = VisitJob(
            request_key(target),
            "browser" if request.part.wait_for else request.render,
            request.principal,
            part=request.part,
            is_beginning=request.is_beginning,
            batch=request.batch,
            is_bulk=request.is_bulk,
        )

        def find() -> Awaitable[StoreLookup[Reading]]:
            return self._cache.find(
                job.url, job.principal, methods=_METHODS[job.render], max_age_s=request.cache.max_age_s
            )

        load = LoadRequest(
            job,
            run=lambda stale: self._load(job, deadline, progress or ignore_progress, stale, on_visit),
            find=find if job.part == WHOLE_PAGE else None,
            memory_key=job,
            label=job.host,
        )
        try:
            reading = await self._service.read(load, request.cache, deadline=deadline, progress=progress)
        except TimeoutError:
            raise timeout_error(job) from None
        self.visitor.politeness.obey_wishes(reading)
        hint = visit_outcome.document_hint(reading)
        warnings = (hint, *reading.warnings) if hint else reading.warnings
        return replace(reading, requested_url=target, warnings=warnings)

    async def fetch_batch(
        self,
        urls: Sequence[str],
        *,
        render: str = "auto",
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> list[Reading | errors.ScraperError]:
        """Read several pages at once; return a reading or an error for each URL, in their order."""
        batch, repeated = uuid.uuid4().hex, repeated_hosts(urls)

        async def read(url: str, left_s: float) -> Reading:
            name = batch if host_of(url) in repeated else None
            return await self.fetch(ReadRequest(url, render=render, principal=principal, deadline_s=left_s, batch=name))

        return await read_all(
            read, urls, concurrency=self._batch_concurrency, deadline=Deadline.within(deadline_s), progress=progress
        )

    def gap_s(self, url: str) -> float | None:
        """Return the seconds between two visits to the host of a URL; None if they are not known yet."""
        return self.visitor.politeness.gap_s(parse_target(url))

    def assume_recent_requests(self) -> None:
        """Start the minimum gap of every host now, because a killed process may have sent requests to any of them."""
        self.visitor.politeness.throttle.assume_recent_requests()

    async def _load(
        self,
        job: VisitJob,
        deadline: Deadline,
        progress: ProgressCallback,
        stale: Reading | None,
        on_visit: OnVisit | None,
    ) -> Reading:
        conditional = job if stale is None else replace(job, conditions=caching.build_conditions(stale))
        result = await self.visitor.visit(conditional, deadline, progress)
        snapshot = result.snapshot
        if on_visit is not None:
            on_visit(result)
        if stale is not None and snapshot.status == caching.NOT_MODIFIED:
            if (current := caching.revalidate(stale, snapshot)) is None:
                return await self._load(job, deadline, progress, None, on_visit)
            self._cache.put(job.url, job.principal, current)
            return replace(current, cached=True)
        reading = None
        if self._documents is not None:
            visit_outcome.check_content(snapshot, result.document)
            if is_document(snapshot.body, snapshot.media_type):
                reading = await self._documents.read_for_fetch(snapshot, job, deadline)
        if reading is None:
            reading = visit_outcome.build_reading(
                snapshot, result.document, may_render=job.render != "http", requested_url=job.url
            )
        reading = caching.add_validators(result.add_warnings(reading), snapshot.headers)
        reading = await self.visitor.politeness.add_wishes(reading, snapshot, job.principal, deadline)
        is_whole = job.part == WHOLE_PAGE and not is_missing_url(job.url)
        if is_whole and visit_outcome.is_cacheable(snapshot, reading):
            self._cache.put(job.url, job.principal, reading)
        return reading


def markdown_size(reading: Reading) -> int:
    """Return the number of characters of a reading's Markdown."""
    return len(reading.document.markdown)
