"""Crawl sites as a job: choose the next pages of several sites, read them, and add the pages they link to.

Each site has the frontier of a crawl. Pages that were read are added in the order in which they are written, so that a
job that was killed comes to the same decisions from the written pages.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from scraper import errors
from scraper.bulk.job import BulkJob
from scraper.bulk.job_database import JobDatabase
from scraper.bulk.model import CrawlOptions, JobPage, JobSpec, PageOutcome
from scraper.bulk.page_reader import JobPageReader, PageResult, PageVisit
from scraper.call_context import Deadline
from scraper.model import Reading
from scraper.reading.fetcher import Fetcher
from scraper.reading.robots import RobotsRules
from scraper.site.crawl_scope import CrawlScope, ExclusionCounter
from scraper.site.crawled_page import CrawledPage, SiteFacts, describe_page
from scraper.site.frontier import CrawlFrontier
from scraper.site.site_discovery import discover_site, load_site_robots
from scraper.site.web_site_reader import WebSiteReader, extract_links
from scraper.workers import WorkerPool


async def open_planner(job: BulkJob) -> "CrawlPlanner":
    """Return the planner of a crawl, restored from the pages that are already written."""
    options = job.spec.crawl
    assert options is not None
    start_pages = await job.query(JobDatabase.list_start_pages)
    planner = CrawlPlanner(options, start_pages)
    await job.query(lambda database: planner.restore(database.iter_crawled()))
    return planner


def is_complete(job: BulkJob, planner: "CrawlPlanner | None") -> bool:
    """Return True if each page of a list is delivered, or a crawl reads no page and none is left that is worth it."""
    if planner is None:
        return job.stats.remaining <= 0
    return not planner.reading_count and not planner.has_next()


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
        return replace(result, complete=lambda: self._add_page(result, failed))

    def _make_result(self, page: JobPage, reading: Reading, visit: PageVisit, seconds: float) -> PageResult:
        result = super()._make_result(page, reading, visit, seconds)
        outlinks = extract_links(visit.result, reading.document)
        crawled = describe_page(page.url, reading.url, reading.document, outlinks)
        return replace(result, complete=lambda: self._add_page(result, crawled))

    async def _add_page(self, result: PageResult, page: CrawledPage) -> PageOutcome:
        outcome = await result.get_outcome()
        facts = await self._read_facts(page) if outcome.page.is_start else None
        snapshot = outcome.snapshot if self._writes_snapshots else None
        return replace(outcome, crawled=page, facts=facts, snapshot=snapshot)

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


_LINK = re.compile(r"\[([^\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")


@dataclass(slots=True)
class _Site:
    start: JobPage
    frontier: CrawlFrontier
    facts: SiteFacts = field(default_factory=SiteFacts)
    is_started: bool = False
    """True if its start page was read; before, no other URL of it is known."""
    reading: set[int] = field(default_factory=set)
    """Numbers of the pages that were chosen and are not read yet."""


class CrawlPlanner:
    """Choose the next pages of each site of a job, and track the pages that are being read."""

    def __init__(self, options: CrawlOptions, start_pages: Sequence[JobPage]) -> None:
        """Begin with the start pages, one for each site, which share the maximum number of pages."""
        self._max_pages = options.max_pages
        self._sites = [
            _Site(
                replace(page, is_start=True, site=at),
                CrawlFrontier(CrawlScope.of(page.url, options.include, options.exclude)),
            )
            for at, page in enumerate(start_pages)
        ]
        self.released = self._taken = 0
        """Pages that were chosen, and those of them that were read."""

    def restore(self, visited: Iterable[tuple[int, CrawledPage, SiteFacts | None]]) -> None:
        """Add the written pages of an earlier run, from `JobDatabase.iter_crawled`: site, page and facts."""
        for at, page, facts in visited:
            self.released += 1
            self._take(self._sites[at], page, facts)

    @property
    def reading_count(self) -> int:
        """Number of pages that were chosen and are not read yet."""
        return self.released - self._taken

    @property
    def pending_count(self) -> int:
        """Number of URLs that were found and not read."""
        return sum(site.frontier.pending_count for site in self._sites)

    def has_next(self) -> bool:
        """Return True if a page may be read now."""
        left = self.released < self._max_pages
        return left and any(site.frontier.has_next() if site.is_started else not site.reading for site in self._sites)

    def sites(self) -> range:
        """Return the numbers of all sites."""
        return range(len(self._sites))

    def count_reading(self, site: int) -> int:
        """Return the number of pages of a site that were chosen and are not read yet."""
        return len(self._sites[site].reading)

    async def choose(self, job: BulkJob, site: int, count: int) -> list[JobPage]:
        """Choose up to `count` further pages of a site, the most promising first, and add them to the job.

        The first call returns only the start page.
        """
        one, pages = self._sites[site], list[JobPage]()
        if not one.is_started and not one.reading and count > 0 and self.released < self._max_pages:
            one.frontier.next()
            self.released += 1
            pages = [one.start]
        while one.is_started and (most := min(count - len(pages), self._max_pages - self.released)) > 0:
            urls = list(islice(iter(one.frontier.next, None), most))
            if not urls:
                break
            self.released += len(urls)
            for url, page in zip(urls, await job.add_pages(urls), strict=True):
                if page is None:
                    self.released -= 1
                    # A second answer, because a page that is busy is tried once more.
                    for _ in range(2):
                        one.frontier.take(CrawledPage(url, url, 0, "The job has read this page under another URL."))
                else:
                    pages.append(replace(page, site=site))
        one.reading.update(page.number for page in pages)
        return pages

    def take(self, outcome: PageOutcome) -> PageOutcome:
        """Update the frontier of a site with a page that was read; return the outcome to write.

        It differs from the argument if the page was not requested, or looks like the site's page for missing URLs.
        """
        site = self._sites[outcome.page.site]
        site.reading.discard(outcome.page.number)
        row = outcome.row
        # Without a page it was not requested, because its host is not reachable.
        problem = row.error.message if row.error else "The page was not read."
        page = outcome.crawled or CrawledPage(row.url, row.url, 0, problem)
        if site.facts.missing_page is not None and row.markdown is not None:
            text, links = _LINK.sub(r"\1", row.markdown), _LINK.findall(row.markdown)
            if site.facts.missing_page.is_like(text, page.final_url, links):
                page = replace(page, is_missing=True)
        self._take(site, page, outcome.facts)
        return replace(outcome, crawled=page)

    async def save(self, job: BulkJob) -> None:
        """Record for the report how many URLs wait, and what was left out: reason, number, example."""
        facts = {"waiting": self.pending_count, "left_out": self.summarize_left_out()}
        await job.query(lambda database: database.set_facts(facts))

    def summarize_left_out(self) -> list[tuple[str, int, str]]:
        """Return reason, number and an example of the URLs that are not read, most frequent reasons first."""
        counter = ExclusionCounter()
        for site in self._sites:
            for one in site.frontier.left_out:
                counter.add(one.reason, one.example, one.count)
        return sorted(((one.reason, one.count, one.example) for one in counter.summary()), key=lambda row: -row[1])

    def _take(self, site: _Site, page: CrawledPage, facts: SiteFacts | None) -> None:
        self._taken += 1
        if facts is not None:
            site.facts = facts
            site.frontier.rules = RobotsRules(facts.robots)
        site.frontier.take(page)
        if not site.is_started:
            site.is_started = True
            site.frontier.add_facts(site.facts.listed, site.facts.left_out)
