"""Crawl sites in slices: each call visits some pages, and any server can continue from the store."""

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import ada_url

from scraper import errors
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.model import Document, Reading
from scraper.reading.fetcher import Fetcher
from scraper.site.crawl_scope import CrawlScope
from scraper.site.crawled_page import CrawledPage, SiteFacts, dump_facts, dump_page, load_facts, load_page
from scraper.site.crawler import Crawler, build_frontier
from scraper.site.frontier import CrawlFrontier
from scraper.site.model import CrawlReport, CrawlRequest, SitePage
from scraper.site.url_equivalence import MIN_COPY_WORDS
from scraper.site.web_site_reader import WebSiteReader
from scraper.store.index_model import IndexDocument, IndexFaultError
from scraper.store.index_service import CONTENT_CHARS, ID_CHARS, IndexService
from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.record_logs import RecordExistsError, RecordLogs, StoredRecord
from scraper.urls import host_of, parse_target
from scraper.workers import WorkerPool

log = logging.getLogger(__name__)

_MAX_CRAWL_PAGES = 3_000
"""Pages of one crawl. Each call replays all of them, which takes about a millisecond a page."""
MAX_ALIASES = 20
"""URLs of copies that the document of a page names. A folder of copies may be endless."""
_BEST_PAGES = 8
"""Most relevant pages, from which the excerpts for a question are selected."""
_RESERVE_S = 2.0
"""Seconds before the deadline that are reserved to select excerpts and render the answer."""
_BUSY_RETRY_S = 15.0
_NOT_IN_NAME = re.compile(r"[^a-z0-9_-]+")
_MAX_NAME = 64


@dataclass(slots=True)
class _Crawl:
    id: str
    scope: CrawlScope
    question: str | None
    frontier: CrawlFrontier
    facts: SiteFacts = field(default_factory=SiteFacts)
    records: int = 0
    visited_at: float = 0.0
    """Time of its last visit in an earlier call, in seconds of the epoch."""


