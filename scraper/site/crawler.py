"""Visit the pages of a site, several at once, in the order of the frontier."""

import asyncio
from collections.abc import Awaitable, Callable

from scraper import errors
from scraper.call_context import Deadline
from scraper.model import Document
from scraper.reading.robots import RobotsRules
from scraper.site.crawl_scope import CrawlScope
from scraper.site.crawled_page import CrawledPage, SiteFacts, describe_page
from scraper.site.frontier import CrawlFrontier
from scraper.site.site_discovery import discover_site, load_site_robots
from scraper.site.web_site_reader import MIN_VISIT_S, PAGE_LIMIT_S, WebSiteReader

PAGES_AT_ONCE = 4
"""Pages that a crawl reads at once; the rate limit of the host may allow fewer."""
_TOO_MANY_REQUESTS = 429
_FORBIDDEN = (401, 403)
_MAX_REFUSED = 4
"""Pages in a row that a site forbids, from which it is taken to block this crawler."""

OnPage = Callable[[CrawledPage, Document | None], Awaitable[None]]
"""Called with each visited page and its document, to update the frontier and store the page; the document is None if
the page was not read."""


class Crawler:
    """Visit the pages of one site."""

    def __init__(
        self, reader: WebSiteReader, frontier: CrawlFrontier, on_page: OnPage, deadline: Deadline, facts: SiteFacts
    ) -> None:
        """Prepare a crawl until the deadline.

        `facts` come from an earlier call; for a new crawl, pass empty ones and call `begin`.
        """
        self._reader = reader
        self._deadline = deadline
        self._enough_s = min(PAGE_LIMIT_S, deadline.left_s() / 2)
        """Seconds. A page that was not read in this time failed; one that had less is read by the next call."""
        self._frontier = frontier
        self._on_page = on_page
        self.facts = facts
        self._network_error: errors.NetworkError | None = None
        """Why the last page that failed could not be reached."""
        self._refused: list[CrawledPage] = []
        self.is_refused = False
        """True if the site refused several pages in a row; then `run` ends early, and they wait."""
        self.is_rate_limited = False
        """True if the site answered that it gets too many requests; then `run` ends early."""

    async def begin(self, on_facts: Callable[[SiteFacts], Awaitable[None]]) -> SiteFacts:
        """Read robots.txt, the start page, sitemaps, feeds and the page for missing URLs; return the facts.

        `on_facts` is called with the facts before `on_page` is called with the start page.

        Raises:
            FetchTimeoutError: The start page was not read before the deadline, or its host is busy.
            RobotsDisallowedError: robots.txt forbids the start page, or cannot be reached.
            NetworkError: The start page cannot be reached, and no sitemap or feed names a page.
            UnreadableError: The start page cannot be read, and no sitemap or feed names a page.
            OfflineError: This machine has no network.
        """
        start = self._frontier.scope.start
        rules = await load_site_robots(self._reader, start)
        read = await self._read(self._frontier.next() or start)
        if read is None:
            raise errors.FetchTimeoutError(f"The page {start} was not read in time.", target=start)
        page, document = read
        self._frontier.rules = rules = await load_site_robots(self._reader, page.final_url, rules, start)
        self.facts = await discover_site(self._reader, rules, page)
        if self._network_error is not None and not self.facts.listed:
            raise self._network_error
        if page.problem and not self.facts.listed:
            raise errors.UnreadableError(
                f"The crawl cannot begin: {page.problem}", target=start, next_step="Begin at another page of the site."
            )
        await on_facts(self.facts)
        await self._on_page(page, document)
        self._frontier.add_facts(self.facts.listed, self.facts.left_out)
        return self.facts

    async def run(self, visits: int) -> None:
        """Visit up to `visits` pages, those with the highest value first, until the deadline.

        Raises:
            OfflineError: This machine has no network.
        """
        left = visits
        at_once = 1 if self._frontier.gap_s else PAGES_AT_ONCE
        running: set[asyncio.Task[bool]] = set()
        try:
            while True:
                while left > 0 and len(running) < at_once and self._deadline.left_s() > MIN_VISIT_S:
                    if (url := self._frontier.next()) is None:
                        break
                    left -= 1
                    running.add(asyncio.create_task(self._visit(url)))
                if not running:
                    return
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if not task.result():
                        left = 0
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            if self.is_refused:
                self._put_back_refused()
            await self._report_refused()

    async def _visit(self, url: str) -> bool:
        """Visit a page; return False if no more visits may start: the deadline is near or the host is busy."""
        read = await self._read(url)
        if read is None:
            self._frontier.put_back(url)
            return False
        self.is_rate_limited = self.is_rate_limited or read[0].status == _TOO_MANY_REQUESTS
        if read[0].status in _FORBIDDEN:
            self._refused.append(read[0])
            if len(self._refused) >= _MAX_REFUSED:
                self._put_back_refused()
            return not self.is_refused
        await self._report_refused()
        await self._on_page(*read)
        return not self.is_rate_limited

    def _put_back_refused(self) -> None:
        """Let the refused pages wait, because the site refuses all of them."""
        self.is_refused = True
        for page in self._refused:
            self._frontier.put_back(page.url)
        self._refused.clear()

    async def _report_refused(self) -> None:
        """Report the refused pages before a page that was not, or at the end: these pages are for members."""
        refused, self._refused = self._refused, []
        for page in refused:
            await self._on_page(page, None)

    async def _read(self, url: str) -> tuple[CrawledPage, Document | None] | None:
        left_s = self._deadline.left_s()
        try:
            loaded = await self._reader.load_page(url)
        except errors.OfflineError:
            raise
        except errors.ScraperError as error:
            is_late = isinstance(error, errors.FetchTimeoutError) and left_s < self._enough_s
            if is_late or isinstance(error, errors.OverloadedError):
                return None
            self._network_error = error if isinstance(error, errors.NetworkError) else None
            status = error.status if isinstance(error, errors.HttpStatusError) else 0
            if isinstance(error, errors.BlockedBySiteError):
                status = _TOO_MANY_REQUESTS if error.reason == "rate_limit" else status or _FORBIDDEN[-1]
            return CrawledPage(url, url, status, str(error)), None
        page = describe_page(
            url,
            loaded.url,
            loaded.document,
            loaded.outlinks,
            question=self._frontier.question_stems,
            missing_page=self.facts.missing_page,
        )
        return page, loaded.document


def build_frontier(
    scope: CrawlScope, question: str | None, facts: SiteFacts, pages: list[CrawledPage]
) -> CrawlFrontier:
    """Rebuild the frontier of a stored crawl by replaying its pages."""
    frontier = CrawlFrontier(scope, question, RobotsRules(facts.robots))
    for at, page in enumerate(pages):
        frontier.take(page)
        if at == 0:
            frontier.add_facts(facts.listed, facts.left_out)
    return frontier
