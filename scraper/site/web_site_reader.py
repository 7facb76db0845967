"""Load files and pages of a site through the fetcher, within rate limits and a deadline."""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from browsers.model import VisitLimits
from scraper import errors
from scraper.call_context import Deadline
from scraper.extract import worker_jobs
from scraper.extract.outlinks import Outlink, Outlinks, with_header_directives
from scraper.extract.sitemaps import MAX_BYTES, SitemapFile
from scraper.model import REFRESH, Document, ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.reading.response_reader import VisitResult
from scraper.reading.robots import RobotsRules
from scraper.urls import host_of, is_web_url, join_url, parse_target
from scraper.workers import WorkerFailedError, WorkerPool

T = TypeVar("T")
MIN_VISIT_S = 1.0
"""Seconds. No request starts if less time is left until the deadline."""
PAGE_LIMIT_S = 30.0
"""Seconds for one page, so that the other pages of a call are read if a server never answers for some of them."""
_CATALOG_BYTES = 250_000
_LIST_LIMIT_S = 20.0
"""CPU seconds to parse a sitemap. The largest size that the format allows takes about four."""
LIST_LOAD_S, LOAD_SHARE = 60.0, 0.5
"""Seconds to load a sitemap or feed, and the share of the time left that it may take. A server may never answer for a
file, and its pages are read nevertheless."""


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A page with its document and all its links."""

    url: str
    """URL after redirects."""
    document: Document
    outlinks: Outlinks


class WebSiteReader:
    """Load files and pages of one site for one call. After `load_robots`, keep the Crawl-delay of the site."""

    def __init__(
        self,
        fetcher: Fetcher,
        workers: WorkerPool,
        principal: str,
        deadline: Deadline,
        on_request: Callable[[], None] | None = None,
        *,
        least_gap_s: float = 0.0,
    ) -> None:
        """Read on behalf of `principal` until the deadline.

        `on_request` is called before each request. `least_gap_s` is the gap of a site with a shorter Crawl-delay.
        """
        self._on_request = on_request or (lambda: None)
        self._least_gap_s = least_gap_s
        self._gap_s = 0.0
        """Seconds between the end of a request and the next one."""
        self._turn = asyncio.Lock()
        """Held by the only request of a site that asks for pauses."""
        self._free_at = -math.inf
        """Monotonic time from which a request may start."""
        self._fetcher = fetcher
        self._workers = workers
        self._principal = principal
        self._deadline = deadline

    async def load_robots(self, origin: str) -> RobotsRules:
        """Return the rules of an origin's robots.txt, none if it allows everything; keep its Crawl-delay.

        Raises:
            RobotsUnreachableError: The file cannot be reached, so everything is forbidden.
            ScraperError: Its host cannot be reached, or the file cannot be requested now.
        """
        load_rules = self._fetcher.visitor.politeness.load_robots
        async with self._request(origin):
            rules = await self._load(lambda _: load_rules(origin, self._principal, self._deadline))
        gap_s = max(self._least_gap_s, rules.gap_s or 0.0)
        # If the gap takes half of the time, it begins with the next request: otherwise no call could read a page.
        self.keep_gap(gap_s, since_s=0.0 if gap_s < self._deadline.left_s() / 2 else gap_s)
        return rules

    async def load_list(self, url: str) -> SitemapFile:
        """Return the sitemap or feed at a URL.

        Raises:
            ScraperError: It cannot be loaded.
        """
        target, limits = parse_target(url), VisitLimits(body_bytes=MAX_BYTES)
        load_file = self._fetcher.visitor.load_file
        async with self._request(target):
            snapshot = await self._load(lambda deadline: load_file(target, self._principal, deadline, limits))
        if snapshot.status != 200:
            message = f"{target} has status {snapshot.status}."
            raise errors.HttpStatusError(message, status=snapshot.status, target=target)
        try:
            file = await self._workers.run(
                worker_jobs.parse_sitemap,
                snapshot.body,
                snapshot.url,
                limit_s=_LIST_LIMIT_S,
                deadline_s=self._deadline.left_s(),
            )
            return replace(file, is_cut=file.is_cut or snapshot.truncated)
        except WorkerFailedError as error:
            raise errors.UnreadableError(f"The list at {url} could not be read: {error}.", target=url) from error

    async def load_catalog(self, url: str) -> tuple[tuple[str, str], ...]:
        """Return name and URL of each entry of an AI catalog (SEP-2127); few sites have one."""
        limits, load_file = VisitLimits(body_bytes=_CATALOG_BYTES), self._fetcher.visitor.load_file
        async with self._request(url):
            try:
                snapshot = await self._load(lambda deadline: load_file(url, self._principal, deadline, limits))
                rows = json.loads(snapshot.body or snapshot.html)["entries"] if snapshot.status == 200 else []
                entries = [
                    (str(row.get("displayName") or row["identifier"]), join_url(url, str(row["url"]))) for row in rows
                ]
            except (errors.ScraperError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                return ()
        return tuple((name, target) for name, target in entries if is_web_url(target))

    async def _load(self, load: Callable[[Deadline], Awaitable[T]]) -> T:
        """Load a file in its share of the time left; once more if no browser was ready: the server may answer."""
        try:
            return await load(Deadline.within(min(LIST_LOAD_S, LOAD_SHARE * self._deadline.left_s())))
        except errors.BrowserFailedError:
            return await load(self._deadline)

    async def load_page(self, url: str) -> LoadedPage:
        """Return a page with all its links.

        Raises:
            ScraperError: The page cannot be read.
        """
        visited: list[VisitResult] = []
        async with self._request(url):
            deadline_s = min(PAGE_LIMIT_S, self._deadline.left_s())
            request = ReadRequest(url, cache=REFRESH, principal=self._principal, deadline_s=deadline_s, is_bulk=True)
            try:
                reading = await self._fetcher.fetch(request, on_visit=visited.append)
            except errors.NoContentError:
                # A page may have nothing but frames.
                outlinks = extract_links(next(reversed(visited), None), Document(url))
                if not outlinks.links:
                    raise
                return LoadedPage(url, Document(url, outlinks.title), outlinks)
        outlinks = extract_links(next(reversed(visited), None), reading.document)
        return LoadedPage(reading.url, reading.document, outlinks)

    def keep_gap(self, gap_s: float, *, since_s: float = 0.0) -> None:
        """Let `gap_s` seconds pass between the end of a request and the next one; the last one ended `since_s` ago."""
        self._gap_s = gap_s
        self._free_at = time.monotonic() + gap_s - since_s

    async def wait_for_gap(self) -> None:
        """Wait until the next request may start, or until the deadline."""
        await asyncio.sleep(min(self._free_at - time.monotonic(), self._deadline.left_s()))

    @asynccontextmanager
    async def _request(self, url: str) -> AsyncIterator[None]:
        async with self._turn if self._gap_s else nullcontext():
            wait_s = self._free_at - time.monotonic()
            if self._gap_s and wait_s > self._deadline.left_s() - MIN_VISIT_S:
                message = f"Requests to {host_of(url)} are {self._gap_s:g} s apart."
                raise errors.HostBusyError(message, retry_after_s=max(1, math.ceil(wait_s)), target=host_of(url))
            await self.wait_for_gap()
            self._on_request()
            try:
                yield
            finally:
                self._free_at = time.monotonic() + self._gap_s


def extract_links(visit: VisitResult | None, document: Document) -> Outlinks:
    """Return all links of a page; only those of its content if another caller made the visit, or it is not HTML."""
    outlinks = visit.outlinks if visit is not None else None
    if outlinks is not None and not document.is_site_markdown:
        return outlinks
    outlinks = outlinks or Outlinks(title=document.title or "")
    known = {link.url for link in outlinks.links}
    links = (Outlink(link.url, link.text, "body") for link in document.links if link.url not in known)
    outlinks = replace(outlinks, links=(*outlinks.links, *links))
    return outlinks if visit is None else with_header_directives(outlinks, visit.snapshot)
