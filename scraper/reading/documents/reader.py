"""Reads documents: over the one door or from the operator's folder, once, then from memory or the cache."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import re
from collections.abc import Awaitable, Hashable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from browsers.model import VisitLimits
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
from scraper.coordination.protocols import SharedState
from scraper.deadline import Deadline
from scraper.extract.documents.model import ParseRequest
from scraper.extract.documents.sniff import DocumentKind
from scraper.model import Reading
from scraper.progress import ProgressCallback
from scraper.reading.documents.from_snapshot import (
    METHOD,
    PARSE_LIMIT_S,
    SnapshotDocumentReader,
    document_of,
    kind_in,
)
from scraper.reading.documents.local_files import LocalFiles
from scraper.reading.documents.parser import Parser
from scraper.reading.documents.request import DocumentRequest
from scraper.reading.fetcher import exceptions_from_the_rules
from scraper.reading.visiting import response_outcome
from scraper.reading.visiting.visitor import ProgressReporter, ReadJob, VisitResult, told
from scraper.settings import Settings
from scraper.store.protocols import CacheScope, PageEntry, PageStore
from scraper.urls import cache_key, host_of, parse_target

MB = 1_000_000
AT_ONCE = 1_000
"""Pages of a document that are read in one go: `documents.pdf.source.MAX_PAGES`."""
_URL = re.compile(r"\s*[a-zA-Z][a-zA-Z0-9+.-]*:")
_CERTAIN_URL = re.compile(
    r"\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*://|(?:https?|file|data|javascript|mailto|about):)", re.I
)
_DRIVE = re.compile(r"\s*[a-zA-Z]:[\\/]")
_A_PAGE = "This is a web page: `fetch` is the tool for it."
_NO_DOCUMENT = "This is a web page, though it was sent as {media_type}: not what the address promised."


class SnapshotReader(Protocol):
    """The part of `Fetcher` that is used."""

    async def visited(self, job: ReadJob, deadline: Deadline, tell: ProgressReporter) -> VisitResult: ...

    async def fetch(self, url: str, *, principal: str, deadline_s: float) -> Reading: ...


class DocumentReader:
    """Reads documents for callers who have a deadline."""

    def __init__(
        self,
        fetcher: SnapshotReader,
        parser: Parser,
        pages: PageStore,
        settings: Settings,
        shared: SharedState | None = None,
    ) -> None:
        """`shared`: what other servers are told; without it there are none."""
        self._elsewhere = DistributedSingleFlight(READINGS, shared.claims if shared else None, settings)
        self._fetcher = fetcher
        self._parser = parser
        self._snapshots = SnapshotDocumentReader(parser)
        self._pages = pages
        self._language = settings.language
        self._usual_age_s = settings.cache_ttl_h * 3_600
        self._exceptions = exceptions_from_the_rules(settings)
        self._limits = VisitLimits(
            body_bytes=settings.document_mb * MB, wire_bytes=(settings.document_mb + 16) * MB
        )
        self._files = LocalFiles(settings.document_root, settings.document_mb * MB)
        self._recent = MemoryCache()
        self._flights: SingleFlight[DocumentRequest, Reading] = SingleFlight()

    async def close(self) -> None:
        """End what is being read."""
        await self._flights.close()

    async def read(
        self,
        wanted: DocumentRequest,
        *,
        pages: tuple[int, ...] = (),
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> Reading:
        """Read one document; where `pages` lie beyond what is read at once, those are read.

        Raises:
            ScraperError: it cannot be read; the sentence says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        reading = await self._within(wanted, deadline, progress)
        if pages and max(pages) > AT_ONCE and (reading.document.page_count or 0) > AT_ONCE:
            return await self._within(replace(wanted, pages=pages), deadline, progress)
        return reading

    async def _within(
        self, wanted: DocumentRequest, deadline: Deadline, progress: ProgressCallback | None
    ) -> Reading:
        try:
            async with asyncio.timeout(deadline.left_s()):
                if await self._is_url(wanted.source):
                    return await self._remote(wanted, deadline, progress)
                return await self._local(wanted, deadline)
        except TimeoutError:
            raise errors.FetchTimeoutError(
                "The document was not read in time.",
                target=wanted.source,
                next_step="Try again later, or another source.",
            ) from None

    # From the web

    async def _remote(
        self, wanted: DocumentRequest, deadline: Deadline, progress: ProgressCallback | None
    ) -> Reading:
        target = parse_target(wanted.source)
        url = cache_key(target)
        wanted = replace(wanted, source=url)
        begun = self._recent.get(_memory_key(wanted))
        cached = CachedReading(fresh=begun) if begun is not None else await self._known(wanted)
        if cached.fresh is not None:
            return replace(cached.fresh, cached=True, requested_url=target)
        tell = functools.partial(_tell, progress, host_of(url))
        tell(0, "reading")

        def work() -> Awaitable[Reading]:
            return self._visit(wanted, deadline, tell, cached.stale)

        # What a password opens is for nobody else, not even for a moment.
        elsewhere = self._elsewhere if wanted.password is None else DistributedSingleFlight(READINGS)
        reading = await self._flights.join(wanted, lambda: elsewhere.join(wanted, work, anew=False))
        tell(1, "read")
        return replace(reading, requested_url=target)

    async def _visit(
        self, wanted: DocumentRequest, deadline: Deadline, tell: ProgressReporter, stale: Reading | None
    ) -> Reading:
        asked_about = () if stale is None else conditions(stale)
        job = ReadJob(wanted.source, "http", wanted.principal, self._limits, conditions=asked_about)
        visited = await self._fetcher.visited(job, deadline, tell)
        snapshot = visited.snapshot
        if stale is not None and snapshot.status == NOT_MODIFIED:
            if (same := renewed(stale, snapshot)) is None:
                return await self._visit(wanted, deadline, tell, None)
            self._keep(wanted, same)
            return replace(same, cached=True)
        response_outcome.check(snapshot, visited.document)
        is_page = kind_in(snapshot) is DocumentKind.HTML
        if is_page and snapshot.html:
            return await self._page(wanted, deadline)
        asked = ParseRequest(password=wanted.password, pages=wanted.pages)
        reading = await self._snapshots.read(
            snapshot, asked, deadline, source=wanted.source, limit_bytes=self._limits.body_bytes
        )
        if is_page:
            warning = _NO_DOCUMENT.format(media_type=snapshot.media_type[:60] or "a file")
            reading = replace(reading, warnings=(*reading.warnings, warning))
        reading = with_validators(told(reading, visited), snapshot.headers)
        self._keep(wanted, reading)
        return reading

    async def _page(self, wanted: DocumentRequest, deadline: Deadline) -> Reading:
        """A web page, read as `fetch` reads it, and kept here so that paging goes on in the same text."""
        reading = await self._fetcher.fetch(
            wanted.source, principal=wanted.principal, deadline_s=deadline.left_s()
        )
        document = replace(reading.document, format="html")
        reading = replace(reading, document=document, warnings=(*reading.warnings, _A_PAGE))
        self._recent.put(_memory_key(wanted), reading)
        return reading

    async def _known(self, wanted: DocumentRequest) -> CachedReading:
        if _is_private(wanted):
            return CachedReading()
        entry = await self._pages.get(
            wanted.source,
            shelf=self._shelf(wanted),
            methods=(METHOD,),
            max_age_s=max(self._usual_age_s, REVALIDATED_S),
            allowed=self._exceptions,
        )
        return known(entry, self._usual_age_s)

    def _keep(self, wanted: DocumentRequest, reading: Reading) -> None:
        """In memory for the next page of it; in the cache unless a password opened it, or it is a part."""
        self._recent.put(_memory_key(wanted), reading)
        if not _is_private(wanted) and not reading.truncated:
            self._pages.put(PageEntry(self._shelf(wanted), wanted.source, reading, self._exceptions))

    def _shelf(self, wanted: DocumentRequest) -> CacheScope:
        return CacheScope(principal=wanted.principal, language=self._language)

    # From the operator's folder

    async def _is_url(self, source: str) -> bool:
        """Whether a source is an address rather than a path; a file that is there may hold a colon.

        Raises:
            Refused: a file: URL.
        """
        if _CERTAIN_URL.match(source) or not _is_url(source):
            return _is_url(source)
        return not await asyncio.to_thread(self._files.holds, source)

    async def _local(self, wanted: DocumentRequest, deadline: Deadline) -> Reading:
        source = wanted.source
        if source != source.strip() and not await asyncio.to_thread(self._files.holds, source):
            source = source.strip()
        identity = await asyncio.to_thread(self._files.identify, source)
        key = (_memory_key(replace(wanted, principal="")), identity)
        kept = self._recent.get(key)
        if kept is not None:
            return replace(kept, cached=True)
        file = await asyncio.to_thread(self._files.read, source)
        asked = ParseRequest(name=file.name, password=wanted.password, pages=wanted.pages)
        limit_s = min(PARSE_LIMIT_S, deadline.left_s())
        parsed = await self._parser.read(file.data, asked, limit_s=limit_s, source=file.name)
        changed = (
            ("The file changed while it was read: parts may be missing or mixed.",) if file.changed else ()
        )
        reading = Reading(
            document=document_of(parsed, file.name),
            url=file.name,
            requested_url=file.name,
            status=200,
            method="file",
            cached=False,
            retrieved_at=datetime.now(UTC),
            warnings=(*changed, *parsed.warnings),
        )
        if not file.changed:
            self._recent.put(key, reading)
        return reading


def _is_url(source: str) -> bool:
    """Whether a source is an address; `file:` ones never are.

    Raises:
        Refused: a file: URL.
    """
    if not _URL.match(source) or _DRIVE.match(source):
        return False
    if source.strip().lower().startswith("file:"):
        raise errors.PolicyError(
            "file:// URLs are always refused.",
            target=source[:200],
            next_step="Pass an http(s) URL, or a path beneath the folder of local files, where there is one.",
        )
    return True


def _is_private(wanted: DocumentRequest) -> bool:
    """Whether a reading must not be kept beyond the next minutes: unlocked by a password, or a part only."""
    return wanted.password is not None or bool(wanted.pages)


def _memory_key(wanted: DocumentRequest) -> Hashable:
    """Who gives another password is another caller; the password itself is not kept."""
    locked = hashlib.sha256((wanted.password or "").encode("utf-8", "surrogatepass")).digest()
    return wanted.principal, wanted.source, wanted.pages, locked


def _tell(progress: ProgressCallback | None, host: str, done: float, verb: str) -> None:
    if progress is not None:
        progress(done, 1, f"{verb} {host}")
