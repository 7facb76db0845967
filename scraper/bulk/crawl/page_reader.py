"""Read one page of a crawl with all its links; with a start page, also robots.txt, sitemaps and feeds of its site."""

from __future__ import annotations

import dataclasses

from browsers.model import Snapshot
from scraper import errors
from scraper.bulk.model import JobPage, JobSpec, PageOutcome
from scraper.bulk.page_reader import JobPageReader, PageResult, PageVisit
from scraper.call_context import Deadline
from scraper.model import Reading
from scraper.reading.fetcher import Fetcher
from scraper.site.crawled_page import CrawledPage, describe_page, dump_page
from scraper.site.site_discovery import SiteFacts, discover_site, dump_facts, load_site_robots
from scraper.site.web_site_reader import WebSiteReader, extract_links
from scraper.workers import WorkerPool

_FACTS_LIMIT_S = 300.0
"""Seconds for the sitemaps and feeds of a site, which may have 200 files."""


class CrawlPageReader(JobPageReader):
    """Read the pages of a crawl and add their links to the outcomes."""

    def __init__(self, fetcher: Fetcher, workers: WorkerPool, spec: JobSpec, *, keep_snapshots: bool) -> None:
        """Create a reader that requests every page, because a cached page has only the links of its content."""
        super().__init__(fetcher, workers, spec, keep_snapshots=True)
        self._writes_snapshots = keep_snapshots

    async def read(self, page: JobPage) -> PageResult:
        """Read a page. `PageResult.get_outcome` returns its outcome with the links, also for a failed page."""
        result = await super().read(page)
        if result.error is None:
            return result
        row = result.outcome.row
        failed = CrawledPage(row.url, row.url, row.status or 0, row.error.message if row.error else "")
        return dataclasses.replace(result, complete=lambda: self._add_page(result.outcome, failed))

    def _make_result(self, page: JobPage, reading: Reading, visit: PageVisit, seconds: float) -> PageResult:
        result = super()._make_result(page, reading, visit, seconds)
        return dataclasses.replace(result, complete=lambda: self._add_links(result, reading, visit.snapshot))

    async def _add_links(self, result: PageResult, reading: Reading, snapshot: Snapshot | None) -> PageOutcome:
        outcome = await result.get_outcome()
        document, deadline = reading.document, Deadline.within(_FACTS_LIMIT_S)
        outlinks = await extract_links(self._workers, snapshot if _is_html(snapshot) else None, document, deadline)
        return await self._add_page(outcome, describe_page(outcome.page.url, reading.url, document, outlinks))

    async def _add_page(self, outcome: PageOutcome, page: CrawledPage) -> PageOutcome:
        facts = await self._read_facts(page) if outcome.page.is_start else None
        return dataclasses.replace(
            outcome,
            crawled=dump_page(page),
            facts=b"" if facts is None else dump_facts(facts),
            snapshot=outcome.snapshot if self._writes_snapshots else None,
        )

    async def _read_facts(self, page: CrawledPage) -> SiteFacts:
        deadline, least_gap_s = Deadline.within(_FACTS_LIMIT_S), self._spec.rate.gap_s
        reader = WebSiteReader(self._fetcher, self._workers, "local", deadline, least_gap_s=least_gap_s)
        try:
            robots = await load_site_robots(reader, page.final_url)
            facts = await discover_site(reader, robots, page)
            # Other pages of the site follow.
            await reader.wait_for_gap()
            return facts
        except (errors.BrowserFailedError, errors.NetworkError, errors.OverloadedError, errors.PolicyError):
            # Without the lists, the pages of the site are found by their links.
            return SiteFacts()


def _is_html(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and snapshot.is_html
