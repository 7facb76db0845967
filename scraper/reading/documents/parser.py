"""Parse documents in single-use processes, with a fallback reader and OCR."""

import asyncio
import contextlib
import hashlib
import logging
import os
import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from browsers.model import Snapshot
from browsers.navigation.response import parse_content_length
from scraper import errors
from scraper.caching import MemoryCache
from scraper.call_context import Deadline
from scraper.documents.dispatcher import FALLBACK_READERS
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.sniff import DocumentKind, sniff_kind
from scraper.model import FIRST_CHARACTERS, Document, Reading
from scraper.reading import visit_outcome
from scraper.reading.documents.ocr import PageImage, RecognitionError, RecognizedPage, Tesseract, add_recognized_pages
from scraper.reading.visit_outcome import VisitJob
from scraper.text.markdown_structure import find_headings
from scraper.urls import host_of
from scraper.workers import WorkerFailedError, WorkerMemoryError, WorkerTimeoutError
from scraper.workers.single_use import SingleUseProcesses

log = logging.getLogger(__name__)

DOCUMENT_METHOD = "document"
"""`method` in readings of documents. It separates them in the cache from readings of the same URL as a page."""
PARSE_LIMIT_S = 120.0
"""Seconds to parse a document on a busy machine; its CPU time is limited separately."""
BYTES_PER_MB = 1_000_000
"""Bytes of a megabyte."""

_READABLE_IN_PART = frozenset(
    {DocumentKind.TEXT, DocumentKind.CSV, DocumentKind.MARKDOWN, DocumentKind.JSON, DocumentKind.XML}
)
_FILE_NAME = re.compile(r"filename\*?=(?:UTF-8'')?\"?([^\";]{1,200})", re.IGNORECASE)

_ERRORS_BY_CODE: dict[str, type[errors.ScraperError]] = {
    kind.code: kind
    for kind in (
        errors.UnsupportedTypeError, errors.ContentTooLargeError, errors.NoContentError, errors.EncryptedDocumentError,
        errors.MalformedDocumentError, errors.OcrNeededError, errors.InvalidArgumentError,
    )
}  # fmt: skip
_RETRIED_CODES = frozenset({"crash", "timeout", "out_of_memory", "malformed", "encrypted", "empty"})
_SECOND_SHARE = 0.5
_LOADING_SHARE = 0.3
"""Share of the time limit after which no further pages are loaded; those that are loaded must still be written."""
_FAILURES: dict[str, tuple[str, str]] = {
    "timeout": ("exceeds the time limit for reading", "Look for a smaller copy, or another source."),
    "out_of_memory": ("exceeds the memory limit for reading", "Look for a smaller copy."),
    "crash": ("crashes its reader: it is damaged or malicious", "Look for another copy or source."),
}
_RECOGNIZED_AT_ONCE = min(4, os.cpu_count() or 1)
_ANSWER_RESERVE_S, _MIN_RECOGNITION_S = 2.0, 3.0
"""Seconds reserved for the answer after the last page, and minimum seconds for recognizing one page."""
OCR_TIME_WARNING = "Time ran out before all pictures of pages were read: call again for the others."
_SECOND_READER_WARNING = (
    "The file is unusual: a simpler reader was used, which may miss tables, notes and parts, and show hidden text."
)


