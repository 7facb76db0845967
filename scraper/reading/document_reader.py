"""Read documents from the web or from the operator's folder of local files."""

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Hashable
from dataclasses import replace
from datetime import UTC, datetime

from browsers.model import Snapshot, VisitLimits
from scraper import caching, errors
from scraper.caching import DistributedSingleFlight, LoadRequest, MemoryCache, PageCache, ReadThrough, StoreLookup
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.coordination.state import SharedState
from scraper.documents.media import Video, find_watch_url, read_watch_page
from scraper.documents.model import ParseRequest
from scraper.documents.sniff import DocumentKind
from scraper.model import FIRST_CHARACTERS, CachePolicy, Document, DocumentRequest, Reading, ReadRequest, Reuse
from scraper.reading import visit_outcome
from scraper.reading.documents.local_files import LocalFiles
from scraper.reading.documents.parser import (
    BYTES_PER_MB,
    DOCUMENT_METHOD,
    OCR_TIME_WARNING,
    PARSE_LIMIT_S,
    DocumentParser,
    build_document,
    detect_kind,
)
from scraper.reading.fetcher import Fetcher, markdown_size
from scraper.reading.response_reader import VisitResult
from scraper.reading.visit_outcome import VisitJob
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.text.markdown_structure import find_headings
from scraper.text.sanitize import clean_line
from scraper.urls import host_of, parse_target, request_key
from scraper.values.text import format_clock

_DEFAULT_PAGES = 1_000
"""Pages of a document read by default, the same number as `documents.pdf.liteparse_loader.MAX_PAGES`."""
_PAGES_AROUND = 4
_WIRE_EXTRA_MB = 16
"""Megabytes that a response may have on the wire beyond the limit of its body."""

_PAGING = CachePolicy(reuse=Reuse.IN_MEMORY)
_URL = re.compile(r"\s*([a-z][a-z0-9+.-]*):(//)?", re.IGNORECASE)
_SCHEMES = frozenset({"http", "https", "file", "data", "javascript", "mailto", "about"})
_PAGE_WARNING = "This is a web page: `fetch` is the tool for it."
_MAX_NAME, _MAX_REASON = 300, 100
_ERROR_STATUS = 400
_MISLABELED_WARNING = "This is a web page, although it was sent as {media_type}."


