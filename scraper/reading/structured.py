"""Reads what pages say of themselves for machines: rendered, as shops write it by script; always anew."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from browsers.model import Snapshot
from scraper import errors
from scraper.caching.distributed_single_flight import STRUCTURED, DistributedSingleFlight
from scraper.caching.single_flight import SingleFlight
from scraper.coordination.protocols import SharedState
from scraper.deadline import Deadline
from scraper.extract import structured
from scraper.model import StructuredData
from scraper.progress import ProgressCallback
from scraper.reading.visiting import response_outcome
from scraper.reading.visiting.visitor import ProgressReporter, ReadJob, VisitResult, out_of_time
from scraper.settings import Settings
from scraper.urls import cache_key, host_of, parse_target
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

EXTRACT_LIMIT_S = 5.0
"""All syntaxes and facts take 30 to 150 ms; a page that takes longer than this was made to."""
SIMPLE_LIMIT_S = 3.0

_SHOWN_BY_ITSELF = frozenset({"consent", "login"})
"""Walls behind which the page stands all the same: its own data came with it."""
_SIMPLY = "The page is too complex: microdata, RDFa and facts were left out."


class RenderingVisitor(Protocol):
    """The part of the fetcher that is used."""

    async def visited(self, job: ReadJob, deadline: Deadline, tell: ProgressReporter) -> VisitResult: ...


class StructuredReader:
    """Reads structured data for callers who have a deadline."""

    def __init__(
        self,
        visitor: RenderingVisitor,
        workers: WorkerPool,
        settings: Settings | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """`shared`: what other servers are told; without it there are none."""
        self._visitor = visitor
        self._workers = workers
        self._elsewhere = DistributedSingleFlight(STRUCTURED, shared.claims if shared else None, settings)
        self._flights: SingleFlight[ReadJob, StructuredData] = SingleFlight()

    async def close(self) -> None:
        """End what is being read."""
        await self._flights.close()

    async def extract(
        self,
        url: str,
        *,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> StructuredData:
        """The structured data of a page as it stands when it is rendered.

        Raises:
            ScraperError: the page could not be read; the sentence says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        job = ReadJob(cache_key(parse_target(url)), "browser", principal, json_responses=True)
        tell = functools.partial(_tell, progress, job.host)
        tell(0, "reading")

        def work() -> Awaitable[StructuredData]:
            return self._read(job, deadline, tell)

        try:
            async with asyncio.timeout(deadline.left_s()):
                found = await self._flights.join(job, lambda: self._elsewhere.join(job, work, anew=True))
        except TimeoutError:
            raise out_of_time(job) from None
        tell(1, "read")
        return found

    async def _read(self, job: ReadJob, deadline: Deadline, tell: ProgressReporter) -> StructuredData:
        visited = await self._visitor.visited(job, deadline, tell)
        if not visited.snapshot.is_html:
            # What came is told in the words of `fetch`; text that is no page has nothing structured in it.
            response_outcome.reading_of(
                visited.snapshot, visited.document, wanted_rendering=True, requested_url=job.url
            )
            raise _no_page(visited.snapshot)
        found = await self._extracted(visited.snapshot, deadline)
        return replace(found, warnings=(*self._judged(visited, found, job), *visited.notes, *found.warnings))

    def _judged(self, visited: VisitResult, found: StructuredData, job: ReadJob) -> tuple[str, ...]:
        """Warnings about the page.

        Raises:
            ScraperError: there is no page to speak of; a wall, unless the page's own data came with it.
        """
        try:
            reading = response_outcome.reading_of(
                visited.snapshot, visited.document, wanted_rendering=True, requested_url=job.url
            )
        except errors.NoContentError:
            if _holds_data(found):
                return ()
            raise
        except errors.BlockedBySiteError as wall:
            if wall.reason in _SHOWN_BY_ITSELF and visited.snapshot.status < 300 and _holds_data(found):
                return (f"{wall} This is what stands in the page behind it.",)
            raise
        return reading.warnings

    async def _extracted(self, snapshot: Snapshot, deadline: Deadline) -> StructuredData:
        """All of it; where that takes too much, the simple part."""
        light = replace(snapshot, body=b"", frames=())
        try:
            return await self._run(structured.extract, light, EXTRACT_LIMIT_S, deadline)
        except WorkerFailedError as fault:
            log.warning("structured data of %s read simply: %s", host_of(snapshot.url), fault)
        try:
            found = await self._run(structured.extract_basic, light, SIMPLE_LIMIT_S, deadline)
        except WorkerFailedError as error:
            raise errors.ContentTooLargeError(
                f"The structured data of the page at {host_of(snapshot.url)} could not be read: {error}.",
                target=snapshot.requested_url,
                next_step="Use `fetch` for its text, or another source.",
            ) from error
        return replace(found, warnings=(_SIMPLY, *found.warnings))

    async def _run(
        self,
        work: Callable[[Snapshot], StructuredData],
        snapshot: Snapshot,
        limit_s: float,
        deadline: Deadline,
    ) -> StructuredData:
        try:
            async with asyncio.timeout(deadline.left_s()):
                return await self._workers.run(work, snapshot, limit_s=min(limit_s, deadline.left_s()))
        except TimeoutError as error:
            raise WorkerFailedError("no reader was free in time") from error


def _holds_data(found: StructuredData) -> bool:
    return bool(found.json_ld or found.microdata or found.rdfa)


def _no_page(snapshot: Snapshot) -> errors.UnsupportedTypeError:
    return errors.UnsupportedTypeError(
        f"{host_of(snapshot.url)} sent {snapshot.media_type or 'something'}, not a page.",
        target=snapshot.requested_url,
        next_step="Only pages hold structured data: use `fetch` for text.",
    )


def _tell(progress: ProgressCallback | None, host: str, done: float, verb: str) -> None:
    if progress is not None:
        progress(done, 1, f"{verb} {host}")
