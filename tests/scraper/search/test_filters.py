"""Filters of the request are applied to all rows, even if engines ignore them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from scraper.search.fusion import EngineRanking, ResultFilters, fuse_rankings
from tests.scraper.search.rows import row

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def kept(filters: ResultFilters, *rows: object) -> list[str]:
    pages = fuse_rankings([EngineRanking("mojeek", "mojeek", rows)])  # type: ignore[arg-type]
    return [page.best.url for page in filters.apply(pages, NOW)[0]]


HOSTS = [
    row(n, f"https://{host}/x", f"Title {n}")
    for n, host in enumerate(("docs.python.org", "python.org", "notpython.org", "python.org.example"), 1)
]


def test_domains_are_hosts_and_their_subdomains() -> None:
    only = ResultFilters(include_domains=("python.org",))
    assert kept(only, *HOSTS) == ["https://docs.python.org/x", "https://python.org/x"]
    without = ResultFilters(exclude_domains=("python.org",))
    assert kept(without, *HOSTS) == ["https://notpython.org/x", "https://python.org.example/x"]


def test_a_wrapped_page_has_the_host_of_its_publisher() -> None:
    link = "https://news.google.com/rss/articles/CBMiAA"
    news = row(1, link, "News", source="Paper", source_url="https://www.paper.example")
    assert kept(ResultFilters(include_domains=("paper.example",)), news) == [link]
    assert kept(ResultFilters(include_domains=("google.com",)), news) == []


@pytest.mark.parametrize(
    ("freshness", "age", "stays"),
    [
        ("day", timedelta(hours=30), True),
        ("day", timedelta(days=3), False),
        ("week", timedelta(days=6), True),
        ("week", timedelta(days=9), False),
        ("month", timedelta(days=30), True),
        ("year", timedelta(days=400), False),
    ],
)
def test_old_rows_are_dropped(freshness: str, age: timedelta, stays: bool) -> None:
    dated = row(1, "https://a.example/", "A", date=NOW - age)
    assert bool(kept(ResultFilters(freshness=freshness), dated)) is stays


def test_rows_without_a_date_are_accepted() -> None:
    assert kept(ResultFilters(freshness="day"), row(1, "https://a.example/", "A"))


def test_texts_are_found_in_titles_and_snippets_in_any_case() -> None:
    rows = [row(1, "https://a.example/", "Tidal POWER"), row(2, "https://b.example/", "B", "about tidal\npower")]
    assert len(kept(ResultFilters(include_text="tidal power"), *rows)) == 2
    assert kept(ResultFilters(exclude_text="POWER"), *rows) == []
    assert kept(ResultFilters(include_text="straße"), row(1, "https://c.example/", "STRASSE")) != []


@pytest.mark.parametrize(
    ("category", "url", "stays"),
    [
        ("github", "https://github.com/a/b", True),
        ("github", "https://a.github.io/b", False),
        ("pdf", "https://a.example/report.PDF?x=1", True),
        ("pdf", "https://arxiv.org/pdf/1706.03762", True),
        ("pdf", "https://a.example/report.html", False),
        ("paper", "https://arxiv.org/abs/1706.03762", True),
        ("paper", "https://link.springer.com/article/1", True),
        ("paper", "https://a.example/paper", False),
        ("forum", "https://old.reddit.com/r/x", True),
        ("forum", "https://news.ycombinator.com/item?id=1", True),
        ("forum", "https://forum.example.org/t/1", True),
        ("forum", "https://a.example/about", False),
        ("blog", "https://name.substack.com/p/x", True),
        ("blog", "https://a.example/blog/entry", True),
        ("blog", "https://a.example/entry", False),
        ("news", "https://www.reuters.com/world/x", True),
        ("news", "https://www.dailyharbour.example/x", True),
        ("news", "https://a.example/2026/11/story", True),
        ("news", "https://a.example/about", False),
    ],
)
def test_a_category_accepts_its_pages(category: str, url: str, stays: bool) -> None:
    assert bool(kept(ResultFilters(category=category), row(1, url))) is stays


def test_dropped_rows_are_counted_by_filter() -> None:
    filters = ResultFilters(include_domains=("python.org",), exclude_text="title 1")
    pages = fuse_rankings([EngineRanking("mojeek", "mojeek", tuple(HOSTS))])
    left, dropped = filters.apply(pages, NOW)
    assert len(left) == 1
    assert dropped == {"include_domains": 2, "exclude_text": 1}


def test_without_filters_everything_is_accepted() -> None:
    assert len(kept(ResultFilters(), *HOSTS)) == 4
