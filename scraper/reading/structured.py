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
from scraper.extract import structured
from scraper.model import StructuredData
from scraper.reading import outcome
from scraper.reading.deadline import Deadline
from scraper.reading.flights import Flights
from scraper.reading.progress import Progress
from scraper.reading.shared_flights import STRUCTURED, SharedFlights
from scraper.reading.visits import Job, Tell, Visited, out_of_time
from scraper.settings import Settings
from scraper.store.shared.protocols import Shared
from scraper.urls import cache_key, host_of, parse_target
from scraper.workers import WorkerFailed, Workers

__all__ = ["StructuredReader", "Visitor"]

log = logging.getLogger(__name__)

EXTRACT_LIMIT_S = 5.0
"""All syntaxes and facts take 30 to 150 ms; a page that takes longer than this was made to."""
SIMPLE_LIMIT_S = 3.0

_SHOWN_BY_ITSELF = frozenset({"consent", "login"})
"""Walls behind which the page stands all the same: its own data came with it."""
_SIMPLY = "The page is too complex: microdata, RDFa and facts were left out."


class Visitor(Protocol):
    """The part of the fetcher that is used."""

    async def visited(self, job: Job, deadline: Deadline, tell: Tell) -> Visited: ...


class StructuredReader:
    """Reads structured data for callers who have a deadline."""

    def __init__(
        self,
        visitor: Visitor,
        workers: Workers,
        settings: Settings | None = None,
        shared: Shared | None = None,
    ) -> None:
        """`shared`: what other servers are told; without it there are none."""
        self._visitor = visitor
        self._workers = workers
        self._elsewhere = SharedFlights(STRUCTURED, shared.claims if shared else None, settings)
        self._flights: Flights[Job, StructuredData] = Flights()

    async def close(self) -> None:
        """End what is being read."""
        await self._flights.close()

    async def extract(
        self,
        url: str,
        *,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: Progress | None = None,
    ) -> StructuredData:
        """The structured data of a page as it stands when it is rendered.

        Raises:
            ScraperError: the page could not be read; the sentence says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        job = Job(cache_key(parse_target(url)), "browser", principal, json_responses=True)
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

    async def _read(self, job: Job, deadline: Deadline, tell: Tell) -> StructuredData:
        visited = await self._visitor.visited(job, deadline, tell)
        if not visited.snapshot.is_html:
            # What came is told in the words of `fetch`; text that is no page has nothing structured in it.
            outcome.reading_of(
                visited.snapshot, visited.document, wanted_rendering=True, requested_url=job.url
            )
            raise _no_page(visited.snapshot)
        found = await self._extracted(visited.snapshot, deadline)
        return replace(found, warnings=(*self._judged(visited, found, job), *visited.notes, *found.warnings))

    def _judged(self, visited: Visited, found: StructuredData, job: Job) -> tuple[str, ...]:
        """Warnings about the page.

        Raises:
            ScraperError: there is no page to speak of; a wall, unless the page's own data came with it.
        """
        try:
            reading = outcome.reading_of(
                visited.snapshot, visited.document, wanted_rendering=True, requested_url=job.url
            )
        except errors.Empty:
            if _holds_data(found):
                return ()
            raise
        except errors.Walled as wall:
            if wall.reason in _SHOWN_BY_ITSELF and visited.snapshot.status < 300 and _holds_data(found):
                return (f"{wall} This is what stands in the page behind it.",)
            raise
        return reading.warnings

    async def _extracted(self, snapshot: Snapshot, deadline: Deadline) -> StructuredData:
        """All of it; where that takes too much, the simple part."""
        light = replace(snapshot, body=b"", frames=())
        try:
            return await self._run(structured.extract, light, EXTRACT_LIMIT_S, deadline)
        except WorkerFailed as fault:
            log.warning("structured data of %s read simply: %s", host_of(snapshot.url), fault)
        try:
            found = await self._run(structured.extract_simply, light, SIMPLE_LIMIT_S, deadline)
        except WorkerFailed as error:
            raise errors.TooLarge(
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
            raise WorkerFailed("no reader was free in time") from error


def _holds_data(found: StructuredData) -> bool:
    return bool(found.json_ld or found.microdata or found.rdfa)


def _no_page(snapshot: Snapshot) -> errors.UnsupportedType:
    return errors.UnsupportedType(
        f"{host_of(snapshot.url)} sent {snapshot.media_type or 'something'}, not a page.",
        target=snapshot.requested_url,
        next_step="Only pages hold structured data: use `fetch` for text.",
    )


def _tell(progress: Progress | None, host: str, done: float, verb: str) -> None:
    if progress is not None:
        progress(done, 1, f"{verb} {host}")
