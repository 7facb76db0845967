"""Tests for crawls of made sites, which read all true pages and leave traps."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.extract.reader import read
from scraper.site.crawl_scope import CrawlScope
from scraper.site.crawled_page import dump_page, load_page
from scraper.site.crawler import build_frontier
from tests.growth import full_size
from tests.scraper.site.made_crawls import START, Manual, crawl
from tests.site.traps.made_site import MadeSite
from tests.site.traps.programs import Blog
from tests.site.traps.sites import HARD_SITES, PROGRAM_SITES, TRAP_SITES

WORST_WASTE = {
    "facets": 90,
    "deep": 195,
    "forum": 70,
    "visible_maze": 65,
    "growing_maze": 65,
    "parameters": 55,
    "partly_dead_sitemap": 80,
    "dead_sitemap": 18,
    "trailing_sessions": 35,
    "path_sessions": 65,
    "filtered_shop": 152,
    "encyclopedia": 65,
}
"""Visits that each site may waste; 45 for the others. A breadth-first crawl wastes 1,186 on fifteen of them."""

COSTLY = {"facets", "paging", "visible_maze"}
"""Sites that cost a second each. Smaller ones with traps of the same kind: parameters, calendar, growing_maze."""


_MARGIN = 1.2
"""Factor of the budget of a site: this reader leaves more to the crawl than that of the product."""


def _case(made: type[MadeSite]) -> Any:
    return full_size(made, id=made.name) if made.name in COSTLY else pytest.param(made, id=made.name)


@pytest.mark.parametrize(
    "made", [_case(made) for made in (*TRAP_SITES, *HARD_SITES, *PROGRAM_SITES) if made is not Blog]
)
async def test_all_true_pages_are_read_and_traps_are_left(made: type[MadeSite]) -> None:
    site = made()
    reader, frontier, _, _ = await crawl(site, round(_MARGIN * site.budget))
    read = {visit.page for visit in reader.visits} - {""}
    assert read == set(site.pages)
    assert len(reader.visits) - len(read) <= WORST_WASTE.get(site.name, 45)
    kept = [site.get(page.final_url).page for page in frontier.unique_pages.values()]
    assert len(set(kept) - {""}) == len([name for name in kept if name]), "a page is kept twice"
    assert kept.count("") <= (12 if "maze" in site.name else 3)


async def test_archives_with_excerpts_of_posts_are_lists() -> None:
    site = Blog()
    reader, frontier, _, _ = await crawl(site, site.budget, read_document=read)
    assert {visit.page for visit in reader.visits} - {""} == set(site.pages)
    kept = [site.get(page.final_url).page for page in frontier.unique_pages.values()]
    # Archives of a month show two posts, and some are visited before these.
    assert kept.count("") <= 12
    reasons = {one.reason: one.count for one in frontier.left_out}
    assert reasons["excerpts of other pages"] > 5 and reasons["list of links"] > 20


async def test_forbidden_pages_are_not_requested_and_counted() -> None:
    site = next(made for made in TRAP_SITES if made.name == "robots")()
    reader, frontier, _, _ = await crawl(site, site.budget)
    assert not [visit.url for visit in reader.visits if "/private/" in visit.url or "/search" in visit.url]
    (left,) = [one for one in frontier.left_out if one.reason == "forbidden by robots.txt"]
    assert left.count > 0 and "/private/" in left.example


async def test_a_stored_crawl_continues_with_the_same_decisions() -> None:
    site = next(made for made in TRAP_SITES if made.name == "forum")()
    _, frontier, pages, facts = await crawl(site, 60)
    stored = [load_page(dump_page(page)) for page in pages]
    again = build_frontier(CrawlScope(START), None, facts, stored)
    assert list(again.unique_pages) == list(frontier.unique_pages)
    assert {page.url for page in stored} == {page.url for page in pages}
    visited = {page.url for page in pages}
    following = [url for url in (again.next() for _ in range(20)) if url]
    assert following and not visited.intersection(following)


async def test_a_question_decides_the_order() -> None:
    site = Manual()
    reader, frontier, _, _ = await crawl(site, 25, "Who keeps the lighthouse?")
    order = [visit.page for visit in reader.visits]
    assert "/chapter/40" in order[:20]
    best = max(frontier.unique_pages.values(), key=lambda page: page.relevance)
    assert best.title == "Lighthouse keepers"
