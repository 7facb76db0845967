"""Rate crawls of made and saved sites: true pages read, visits wasted, and how early an answer comes."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.site.offline_reader import OfflineReader, Visit
from benchmarks.site.saved_sites import Question
from scraper.call_context import Deadline
from scraper.model import Document
from scraper.site.crawl_scope import CrawlScope
from scraper.site.crawled_page import CrawledPage, SiteFacts
from scraper.site.crawler import Crawler
from scraper.site.frontier import CrawlFrontier
from tests.site.traps.made_site import Response

EARLY_VISITS = 50
"""Visits over which "early" is a mean."""
_NO_LIMIT_S = 3_600.0


class OfflineSite(Protocol):
    """A site with known pages."""

    name: str
    origin: str

    @property
    def budget(self) -> int:
        """Visits after which a crawl is rated."""

    @property
    def pages(self) -> Collection[str]:
        """Names of the true pages."""

    def get(self, url: str) -> Response:
        """Answer a request."""


@dataclass(frozen=True, slots=True)
class CrawlRating:
    """Result of a crawl within the budget of a site."""

    name: str
    recall: float
    wasted: int
    """Visits that read no new true page."""
    kept_copies: int
    kept_junk: int
    """Kept pages that are no true pages."""
    decide_ms: float
    """CPU milliseconds of the frontier for each visit."""


async def crawl(
    site: OfflineSite, budget: int, question: str | None, known: dict[bytes, Document]
) -> tuple[list[Visit], CrawlFrontier, float]:
    """Crawl a site with a budget of visits; return the visits, the frontier and its CPU seconds."""
    reader = OfflineReader(site.get, known)
    frontier = _TimedFrontier(CrawlScope(f"{site.origin}/"), question)

    async def take(page: CrawledPage, document: Document | None) -> None:
        frontier.take(page)

    async def ignore(facts: SiteFacts) -> None:
        return

    crawler = Crawler(reader, frontier, take, Deadline.within(_NO_LIMIT_S), SiteFacts())
    await crawler.begin(ignore)
    await crawler.run(budget - len(reader.visits))
    return reader.visits[:budget], frontier, frontier.seconds


class _TimedFrontier(CrawlFrontier):
    seconds = 0.0

    def next(self) -> str | None:
        began = time.process_time()
        url = super().next()
        self.seconds += time.process_time() - began
        return url

    def take(self, page: CrawledPage) -> None:
        began = time.process_time()
        super().take(page)
        self.seconds += time.process_time() - began


async def rate_crawl(site: OfflineSite, known: dict[bytes, Document]) -> CrawlRating:
    """Crawl a site without a question and rate what was read."""
    visits, frontier, seconds = await crawl(site, site.budget, None, known)
    read = {visit.page for visit in visits if visit.page in site.pages}
    kept = [site.get(page.final_url).page for page in frontier.unique_pages.values()]
    true = [name for name in kept if name]
    return CrawlRating(
        site.name,
        len(read) / len(site.pages),
        len(visits) - len(read),
        len(true) - len(set(true)),
        len(kept) - len(true),
        1_000 * seconds / len(visits),
    )


@dataclass(frozen=True, slots=True)
class OrderRating:
    """Visit of the first answer, from 1, and the mean share of answers read over the first visits."""

    first: float
    early: float


async def rate_order(site: OfflineSite, question: Question, known: dict[bytes, Document]) -> OrderRating:
    """Crawl a site with a question and rate how early the answers are read."""
    visits, _, _ = await crawl(site, EARLY_VISITS, question.text, known)
    names = [visit.page for visit in visits]
    first = next((at for at, name in enumerate(names, 1) if name in question.answers), math.inf)
    shares = [
        len(question.answers.intersection(names[:at])) / len(question.answers) for at in range(1, EARLY_VISITS + 1)
    ]
    return OrderRating(first, sum(shares) / EARLY_VISITS)


def summarize_crawls(ratings: Sequence[CrawlRating]) -> dict[str, float]:
    """Return the figures of several crawls."""
    return {
        "recall": round(statistics.fmean(one.recall for one in ratings), 3),
        "least_recall": round(min(one.recall for one in ratings), 3),
        "wasted": sum(one.wasted for one in ratings),
        "kept_copies": sum(one.kept_copies for one in ratings),
        "kept_junk": sum(one.kept_junk for one in ratings),
    }


def summarize_orders(ratings: Sequence[OrderRating]) -> dict[str, float]:
    """Return the figures of several crawls with questions."""
    return {
        "first_median": statistics.median(one.first for one in ratings),
        "within_10": sum(one.first <= 10 for one in ratings),
        "early": round(statistics.fmean(one.early for one in ratings), 3),
    }