class CrawlService:
    """Start and continue crawls. Each is stored as a log of the site's facts and of each visited page."""

    def __init__(self, fetcher: Fetcher, workers: WorkerPool, records: RecordLogs, indexes: IndexService) -> None:
        """Read sites with the fetcher; store crawls in `records` and their pages in `indexes`."""
        self._fetcher = fetcher
        self._workers = workers
        self._records = records
        self._indexes = indexes
        self._running: set[str] = set()

    async def start(
        self,
        request: CrawlRequest,
        *,
        pages: int,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
        crawl_id: str = "",
    ) -> CrawlReport:
        """Start a crawl and visit up to `pages` pages.

        If a crawl with `crawl_id` is stored already, it is continued until it has visited `pages` pages.

        Raises:
            ScraperError: The start page cannot be read, or the store is unavailable.
        """
        if crawl_id and (known := await self._read_records(principal, crawl_id)):
            left = max(1, pages + 1 - len(known))
            return await self.resume(
                crawl_id, pages=left, principal=principal, deadline_s=deadline_s, progress=progress
            )
        scope = CrawlScope.of(parse_target(request.url), request.include, request.exclude)
        frontier = CrawlFrontier(scope, request.question)
        crawl = _Crawl(crawl_id or secrets.token_urlsafe(9), scope, request.question, frontier)
        return await self._run(crawl, pages, principal, deadline_s, progress or ignore_progress)

    async def resume(
        self,
        crawl_id: str,
        *,
        pages: int,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> CrawlReport:
        """Continue a crawl of the same principal and visit up to `pages` more pages.

        Raises:
            CrawlNotFoundError: There is no crawl with this ID.
            OverloadedError: Another call is continuing it.
            ScraperError: The store is unavailable, or this machine has no network.
        """
        if crawl_id in self._running:
            raise _busy_error(crawl_id)
        records = await self._read_records(principal, crawl_id)
        if not records:
            raise errors.CrawlNotFoundError(
                f'There is no crawl "{crawl_id[:80]}".', target="crawl", next_step="Start one with `url`."
            )
        crawl = await asyncio.to_thread(_load_crawl, crawl_id, records)
        return await self._run(crawl, pages, principal, deadline_s, progress or ignore_progress)

    async def _read_records(self, principal: str, crawl_id: str) -> list[StoredRecord]:
        try:
            return await self._records.read(principal, log_of_crawl(crawl_id))
        except DatabaseUnavailableError:
            raise _store_error() from None

    async def _run(
        self, crawl: _Crawl, pages: int, principal: str, deadline_s: float, progress: ProgressCallback
    ) -> CrawlReport:
        before, pages_before = crawl.frontier.visits, len(crawl.frontier.unique_pages)
        pages = min(pages, _MAX_CRAWL_PAGES - before)
        deadline = Deadline.within(deadline_s - _RESERVE_S)
        index = _NOT_IN_NAME.sub("-", ada_url.URL(crawl.scope.start).host.lower()).strip("-")[:_MAX_NAME]
        documents: dict[str, Document] = {}
        faults: list[str] = []
        lock = asyncio.Lock()

        async def store(page: CrawledPage, document: Document | None) -> None:
            # Decided, indexed and recorded one page after the other: a page in the record is in the index.
            async with lock:
                known = len(crawl.frontier.unique_pages)
                if document is not None and page.word_count >= MIN_COPY_WORDS:
                    page = replace(page, indexed_as=await self._find_equal(index, page, document, principal))
                crawl.frontier.take(page)
                if document is not None and len(crawl.frontier.unique_pages) > known:
                    documents[page.final_url] = document
                    faults.extend(await self._add_to_index(index, crawl.id, page, document, principal))
                elif crawl.frontier.copied is not None:
                    await self._add_alias(index, page, _document_id(crawl.frontier.copied), principal)
                await self._append(crawl, principal, dump_page(page))
            visited = crawl.frontier.visits - before
            message = (
                f"read {visited}, kept {len(crawl.frontier.unique_pages) - pages_before}: {host_of(crawl.scope.start)}"
            )
            progress(visited, pages, message)

        reader = WebSiteReader(self._fetcher, self._workers, principal, deadline)
        gap_s = crawl.frontier.gap_s
        # A canceled visit is not recorded, so all of the gap passes, unless that takes half of the call.
        since_s = 0.0 if gap_s < deadline.left_s() / 2 else max(0.0, time.time() - crawl.visited_at)
        reader.keep_gap(gap_s, since_s=since_s)
        crawler = Crawler(reader, crawl.frontier, store, deadline, crawl.facts)
        self._running.add(crawl.id)
        try:
            warnings: tuple[str, ...] = ()
            index_fault = await self._prepare_index(index, principal)
            if not crawl.records:
                crawl.facts = await crawler.begin(
                    lambda facts: self._append(
                        crawl, principal, dump_facts(facts, scope=asdict(crawl.scope), question=crawl.question)
                    )
                )
            if gap_s := crawl.frontier.gap_s:
                warnings += (
                    f"The site asks for {gap_s:g} s between two requests, so a call reads few pages at a time.",
                )
            await crawler.run(pages - (crawl.frontier.visits - before))
            if crawler.is_rate_limited:
                warnings += ("The site answers that it gets too many requests, so this call ended early.",)
            if crawler.is_refused:
                warnings += (
                    "The site refuses all pages now (403), so this call ended early. Continue the crawl later.",
                )
            if crawl.scope.include and len(crawl.frontier.unique_pages) <= 1 and not crawl.frontier.has_next():
                warnings += (f"No other page matches the patterns {', '.join(crawl.scope.include)}.",)
        except RecordExistsError:
            raise _busy_error(crawl.id) from None
        except DatabaseUnavailableError:
            raise _store_error() from None
        finally:
            self._running.discard(crawl.id)
        if faults:
            warnings += (f"Pages that are not in the index: {len(faults):,}. {index_fault or faults[0]}.",)
        return await self._report(crawl, index, documents, pages_before, warnings, principal)

    async def _prepare_index(self, name: str, principal: str) -> str:
        """Create the index of the site if it does not exist; return the reason if it cannot be created, or ""."""
        try:
            if name not in {one.name for one in await self._indexes.names(principal=principal)}:
                await self._indexes.create(name, principal=principal, backend="sqlite")
        except IndexFaultError as error:
            return str(error)
        return ""

    async def _add_to_index(
        self, name: str, crawl_id: str, page: CrawledPage, document: Document, principal: str
    ) -> list[str]:
        """Add a page to the index of the site; return the reason if that fails, or an empty list."""
        if page.indexed_as:
            await self._add_alias(name, page, _document_id(page), principal)
            return []
        metadata: dict[str, Any] = {"title": page.title, "url": page.final_url, "crawl": crawl_id}
        if document.published is not None:
            metadata["date"] = document.published.date().isoformat()
        content = document.markdown[:CONTENT_CHARS]
        try:
            before = await self._indexes.document(name, _document_id(page), principal=principal)
            if before is not None and before.metadata.get("aliases"):
                metadata["aliases"] = before.metadata["aliases"]
            await self._indexes.add(name, IndexDocument(_document_id(page), content, metadata), principal=principal)
        except IndexFaultError as error:
            log.warning("a page of a crawl is not in the index %s: %s", name, error)
            return [str(error)]
        return []

    async def _find_equal(self, name: str, page: CrawledPage, document: Document, principal: str) -> str:
        """Return the id of the document that has the text of a page under another URL, or "" if there is none."""
        content = document.markdown[:CONTENT_CHARS]
        try:
            return await self._indexes.find_equal(name, _document_id(page), content, principal=principal)
        except IndexFaultError:
            return ""

    async def _add_alias(self, name: str, page: CrawledPage, document_id: str, principal: str) -> None:
        """Add the URL of a copy to the document of the first page, which is in the index once."""
        alias = page.url if page.final_url == document_id else page.final_url
        try:
            known = await self._indexes.document(name, document_id, principal=principal)
            aliases = [*known.metadata.get("aliases", ())] if known is not None else []
            if known is None or alias in {document_id, *aliases} or len(aliases) >= MAX_ALIASES:
                return
            metadata = {**known.metadata, "aliases": [*aliases, alias]}
            await self._indexes.add(name, replace(known, metadata=metadata), principal=principal)
        except IndexFaultError as error:
            log.warning("the URL of a copy is not in the index %s: %s", name, error)

    async def _append(self, crawl: _Crawl, principal: str, data: bytes) -> None:
        await self._records.append(principal, log_of_crawl(crawl.id), crawl.records, data)
        crawl.records += 1

    async def _report(
        self,
        crawl: _Crawl,
        index: str,
        documents: dict[str, Document],
        pages_before: int,
        warnings: tuple[str, ...],
        principal: str,
    ) -> CrawlReport:
        frontier = crawl.frontier
        pages = list(frontier.unique_pages.values())
        is_full = frontier.visits >= _MAX_CRAWL_PAGES
        if is_full:
            warnings += (
                f"A crawl visits at most {_MAX_CRAWL_PAGES:,} pages. Begin another one in a folder of the site.",
            )
        listed = sorted(pages, key=lambda page: -page.relevance) if crawl.question else pages[pages_before:]
        readings = []
        for page in listed[:_BEST_PAGES] if crawl.question else ():
            document = documents.get(page.final_url) or await self._find_document(index, page, principal)
            if document is not None:
                now = datetime.now(UTC)
                readings.append(Reading(document, page.final_url, page.url, page.status, "crawl", False, now))
        return CrawlReport(
            crawl.id,
            crawl.scope.start,
            crawl.question,
            index,
            is_full or not frontier.has_next(),
            frontier.visits,
            len(pages),
            frontier.pending_count,
            tuple(SitePage(page.final_url, page.title) for page in listed),
            tuple(readings),
            frontier.left_out,
            warnings,
        )

    async def _find_document(self, index: str, page: CrawledPage, principal: str) -> Document | None:
        try:
            found = await self._indexes.document(index, _document_id(page), principal=principal)
        except IndexFaultError:
            return None
        return None if found is None else Document(page.final_url, page.title, markdown=found.content)


def log_of_crawl(crawl_id: str) -> str:
    """Return the name of the log with the state of a crawl."""
    return f"crawl:{crawl_id}"


def _document_id(page: CrawledPage) -> str:
    return (page.indexed_as or page.final_url)[:ID_CHARS]


def _load_crawl(crawl_id: str, records: Sequence[StoredRecord]) -> _Crawl:
    facts, row = load_facts(records[0].data)
    scope = row["scope"]
    scope = CrawlScope(scope["start"], scope["folder"], tuple(scope["include"]), tuple(scope["exclude"]))
    visited = [load_page(record.data) for record in records[1:]]
    frontier = build_frontier(scope, row["question"], facts, visited)
    return _Crawl(crawl_id, scope, row["question"], frontier, facts, len(records), records[-1].written_at)


def _busy_error(crawl_id: str) -> errors.OverloadedError:
    return errors.OverloadedError(
        f"Another call continues the crawl {crawl_id}.", retry_after_s=_BUSY_RETRY_S, target="crawl"
    )


def _store_error() -> errors.StoreUnavailableError:
    return errors.StoreUnavailableError(
        "The store of this server cannot be used, so a crawl cannot be kept.",
        next_step="See `search-mcp doctor`, or read the pages with `map` and `fetch_batch`.",
    )
