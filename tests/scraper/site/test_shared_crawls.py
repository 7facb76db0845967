"""Tests for crawls and versions of pages that servers share in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from scraper import errors
from scraper.services import Services
from scraper.settings import Settings
from scraper.site import crawler
from scraper.site.model import CrawlRequest
from tests.scraper.site.test_crawl_service import cancel_after
from tests.scraper.site.test_page_change_tracker import Journal, compare
from tests.scraper.store.postgres_server import PostgresServer, missing, running_postgres
from tests.scraper.tools.calls import call_tool, data_of
from tests.site.traps.ordinary import Robots
from tests.site.traps.serving import ServedSite, serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    """Start one PostgreSQL server."""
    if reason := missing():
        pytest.skip(reason)
    with running_postgres() as server:
        yield server


@asynccontextmanager
async def opened(url: str, folder: Path, served: ServedSite) -> AsyncIterator[Services]:
    """Open a server of its own folder on the database of a URL."""
    settings = Settings(data_dir=folder, database_url=url, test_hosts=served.test_hosts)
    async with Services.open(settings) as app:
        yield app


async def test_another_server_continues_a_crawl_that_was_killed(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    with serving(Robots) as (made, served):
        async with opened(url, tmp_path / "one", served) as one:
            crawl_id = (await one.crawls.start(CrawlRequest(served.url), pages=5)).crawl
            await cancel_after(one, crawl_id, pages=7)
        async with opened(url, tmp_path / "two", served) as two:
            with pytest.raises(errors.CrawlNotFoundError):
                await two.crawls.resume(crawl_id, pages=3, principal="bob")
            answer = await call_tool(two, "crawl", crawl=crawl_id, max_pages=100, format="json")
            assert data_of(answer)["done"] and data_of(answer)["kept"] == len(made.pages) + 1
            index, title = data_of(answer)["index"], made.title("/open/7")
        async with opened(url, tmp_path / "three", served) as three:
            ids = await three.indexes.list_documents(index, principal="local", limit=200)
            assert {one.removeprefix("http://trap.example") for one in ids} == {"/", *made.pages}
            assert "/open/7" in (await call_tool(three, "search_index", index_name=index, query=title, k=1)).text
            assert "/open/7" in (await call_tool(three, "cache_search", query=title)).text
        assert max(count for path, count in served.requests.items() if path in made.pages) <= 2


@pytest.mark.thorough
async def test_another_server_takes_over_a_task_where_its_crawl_ended(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    with serving(Robots) as (_, served):
        crawl = CrawlRequest(served.url)
        async with opened(url, tmp_path / "one", served) as one:
            enough = asyncio.Event()

            def note(done: float, total: float | None = None, message: str | None = None) -> None:
                if done >= 9:
                    enough.set()

            task = asyncio.create_task(one.crawls.start(crawl, pages=30, crawl_id="task", progress=note))
            await asyncio.wait({task, asyncio.create_task(enough.wait())}, return_when=asyncio.FIRST_COMPLETED)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        async with opened(url, tmp_path / "two", served) as two:
            report = await two.crawls.start(crawl, pages=30, crawl_id="task")
            assert (report.crawl, report.visited) == ("task", 30)
        read_again = [path for path, count in served.requests.items() if count > 1 and path != "/robots.txt"]
        assert len(read_again) <= crawler.PAGES_AT_ONCE


@pytest.mark.thorough
async def test_two_servers_cannot_continue_one_crawl_at_once(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    with serving(Robots) as (made, served):
        async with opened(url, tmp_path / "one", served) as one, opened(url, tmp_path / "two", served) as two:
            report = await one.crawls.start(CrawlRequest(served.url), pages=3)
            results = await asyncio.gather(
                *(app.crawls.resume(report.crawl, pages=100) for app in (one, two)), return_exceptions=True
            )
            failed = [result for result in results if isinstance(result, BaseException)]
            assert len(failed) == 1 and isinstance(failed[0], errors.OverloadedError)
            ids = await two.indexes.list_documents(report.index, principal="local", limit=200)
            assert {one.removeprefix("http://trap.example") for one in ids} == {"/", *made.pages}


async def test_another_server_compares_with_the_stored_version(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    with serving(Journal) as (made, served):
        async with opened(url, tmp_path / "one", served) as one:
            assert (await compare(one, served.url)).status == "first"
        made.price = "15 EUR"
        async with opened(url, tmp_path / "two", served) as two:
            changed = await compare(two, served.url)
            assert changed.status == "changed" and "15 EUR" in changed.changes[0].new