class DocumentParser:
    """Parse each document in a process of its own."""

    def __init__(self, processes: SingleUseProcesses, ocr: Tesseract | None = None) -> None:
        """Use single-use processes, and `ocr` for images of pages if it is available."""
        self._processes = processes
        self._ocr = ocr
        self._recognized: MemoryCache[RecognizedPage] = MemoryCache(lambda page: len(page.text))

    async def parse(self, data: bytes, request: ParseRequest, *, limit_s: float, source: str) -> ParsedDocument:
        """Parse a document, and recognize its image pages if OCR is available.

        If the first reader fails, the fallback reader of the format is tried. `source` is the name of the document in
        error messages, `limit_s` the time limit in seconds.

        Raises:
            ScraperError: The document cannot be read; the message says why and what to do.
        """
        deadline = Deadline.within(limit_s)
        has_ocr = self._ocr is not None and await asyncio.to_thread(self._ocr.is_available)
        ocr = self._ocr if has_ocr else None
        parsed = await self._parse(data, replace(request, keep_pictures=ocr is not None), limit_s, source)
        if ocr is not None and parsed.ocr_pages:
            return await self._recognize_pages(data, request, parsed, ocr, deadline)
        return parsed

    async def _parse(self, data: bytes, request: ParseRequest, limit_s: float, source: str) -> ParsedDocument:
        try:
            return await self._parse_once(data, request, limit_s)
        except errors.ScraperError as first:
            first.target = source
            kind = sniff_kind(data, media_type=request.media_type, name=request.name)
            if first.code not in _RETRIED_CODES or kind not in FALLBACK_READERS:
                raise
            try:
                parsed = await self._parse_once(data, replace(request, plain_reader=True), limit_s * _SECOND_SHARE)
            except errors.ScraperError:
                raise first from None
            return replace(parsed, warnings=(*parsed.warnings, _SECOND_READER_WARNING))

    async def _recognize_pages(
        self, data: bytes, request: ParseRequest, parsed: ParsedDocument, ocr: Tesseract, deadline: Deadline
    ) -> ParsedDocument:
        """Add the recognized text of image pages, as far as the deadline allows."""
        semaphore = asyncio.Semaphore(_RECOGNIZED_AT_ONCE)

        digest = await asyncio.to_thread(lambda: hashlib.sha256(data).digest())

        async def recognize(page: int) -> RecognizedPage | None:
            async with semaphore:
                if known := self._recognized.get((digest, page)):
                    return known
                left_s = deadline.left_s(reserve_s=_ANSWER_RESERVE_S)
                if left_s < _MIN_RECOGNITION_S:
                    return None
                with contextlib.suppress(WorkerFailedError, RecognitionError, ValueError):
                    picture_request = asdict(replace(request, picture_of=page))
                    answer = await self._processes.run(picture_request, data, limit_s=left_s)
                    one = await ocr.recognize(PageImage.of_json(answer.get("picture") or {}), left_s)
                    self._recognized.put((digest, page), one)
                    return one
            return None

        pages = parsed.ocr_pages
        found = dict(zip(pages, await asyncio.gather(*map(recognize, pages)), strict=True))
        recognized = {page: one for page, one in found.items() if one is not None and one.text}
        if not recognized and not parsed.markdown.strip():
            raise errors.OcrNeededError(
                "The document holds pictures of pages without any letters, and no text was recognized in them.",
                next_step="Call once more with more time, or look for another edition.",
            )
        added = add_recognized_pages(parsed, recognized)
        is_late = None in found.values() and not deadline.left_s(reserve_s=_ANSWER_RESERVE_S + _MIN_RECOGNITION_S)
        return replace(added, warnings=(*added.warnings, OCR_TIME_WARNING)) if is_late else added

    async def _parse_once(self, data: bytes, request: ParseRequest, limit_s: float) -> ParsedDocument:
        try:
            timed = replace(request, time_s=limit_s * _LOADING_SHARE)
            answer = await self._processes.run(asdict(timed), data, limit_s=limit_s)
        except WorkerFailedError as failure:
            codes = {WorkerTimeoutError: "timeout", WorkerMemoryError: "out_of_memory"}
            raise _parser_failure(codes.get(type(failure), "crash")) from failure
        if "parsed" not in answer:
            raise _parser_error(answer)
        try:
            return ParsedDocument.of_json(answer["parsed"])
        except (ValueError, TypeError, AttributeError) as error:
            raise _parser_failure("crash") from error

    async def read_for_fetch(self, snapshot: Snapshot, job: VisitJob, deadline: Deadline) -> Reading:
        """Return the reading of the document in a response, for `fetch`.

        Raises:
            ScraperError: The document cannot be read.
        """
        request = ParseRequest(characters=FIRST_CHARACTERS if job.is_beginning else 0)
        hint, limit = "`read_doc` takes larger documents than `fetch`.", job.limits.body_bytes
        return await self.read_snapshot(snapshot, request, deadline, source=job.url, limit_bytes=limit, hint=hint)

    async def read_snapshot(
        self, snapshot: Snapshot, request: ParseRequest, deadline: Deadline, *, source: str, limit_bytes: int = 0,
        hint: str = "The operator can raise SEARCH_MCP_DOCUMENT_MB.",
    ) -> Reading:  # fmt: skip
        """Return the reading of the document in a response from the URL `source`.

        `request` has page numbers and password. `limit_bytes` is the size limit of the visit, and `hint` the next step,
        in the error about a truncated document.

        Raises:
            ScraperError: The document cannot be read.
        """
        if snapshot.truncated and detect_kind(snapshot) not in _READABLE_IN_PART:
            raise _truncated_error(snapshot, limit_bytes, hint)
        media_type = snapshot.headers.get("content-type", snapshot.media_type)
        request = replace(request, media_type=media_type, name=_file_name(snapshot), url=snapshot.url)
        limit_s = min(PARSE_LIMIT_S, deadline.left_s())
        parsed = await self.parse(snapshot.body, request, limit_s=limit_s, source=source)
        return Reading(
            document=build_document(parsed, snapshot.url),
            url=snapshot.url,
            requested_url=source,
            status=snapshot.status,
            method=DOCUMENT_METHOD,
            cached=False,
            retrieved_at=datetime.now(UTC),
            truncated=snapshot.truncated,
            warnings=(*visit_outcome.response_warnings(snapshot, source), *parsed.warnings),
        )


