"""The document in what a visit brought."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from browsers.model import Snapshot
from browsers.navigation.response import parse_content_length
from scraper import errors
from scraper.deadline import Deadline
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.sniff import DocumentKind, detect_kind
from scraper.extract.text import markdown_structure
from scraper.model import Document, Reading
from scraper.reading.documents.parser import Parser, is_document
from scraper.reading.visiting import response_outcome
from scraper.reading.visiting.visitor import ReadJob
from scraper.urls import host_of

METHOD = "document"
"""How such a reading was come by; the cache keeps it apart from the same address read as a page."""

PARSE_LIMIT_S = 30.0
MB = 1_000_000
_CUT_IS_FINE = frozenset(
    {DocumentKind.TEXT, DocumentKind.CSV, DocumentKind.MARKDOWN, DocumentKind.JSON, DocumentKind.XML}
)
_FILE_NAME = re.compile(r"filename\*?=(?:UTF-8'')?\"?([^\";]{1,200})", re.IGNORECASE)


class SnapshotDocumentReader:
    """Reads the documents that visits bring."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    async def __call__(self, snapshot: Snapshot, job: ReadJob, deadline: Deadline) -> Reading | None:
        """For `fetch`: the reading of a document; None for pages and texts.

        Raises:
            ScraperError: it is a document that cannot be read.
        """
        if not is_document(snapshot.body, snapshot.media_type):
            return None
        if snapshot.truncated and kind_in(snapshot) not in _CUT_IS_FINE:
            raise _cut_off(snapshot, job.limits.body_bytes, "`read_doc` takes larger documents than `fetch`.")
        return await self.read(snapshot, ParseRequest(), deadline, source=job.url)

    async def read(
        self,
        snapshot: Snapshot,
        asked: ParseRequest,
        deadline: Deadline,
        *,
        source: str,
        limit_bytes: int = 0,
    ) -> Reading:
        """The reading of a document; what `asked` says of pages and password is kept to.

        `limit_bytes`: how much of it was let in, for the words about one that came in part.

        Raises:
            ScraperError: it cannot be read.
        """
        if snapshot.truncated and kind_in(snapshot) not in _CUT_IS_FINE:
            raise _cut_off(snapshot, limit_bytes, "The operator can raise SEARCH_MCP_DOCUMENT_MB.")
        asked = replace(
            asked,
            media_type=snapshot.headers.get("content-type", snapshot.media_type),
            name=_name_of(snapshot),
            url=snapshot.url,
        )
        limit_s = min(PARSE_LIMIT_S, deadline.left_s())
        parsed = await self._parser.read(snapshot.body, asked, limit_s=limit_s, source=source)
        return Reading(
            document=document_of(parsed, snapshot.url),
            url=snapshot.url,
            requested_url=source,
            status=snapshot.status,
            method=METHOD,
            cached=False,
            retrieved_at=datetime.now(UTC),
            truncated=snapshot.truncated,
            warnings=(*response_outcome.way_warnings(snapshot, source), *parsed.warnings),
        )


def kind_in(snapshot: Snapshot) -> DocumentKind:
    """What kind of file a visit brought."""
    return detect_kind(snapshot.body, media_type=snapshot.media_type, name=_name_of(snapshot))


def document_of(parsed: ParsedDocument, url: str) -> Document:
    """What was parsed, as all rooms know documents."""
    headings = markdown_structure.find_headings(parsed.markdown)
    return Document(
        url=url,
        title=parsed.title or (headings[0].text if headings and headings[0].level <= 2 else None),
        author=parsed.author,
        text=parsed.text,
        markdown=parsed.markdown,
        outline=headings,
        format=parsed.format,
        page_count=parsed.pages,
        ocr_pages=parsed.ocr_pages,
        encrypted=parsed.encrypted,
    )


def _cut_off(snapshot: Snapshot, limit_bytes: int, for_larger_ones: str) -> errors.ScraperError:
    """Why a document came in part only: it is too large, the connection ended, or time did."""
    host, came = host_of(snapshot.url), len(snapshot.body)
    whole = parse_content_length(snapshot.headers)
    if came >= limit_bytes or (whole is not None and whole > limit_bytes):
        return errors.ContentTooLargeError(
            f"The document at {host} is larger than the {limit_bytes / MB:,.0f} MB that are read here.",
            target=snapshot.requested_url,
            next_step=f"{for_larger_ones} Or look for a smaller copy.",
        )
    parts = f"{came / MB:,.1f} MB" if whole is None else f"{came / MB:,.1f} of {whole / MB:,.1f} MB"
    return errors.NetworkError(
        f"The document at {host} came in part only ({parts}): the connection broke off or was too slow.",
        target=snapshot.requested_url,
        next_step="Try once more, or look for another copy.",
        retryable=True,
    )


def _name_of(snapshot: Snapshot) -> str:
    """The file's name, as the server or else the address says."""
    named = _FILE_NAME.search(snapshot.headers.get("content-disposition", ""))
    return named[1] if named else snapshot.url.partition("?")[0].rpartition("/")[2][:200]