class DocumentReader:
    """Read documents for callers within a deadline."""

    def __init__(
        self,
        fetcher: Fetcher,
        parser: DocumentParser,
        pages: PageStore,
        settings: Settings,
        shared: SharedState | None = None,
    ) -> None:
        """Create the service; `shared` is None if there are no other servers."""
        self._fetcher = fetcher
        self._parser = parser
        self._cache = PageCache(pages, settings)
        self._limits = VisitLimits(
            body_bytes=settings.document_mb * BYTES_PER_MB,
            wire_bytes=(settings.document_mb + _WIRE_EXTRA_MB) * BYTES_PER_MB,
        )
        self._files = LocalFiles(settings.document_root, settings.document_mb * BYTES_PER_MB)
        self._memory = MemoryCache(markdown_size)
        self._visits: MemoryCache[tuple[VisitResult, datetime]] = MemoryCache(lambda kept: len(kept[0].snapshot.body))
        """Responses of which only some pages were read, with their times."""
        self._service: ReadThrough[Reading] = ReadThrough(
            caching.mark_reading_cached,
            memory=self._memory,
            join_others=DistributedSingleFlight(Reading, shared.claims if shared else None, settings).join,
        )

    async def close(self) -> None:
        """Cancel the documents that are being read."""
        await self._service.close()

    async def read(
        self,
        request: DocumentRequest,
        *,
        start: int | None = None,
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> Reading:
        """Read one document; with `start`, only its first pages if this character of the text is on them.

        Raises:
            ScraperError: The document cannot be read; the message says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        if start is not None:
            reading = await self._read_within(replace(request, is_beginning=True), deadline, progress)
            if not reading.document.is_part or start < len(reading.document.markdown):
                return reading
        return await self._read_within(request, deadline, progress)

    async def _read_within(
        self, request: DocumentRequest, deadline: Deadline, progress: ProgressCallback | None
    ) -> Reading:
        try:
            async with asyncio.timeout(deadline.left_s()):
                if await self._is_url(request.source):
                    return await self._read_url(request, deadline, progress)
                return await self._read_file(request, deadline)
        except TimeoutError:
            raise errors.FetchTimeoutError(
                "The document was not read in time.",
                target=request.source,
                next_step="Try again later, or another source.",
            ) from None

    # Documents on the web

    async def _read_url(
        self, request: DocumentRequest, deadline: Deadline, progress: ProgressCallback | None
    ) -> Reading:
        target = parse_target(request.source)
        request = replace(request, source=request_key(find_watch_url(target) or target))
        load = LoadRequest(
            request,
            run=lambda stale: self._load(request, deadline, progress or ignore_progress, stale),
            find=lambda: self._find_stored(request),
            memory_key=self._choose_key(request, ()),
            # A document that a password opened is sent to no other server.
            is_private=request.password is not None,
            label=host_of(request.source),
        )
        reading = await self._service.read(load, _PAGING, progress=progress)
        if OCR_TIME_WARNING in reading.warnings:
            self._memory.remove(load.memory_key)
        return replace(reading, requested_url=target)

    async def _load(
        self, request: DocumentRequest, deadline: Deadline, progress: ProgressCallback, stale: Reading | None
    ) -> Reading:
        conditions = () if stale is None else caching.build_conditions(stale)
        job = VisitJob(request.source, "http", request.principal, self._limits, conditions=conditions)
        key = (request.principal, request.source)
        kept = None if conditions else self._visits.get(key)
        result = kept[0] if kept else await self._fetcher.visitor.visit(job, deadline, progress)
        snapshot = result.snapshot
        if stale is not None and snapshot.status == caching.NOT_MODIFIED:
            if (current := caching.revalidate(stale, snapshot)) is None:
                return await self._load(request, deadline, progress, None)
            self._store(request, current)
            return replace(current, cached=True)
        visit_outcome.check_content(snapshot, result.document)
        if find_watch_url(snapshot.url) is not None and snapshot.html:
            return await self._load_video(request, snapshot, deadline, progress)
        is_page = detect_kind(snapshot) is DocumentKind.HTML
        if is_page and snapshot.html:
            return await self._fetch_page(request, deadline)
        reading = await self._parser.read_snapshot(
            snapshot, _parse_request(request), deadline, source=request.source, limit_bytes=self._limits.body_bytes
        )
        if is_page:
            warning = _MISLABELED_WARNING.format(media_type=errors.name_media_type(snapshot.media_type))
            reading = replace(reading, warnings=(*reading.warnings, warning))
        reading = caching.add_validators(result.add_warnings(reading), snapshot.headers)
        if kept:
            reading = replace(reading, retrieved_at=kept[1])
        elif reading.document.is_part:
            self._visits.put(key, (result, reading.retrieved_at))
        self._store(request, reading)
        return reading

    async def _load_video(
        self, request: DocumentRequest, page: Snapshot, deadline: Deadline, progress: ProgressCallback
    ) -> Reading:
        """Return the transcript of a video; without one, its page with a warning."""
        video = read_watch_page(page.html)
        if video is not None and video.track_url and not video.problem:
            with contextlib.suppress(errors.SiteRefusedError, errors.UnreadableError):
                job = VisitJob(video.track_url, "http", request.principal, self._limits)
                result = await self._fetcher.visitor.visit(job, deadline, progress)
                if result.snapshot.status >= _ERROR_STATUS or not result.snapshot.body:
                    raise errors.NoContentError("The response has no transcript.")
                reading = await self._parser.read_snapshot(
                    result.snapshot, ParseRequest(), deadline, source=request.source
                )
                reading = replace(reading, url=page.url, document=_describe_video(reading.document, video, page.url))
                self._store(request, reading)
                return reading
        reading = await self._fetch_page(request, deadline)
        reason = "it has no transcript" if video is not None and not video.track_url else "it could not be loaded"
        if video is not None and video.problem:
            reason = f"YouTube does not play it ({clean_line(video.problem, _MAX_REASON)})"
        warning = f"The transcript of the video is missing: {reason}. This is the page of the video."
        return replace(reading, warnings=(*reading.warnings, warning))

    async def _fetch_page(self, request: DocumentRequest, deadline: Deadline) -> Reading:
        reading = await self._fetcher.fetch(
            ReadRequest(request.source, principal=request.principal, deadline_s=deadline.left_s())
        )
        document = replace(reading.document, format="html")
        return replace(reading, document=document, warnings=(*reading.warnings, _PAGE_WARNING))

    async def _find_stored(self, request: DocumentRequest) -> StoreLookup[Reading]:
        if request.password is not None or max(request.pages, default=0) > _DEFAULT_PAGES:
            return StoreLookup()
        return await self._cache.find(request.source, request.principal, methods=(DOCUMENT_METHOD,))

    def _store(self, request: DocumentRequest, reading: Reading) -> None:
        is_whole = not (reading.truncated or reading.document.is_part)
        if request.password is None and is_whole and OCR_TIME_WARNING not in reading.warnings:
            self._cache.put(request.source, request.principal, reading)

    def _choose_key(self, request: DocumentRequest, version: Hashable) -> Hashable:
        """Return the key of a whole reading in memory, or that of the request itself."""
        for is_beginning in (False, True):
            key = _memory_key(replace(request, pages=(), is_beginning=is_beginning), version)
            if (reading := self._memory.get(key)) and not reading.document.is_part:
                return key
        return _memory_key(request, version)

    # Documents in the folder of local files

    async def _is_url(self, source: str) -> bool:
        """Return True if a source is a URL rather than the path of a file; file names may contain a colon."""
        found, has_drive = _URL.match(source), source.lstrip()[1:3] in {":\\", ":/"}
        if found is None or has_drive:
            return False
        if found[1].lower() == "file":
            raise errors.PolicyError(
                "file:// URLs are always refused.",
                target=source[:200],
                next_step="Pass an http(s) URL, or a path in the folder of local files, if there is one.",
            )
        is_certain = bool(found[2]) or found[1].lower() in _SCHEMES
        return is_certain or not await asyncio.to_thread(self._files.contains, source)

    async def _read_file(self, request: DocumentRequest, deadline: Deadline) -> Reading:
        source = request.source
        if source != source.strip() and not await asyncio.to_thread(self._files.contains, source):
            source = source.strip()
        identity = await asyncio.to_thread(self._files.identify, source)
        key = self._choose_key(replace(request, principal=""), identity)
        cached = self._memory.get(key)
        if cached is not None:
            return replace(cached, cached=True)
        file = await asyncio.to_thread(self._files.read, source)
        parse_request = replace(_parse_request(request), name=file.name)
        limit_s = min(PARSE_LIMIT_S, deadline.left_s())
        parsed = await self._parser.parse(file.data, parse_request, limit_s=limit_s, source=file.name)
        changed = ("The file changed while it was read: parts may be missing or mixed.",) if file.changed else ()
        reading = Reading(
            document=build_document(parsed, file.name),
            url=file.name,
            requested_url=file.name,
            status=200,
            method="file",
            cached=False,
            retrieved_at=datetime.now(UTC),
            warnings=(*changed, *parsed.warnings),
        )
        if not file.changed and OCR_TIME_WARNING not in reading.warnings:
            self._memory.put(key, reading)
        return reading


def _describe_video(transcript: Document, video: Video, url: str) -> Document:
    """Return a transcript below the title, channel and length of its video."""
    title, author, track = (clean_line(text, _MAX_NAME) for text in (video.title, video.author, video.track_name))
    facts = [one for one in (author, format_clock(video.seconds) if video.seconds else "", track) if one]
    head = f"# {title or 'Video'}\n\n" + (f"{', '.join(facts)}\n\n" if facts else "")
    markdown = head + transcript.markdown
    return replace(
        transcript,
        url=url,
        title=title or None,
        author=author or None,
        markdown=markdown,
        text=f"{title}\n\n{transcript.text}",
        outline=find_headings(markdown),
    )


def _parse_request(request: DocumentRequest) -> ParseRequest:
    """Return the request for the pages, with some around the first one, which show what margins and headings are."""
    first = request.pages[0] if request.pages else 0
    around = range(max(1, first - _PAGES_AROUND), first + _PAGES_AROUND) if first else ()
    characters = FIRST_CHARACTERS if request.is_beginning else 0
    pages = tuple(sorted({*request.pages, *around}))
    return ParseRequest(password=request.password, pages=pages, characters=characters)


def _memory_key(request: DocumentRequest, version: Hashable) -> Hashable:
    """Return the key for the memory cache; it contains a hash of the password instead of the password."""
    password_hash = hashlib.sha256((request.password or "").encode("utf-8", "surrogatepass")).digest()
    return request.principal, request.source, request.pages, request.is_beginning, password_hash, version
