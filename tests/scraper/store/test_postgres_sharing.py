"""Several servers that store their pages in one database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from scraper.coordination.state import Cooldown
from scraper.settings import Settings
from scraper.store.factory import open_store
from scraper.store.index_model import IndexDocument, IndexFaultError
from scraper.store.postgres import database as connection_pool
from scraper.store.postgres import page_queries
from scraper.store.postgres.stores import PostgresPageStore
from scraper.store.protocols import CacheScope
from tests.scraper.store.conftest import entry, noise, shared_pages, text_of
from tests.scraper.store.patience import NONE, answer, nothing_waits, store_of, until
from tests.scraper.store.postgres_server import PostgresServer

pytestmark = pytest.mark.usefixtures("impatient")


async def test_servers_that_start_together_make_the_tables_once(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    stores = [open_store(Settings(database_url=url, data_dir=tmp_path)) for _ in range(8)]
    for number, store in enumerate(stores):
        store.pages.put(entry(f"https://example.org/{number}"))
    await asyncio.gather(*(store.pages.flush() for store in stores))
    assert [store.problem for store in stores] == [None] * 8
    assert (await stores[0].pages.stats()).pages == 8
    for store in stores:
        await store.close()


async def test_one_server_at_a_time_prunes_the_cache(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from scraper.store.postgres import stores as pages_module

    url = await postgres.database()
    async with shared_pages(url, limit_bytes=1_000_000) as one, shared_pages(url, limit_bytes=1_000_000) as other:
        for number in range(120):
            pages = one if number % 2 else other
            pages.put(entry(f"https://example.org/{number}", text=noise(30_000 + 2 * number)))
            if number % 10 == 9:
                await asyncio.gather(one.flush(), other.flush())
        # One server may not know yet the latest writes of the other.
        assert 0 < (await one.stats()).bytes < 1_500_000 and (await one.stats()).lost == 0
        monkeypatch.setattr(pages_module, "CHECKED_PAGES", 1)
        one.put(entry("https://example.org/last", text="last"))
        assert (await one.stats()).bytes <= 1_000_000
        assert await text_of(one, "https://example.org/119") is not None
        assert await text_of(one, "https://example.org/0") is None
        orphans = (
            "SELECT 1 FROM search_mcp.words w WHERE NOT EXISTS (SELECT 1 FROM search_mcp.pages p WHERE p.id = w.id)"
        )
        assert await postgres.say(orphans, url) == []


async def test_a_large_cache_is_counted_again_after_some_time(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scraper.store.postgres import stores as pages_module

    url = await postgres.database()
    async with shared_pages(url) as one, shared_pages(url) as other:
        one.put(entry("https://example.org/1"))
        await one.flush()
        assert (await other.stats()).pages == 1
        monkeypatch.setattr(pages_module, "LARGE", 1)
        one.put(entry("https://example.org/2"))
        await one.flush()
        assert (await other.stats()).pages == 1
        monkeypatch.setattr(pages_module, "_COUNT_AGAIN_S", 0.0)
        assert (await other.stats()).pages == 2
        monkeypatch.setattr(pages_module, "_COUNT_AGAIN_S", 60.0)
        await other.clear()
        assert (await other.stats()).pages == 0


async def test_an_oversized_or_unstorable_page_does_not_affect_others(
    postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with shared_pages(await postgres.database(), limit_bytes=1_000_000) as pages:
        pages.put(entry("https://example.org/large", text="x" * 1_000_001))
        pages.put(entry("https://example.org/\ud800", text="half a pair"))
        pages.put(entry("https://example.org/" + "long/" * 2_000, text="nul \0 in it \ud800"))
        assert await text_of(pages, "https://example.org/" + "long/" * 2_000) == "nul \0 in it ?"
        assert await text_of(pages, "https://example.org/large") is None
        assert await text_of(pages, "https://example.org/\ud800") is None
        assert (await pages.stats()).lost == 2


async def test_a_page_that_the_database_rejects_does_not_affect_its_batch(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_queries, "make_storable", lambda text: text)
    async with shared_pages(await postgres.database()) as pages:
        for number, text in enumerate(("one", "nul \0 in it", "two")):
            pages.put(entry(f"https://example.org/{number}" + text[3:5], text=text))
        assert await text_of(pages, "https://example.org/0") == "one"
        assert await text_of(pages, "https://example.org/2") == "two"
        stats = await pages.stats()
        assert (stats.lost, stats.waiting, stats.pages) == (1, 0, 2)


async def test_calls_beyond_the_waiting_limit_miss_at_once(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shared_pages(await postgres.database()) as pages:
        pages.put(entry())
        assert await text_of(pages) == "text"
        monkeypatch.setattr(connection_pool, "WAITING_LIMIT", 0)
        assert await text_of(pages) is None
        monkeypatch.undo()
        assert await text_of(pages) == "text"


async def test_concurrent_writes_of_the_same_pages_lose_none(postgres: PostgresServer) -> None:
    url = await postgres.database()

    async def write(pages: PostgresPageStore, turn: int) -> None:
        for round_ in range(5):
            for number in range(30) if turn % 2 else reversed(range(30)):
                pages.put(entry(f"https://example.org/{number}", text=f"word{round_} by {turn}"))
            await pages.flush()

    async with shared_pages(url) as first, shared_pages(url) as second, shared_pages(url) as third:
        all_of_them = (first, second, third)
        await asyncio.gather(*(write(pages, turn) for turn, pages in enumerate(all_of_them)))
        for pages in all_of_them:
            await until(lambda pages=pages: nothing_waits(pages))  # type: ignore[misc]
            stats = await pages.stats()
            assert (stats.lost, stats.pages, stats.problem) == (0, 30, None)
        found = await first.search("word4", principal="local", allowed=NONE, limit=50)
        assert len(found.hits) == 30
        assert not (await first.search("word0", principal="local", allowed=NONE, limit=50)).hits


async def test_frequently_read_pages_are_evicted_last(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scraper.store.postgres import stores as pages_module
    from scraper.store.sqlite import page_queries

    monkeypatch.setattr(page_queries, "TOUCH_AFTER_S", -1.0)
    monkeypatch.setattr(pages_module, "TOUCH_EVERY_S", 0.0)
    async with shared_pages(await postgres.database(), limit_bytes=1_000_000) as pages:
        pages.put(entry("https://example.org/loved", text="loved"))
        for number in range(100):
            pages.put(entry(f"https://example.org/{number}", text=noise(30_000 + 2 * number)))
            if number % 5 == 0:
                await pages.flush()
                assert await text_of(pages, "https://example.org/loved") == "loved"
                await asyncio.sleep(0.02)
        assert await text_of(pages, "https://example.org/0") is None


@pytest.mark.parametrize("words", [120, 250, 450, 700])
async def test_four_pages_of_usual_length_fit_into_a_block(postgres: PostgresServer, words: int) -> None:
    url = await postgres.database()
    async with shared_pages(url) as pages:
        for number in range(60):
            text = " ".join(f"word{number}x{at} common{at % 7}" for at in range(words // 2))
            pages.put(entry(f"https://example.org/{number}", text=text))
        await pages.flush()
        found = await pages.search('"common1 word3x2"', principal="local", allowed=NONE, limit=5)
        assert [hit.url for hit in found.hits] == ["https://example.org/3"]
    (row,) = await postgres.say("SELECT pg_relation_size('search_mcp.words') / 8192 AS blocks", url)
    assert row["blocks"] <= 60 / 4 + 1


async def test_a_page_of_another_server_is_found(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    async with store_of(url, tmp_path / "a") as one, store_of(url, tmp_path / "b") as other:
        one.pages.put(entry(text="shared mill"))
        await one.pages.flush()
        assert len((await other.pages.search("mill", principal="local", allowed=NONE, limit=5)).hits) == 1
        one.searches.put("key", answer(), scope=CacheScope())
        one.searches.set_cooldown("bing", "direct", Cooldown("captcha", 2, 1, 5.0))
        assert await one.searches.get_cooldown("bing", "direct") == Cooldown("captcha", 2, 1, 5.0)
        assert await other.searches.get("key", scope=CacheScope(), max_age_s=60) is not None
        assert await other.searches.get_cooldown("bing", "direct") == Cooldown("captcha", 2, 1, 5.0)
        await one.indexes.create("kept", principal="local", backend="sqlite")
        for number in range(20):
            writer = one if number % 2 else other
            await writer.indexes.add("kept", IndexDocument(str(number), f"mill \0 {number}"), principal="local")
        for store in (one, other):
            assert (await store.indexes.search("kept", "mill", principal="local", limit=5)).total == 20
            assert await store.indexes.document("kept", "3", principal="local") == IndexDocument("3", "mill \0 3")
        with pytest.raises(IndexFaultError, match="already exists"):
            await other.indexes.create("kept", principal="local", backend="sqlite")
    assert not list(tmp_path.rglob("*.sqlite"))