def _parser_error(answer: dict[str, Any]) -> errors.ScraperError:
    code = answer.get("error")
    if code == "fault":
        log.error("the parser of documents failed: %s", answer.get("detail"))
        return errors.MalformedDocumentError(
            "The document is damaged: its reader cannot parse it.", next_step="Try once more, or look for another copy."
        )
    if code in _FAILURES:
        return _parser_failure(str(code))
    kind = _ERRORS_BY_CODE.get(str(code), errors.UnreadableError)
    return kind(str(answer.get("message", "")), next_step=str(answer.get("next_step", "")))


def _parser_failure(code: str) -> errors.ParserFailedError:
    what, next_step = _FAILURES[code]
    error = errors.ParserFailedError(f"The document {what}.", next_step=next_step)
    error.code = code
    return error


def detect_kind(snapshot: Snapshot) -> DocumentKind:
    """Return the format of a response."""
    return sniff_kind(snapshot.body, media_type=snapshot.media_type, name=_file_name(snapshot))


def build_document(parsed: ParsedDocument, url: str) -> Document:
    """Convert a parsed document to a `Document`."""
    headings = find_headings(parsed.markdown)
    has_beginning = not parsed.is_part or parsed.markdown.startswith("<!-- page 1 -->")
    return Document(
        url=url,
        title=parsed.title or (headings[0].text if has_beginning and headings and headings[0].level <= 2 else None),
        author=parsed.author,
        text=parsed.text,
        markdown=parsed.markdown,
        outline=headings,
        format=parsed.format,
        page_count=parsed.pages,
        is_part=parsed.is_part,
        ocr_pages=parsed.ocr_pages,
        encrypted=parsed.encrypted,
    )


def _truncated_error(snapshot: Snapshot, limit_bytes: int, larger_limit_hint: str) -> errors.ScraperError:
    host, received = host_of(snapshot.url), len(snapshot.body)
    total = parse_content_length(snapshot.headers)
    if received >= limit_bytes or (total is not None and total > limit_bytes):
        return errors.ContentTooLargeError(
            f"The document at {host} is larger than the {limit_bytes / BYTES_PER_MB:,.0f} MB that are read here.",
            target=snapshot.requested_url,
            next_step=f"{larger_limit_hint} Or look for a smaller copy.",
        )
    parts = (
        f"{received / BYTES_PER_MB:,.1f} MB"
        if total is None
        else f"{received / BYTES_PER_MB:,.1f} of {total / BYTES_PER_MB:,.1f} MB"
    )
    return errors.NetworkError(
        f"The document at {host} arrived only in part ({parts}): the connection ended early or was too slow.",
        target=snapshot.requested_url,
        next_step="Try once more, or look for another copy.",
        retryable=True,
    )


def _file_name(snapshot: Snapshot) -> str:
    declared = _FILE_NAME.search(snapshot.headers.get("content-disposition", ""))
    return declared[1] if declared else snapshot.url.partition("?")[0].rpartition("/")[2][:200]
