"""Decide which pages of several sites a job reads next. No I/O.

Each site has the frontier of a crawl. Pages that were read are added in the order in which they are written, so that a
job that was killed comes to the same decisions from the written pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from scraper.bulk.model import CrawlOptions, JobPage, PageOutcome
from scraper.reading.robots import RobotsRules
from scraper.site.crawl_scope import CrawlScope
from scraper.site.crawled_page import CrawledPage, dump_page, load_page
from scraper.site.frontier import CrawlFrontier
from scraper.site.site_discovery import SiteFacts, load_facts

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
        self.released = 0
        """Pages that were read or are being read."""

    def restore(self, visited: Iterable[tuple[int, str, bytes, bytes]]) -> None:
        """Add the written pages of an earlier run, from `Frontier.iter_crawled`: site, URL, page and facts."""
        for at, _, page, facts in visited:
            self.released += 1
            self._take(self._sites[at], load_page(page), load_facts(facts)[0] if facts else None)

    @property
    def reading_count(self) -> int:
        """Number of pages that were chosen and are not read yet."""
        return sum(len(site.reading) for site in self._sites)

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

    def release_start(self, site: int) -> JobPage | None:
        """Return the start page of a site at the first call, None later or if the job has its maximum of pages."""
        one = self._sites[site]
        if one.is_started or one.reading or self.released >= self._max_pages:
            return None
        one.frontier.next()
        self.released += 1
        one.reading.add(one.start.number)
        return one.start

    def choose(self, site: int, count: int) -> list[str]:
        """Return up to `count` URLs of a site, the most promising first. Call `add` or `refuse` for each."""
        frontier = self._sites[site].frontier
        urls: list[str] = []
        while self._sites[site].is_started and len(urls) < count and self.released < self._max_pages:
            url = frontier.next()
            if url is None:
                break
            self.released += 1
            urls.append(url)
        return urls

    def add(self, site: int, page: JobPage) -> JobPage:
        """Record that a chosen URL has become a page of the job; return the page with its site."""
        self._sites[site].reading.add(page.number)
        return replace(page, site=site)

    def refuse(self, site: int, url: str) -> None:
        """Record that the job has a chosen URL already in another form."""
        self.released -= 1
        frontier = self._sites[site].frontier
        # A second answer, because a page that is busy is tried once more.
        for _ in range(2):
            frontier.take(CrawledPage(url, url, 0, "The job has read this page under another URL."))

    def take(self, outcome: PageOutcome) -> PageOutcome:
        """Update the frontier of a site with a page that was read; return the outcome to write.

        It differs from the argument if the page was not requested, or looks like the site's page for missing URLs.
        """
        site = self._sites[outcome.page.site]
        site.reading.discard(outcome.page.number)
        row = outcome.row
        if not outcome.crawled:
            # It was not requested, because its host is not reachable.
            page = CrawledPage(row.url, row.url, 0, row.error.message if row.error else "The page was not read.")
            outcome = replace(outcome, crawled=dump_page(page))
        page = load_page(outcome.crawled)
        if site.facts.missing_page is not None and row.markdown is not None:
            text, links = _LINK.sub(r"\1", row.markdown), _LINK.findall(row.markdown)
            if site.facts.missing_page.is_like(text, page.final_url, links):
                page = replace(page, is_missing=True)
                outcome = replace(outcome, crawled=dump_page(page))
        self._take(site, page, load_facts(outcome.facts)[0] if outcome.facts else None)
        return outcome

    def summarize_left_out(self) -> list[tuple[str, int, str]]:
        """Return reason, number and an example of the URLs that are not read, most frequent reasons first."""
        counts: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for site in self._sites:
            for one in site.frontier.left_out:
                counts[one.reason] += one.count
                examples.setdefault(one.reason, one.example)
        return [(reason, count, examples[reason]) for reason, count in counts.most_common()]

    def _take(self, site: _Site, page: CrawledPage, facts: SiteFacts | None) -> None:
        if facts is not None:
            site.facts = facts
            site.frontier.rules = RobotsRules(facts.robots)
        site.frontier.take(page)
        if not site.is_started:
            site.is_started = True
            site.frontier.add_facts(site.facts.listed, site.facts.left_out)
