"""A database that is away, full, slow, wrong or somebody else's costs kept pages, and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scraper.model import SearchAnswer
from scraper.settings import Settings
from scraper.store.indexes.model import IndexDocument, IndexFault
from scraper.store.opening import Store, database_fault, open_store
from scraper.store.postgres import outbox, server
from scraper.store.postgres.pages import PostgresPages
from scraper.store.protocols import Pages, Shelf
from scraper.store.searches import Rest

from .conftest import entry, noise, shared_pages, text_of
from .postgres_server import PASSWORD, PostgresServer, free_port, missing, running_postgres
from .slow_line import slow_line

NONE: frozenset[str] = frozenset()
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def mortal() -> Iterator[PostgresServer]:
    """A server of which tests dispose; it keeps what it confirms."""
    if reason := missing():
        pytest.skip(reason)
    with running_postgres("") as running:
        yield running


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for a pause of seconds."""
    monkeypatch.setattr(server, "AWAY_PAUSE_S", 0.05)
    monkeypatch.setattr(outbox, "RETRY_S", 0.05)
    monkeypatch.setattr(outbox, "RETRY_AT_MOST_S", 0.2)


async def until(happens: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await happens():  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.05)


async def nothing_waits(pages: Pages) -> bool:
    await pages.settled()
    return (await pages.stats()).waiting == 0


@asynccontextmanager
async def store_of(url: str, tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store(Settings(database_url=url, data_dir=tmp_path))
    try:
        yield store
    finally:
        await store.close()


def answer() -> SearchAnswer:
    return SearchAnswer("query", (), ("bing",), {}, "", retrieved_at=datetime.now(UTC))


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_stopped_and_started_again_it_has_every_page_that_was_confirmed_and_those_put_meanwhile(
    mortal: PostgresServer, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "scraper.store")
    async with shared_pages(await mortal.database()) as pages:
        for number in range(100):
            pages.put(entry(f"https://example.org/{number}", text=f"before {number}"))
        assert await nothing_waits(pages)
        await asyncio.to_thread(mortal.stop, mode)
        try:
            pages.put(entry("https://example.org/meanwhile", text="meanwhile"))
            await pages.settled()
            stats = await pages.stats()
            assert not stats.usable and stats.waiting == 1 and "no PostgreSQL answers" in str(stats.problem)
            assert await text_of(pages, "https://example.org/1") is None
            assert await text_of(pages, "https://example.org/meanwhile") == "meanwhile"
            found = await pages.search("before", principal="local", allowed=NONE, limit=5)
            assert not found.usable and not found.hits
        finally:
            await asyncio.to_thread(mortal.start)
        await until(lambda: nothing_waits(pages))
        for number in range(100):
            assert await text_of(pages, f"https://example.org/{number}") == f"before {number}"
        found = await pages.search("meanwhile", principal="local", allowed=NONE, limit=5)
        assert len(found.hits) == 1
        stats = await pages.stats()
        assert stats.usable and stats.problem is None and stats.lost == 0 and stats.pages == 101
    told = [line for line in caplog.messages if "shared store" in line]
    assert "going on without" in told[0] and "usable again" in told[-1]
    assert not any(PASSWORD in line for line in caplog.messages)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("sslmode=verify-fully", "cannot be used: `sslmode` parameter must be one of"),
        (
            "sslmode=verify-full&sslrootcert=/nowhere/root.crt",
            "names (sslrootcert, sslcert, sslkey) is not there",
        ),
    ],
)
async def test_a_url_that_cannot_be_connected_by_is_told_and_pages_wait(asked: str, said: str) -> None:
    async with shared_pages(f"postgresql://keeper:{PASSWORD}@127.0.0.1:{free_port()}/pages?{asked}") as pages:
        pages.put(entry("https://example.org/1"))
        await pages.settled()
        stats = await pages.stats()
        assert not stats.usable and (stats.waiting, stats.lost) == (1, 0)
        assert said in str(stats.problem) and PASSWORD not in str(stats.problem)


async def test_tables_of_a_version_that_never_was_are_left_alone(mortal: PostgresServer) -> None:
    url = await mortal.database()
    async with shared_pages(url) as pages:
        pages.put(entry("https://example.org/1"))
        assert await nothing_waits(pages)
    await mortal.say("UPDATE search_mcp.about SET version = 0", url)
    async with shared_pages(url) as pages:
        assert await text_of(pages, "https://example.org/1") is None
        assert "has tables of version 0" in str((await pages.stats()).problem)


async def test_more_than_may_wait_is_lost_and_counted(
    mortal: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "QUEUE_LIMIT", 10)
    async with shared_pages(mortal.url(port=free_port())) as pages:
        for number in range(25):
            pages.put(entry(f"https://example.org/{number}"))
        await pages.settled()
        stats = await pages.stats()
        assert stats.waiting == 10 and stats.lost == 15


async def test_a_confirmed_page_survives_a_crash_in_the_middle_of_writing(mortal: PostgresServer) -> None:
    confirmed = 0
    async with shared_pages(await mortal.database()) as pages:
        crash: asyncio.Task[None] | None = None
        number = 0
        while crash is None or not crash.done():
            for _ in range(20):
                pages.put(entry(f"https://example.org/{number}", text=f"page {number}"))
                number += 1
            await pages.settled()
            stats = await pages.stats()
            if stats.usable and not stats.waiting and not stats.lost:
                confirmed = number
                crash = crash or asyncio.create_task(_crash_soon(mortal))
        await crash
        assert confirmed > 0
        for sure in range(confirmed):
            key = f"https://example.org/{sure}"
            await until(lambda key=key: _is_there(pages, key))  # type: ignore[misc]


async def _crash_soon(mortal: PostgresServer) -> None:
    await asyncio.sleep(0.5)
    await asyncio.to_thread(mortal.stop, "immediate")
    await asyncio.to_thread(mortal.start)


async def _is_there(pages: Pages, key: str) -> bool:
    return await text_of(pages, key) is not None


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (lambda server: server.url(password="wrong"), "does not take the user keeper"),
        (lambda server: server.url("nowhere"), "there is no database nowhere"),
        (lambda server: server.url(port=free_port()), "no PostgreSQL answers at 127.0.0.1"),
    ],
)
async def test_what_is_wrong_is_said_at_once_without_the_password(
    postgres: PostgresServer,
    tmp_path: Path,
    where: Callable[[PostgresServer], str],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    url = where(postgres)
    async with asyncio.timeout(PATIENCE_S), store_of(url, tmp_path) as store:
        store.pages.put(entry())
        assert await text_of(store.pages, "https://example.org/other") is None
        assert store.problem is not None and said in store.problem
        store.searches.put("key", answer(), shelf=Shelf())
        assert await store.searches.get("key", shelf=Shelf(), max_age_s=60) is None
        store.searches.set_rest("bing", "direct", Rest("captcha", until=1.0))
        assert await store.searches.rest("bing", "direct") == Rest("captcha", until=1.0)
        with pytest.raises(IndexFault, match="not available"):
            await store.indexes.create("kept", principal="local", backend="sqlite")
        await store.indexes.add("default", IndexDocument("a", "mill"), principal="local")
        assert (await store.indexes.search("default", "mill", principal="local", limit=1)).total == 1
    fault = await database_fault(Settings(database_url=url, data_dir=tmp_path))
    assert fault is not None and said in fault
    for secret in (PASSWORD, "wrong"):
        assert secret not in fault and not any(secret in line for line in caplog.messages)


async def test_what_is_wrong_is_told_before_anybody_asks_for_a_page(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"postgresql://keeper:{PASSWORD}@127.0.0.1:{free_port()}/pages"
    async with store_of(url, tmp_path) as store:
        await until(lambda: _has_problem(store))
    assert any("no PostgreSQL answers" in line for line in caplog.messages)


async def _has_problem(store: Store) -> bool:
    return store.problem is not None


async def test_tables_of_a_newer_version_are_left_alone(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    async with shared_pages(url) as pages:
        pages.put(entry(text="precious"))
        assert await nothing_waits(pages)
    await postgres.say("UPDATE search_mcp.about SET version = 99", url)
    async with shared_pages(url) as pages:
        pages.put(entry(text="overwritten"))
        await pages.settled()
        stats = await pages.stats()
        assert not stats.usable and "newer version of search-mcp" in str(stats.problem)
    await postgres.say("UPDATE search_mcp.about SET version = 1", url)
    async with shared_pages(url) as pages:
        assert await text_of(pages) == "precious"


@pytest.mark.parametrize(
    "made", ["CREATE TABLE search_mcp.other (x int)", "CREATE TABLE search_mcp.about (x int)"]
)
async def test_a_schema_of_another_program_is_left_alone(postgres: PostgresServer, made: str) -> None:
    url = await postgres.database()
    await postgres.say("CREATE SCHEMA search_mcp", url)
    await postgres.say(made, url)
    async with shared_pages(url) as pages:
        pages.put(entry())
        await pages.settled()
        assert "of another program" in str((await pages.stats()).problem)
    assert len(await postgres.say("SELECT 1 FROM pg_tables WHERE schemaname = 'search_mcp'", url)) == 1


async def test_tables_dropped_in_use_are_made_anew(postgres: PostgresServer) -> None:
    url = await postgres.database()
    async with shared_pages(url) as pages:
        pages.put(entry(text="before"))
        assert await text_of(pages) == "before"
        await postgres.say("DROP SCHEMA search_mcp CASCADE", url)
        assert await text_of(pages) is None
        pages.put(entry(text="after"))
        await until(lambda: nothing_waits(pages))
        assert await text_of(pages) == "after"
        assert len((await pages.search("after", principal="local", allowed=NONE, limit=5)).hits) == 1


async def test_servers_that_start_together_make_the_tables_once(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = await postgres.database()
    stores = [open_store(Settings(database_url=url, data_dir=tmp_path)) for _ in range(8)]
    for number, store in enumerate(stores):
        store.pages.put(entry(f"https://example.org/{number}"))
    await asyncio.gather(*(store.pages.settled() for store in stores))
    assert [store.problem for store in stores] == [None] * 8
    assert (await stores[0].pages.stats()).pages == 8
    for store in stores:
        await store.close()


async def test_a_database_that_takes_no_writes_is_read_and_what_waits_is_written_when_it_does(
    postgres: PostgresServer,
) -> None:
    url = await postgres.database()
    name = url.rpartition("/")[2]
    async with shared_pages(url) as pages:
        pages.put(entry("https://example.org/old", text="old"))
        assert await nothing_waits(pages)
        await postgres.say(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        await _cut_off(postgres, name)
        pages.put(entry("https://example.org/new", text="new"))
        await pages.settled()
        assert await text_of(pages, "https://example.org/old") == "old"
        stats = await pages.stats()
        assert stats.usable and stats.waiting == 1 and "takes no writes" in str(stats.problem)
        await postgres.say(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        await _cut_off(postgres, name)
        await until(lambda: nothing_waits(pages))
        assert await text_of(pages, "https://example.org/new") == "new"
        assert (await pages.stats()).problem is None


async def _cut_off(postgres: PostgresServer, name: str) -> None:
    """Let connections be made anew, as they must be for a changed default."""
    await postgres.say(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


async def test_a_full_disk_is_said_and_what_waits_is_written_when_there_is_room(
    postgres: PostgresServer,
) -> None:
    with tempfile.TemporaryDirectory(prefix="small-") as folder:
        size = ["-o", "size=12m,mode=777"]
        if os.geteuid() or await _does_not("mount", "-t", "tmpfs", *size, "tmpfs", folder):
            pytest.skip("no small file system can be mounted here")
        try:
            os.chown(folder, (postgres.folder / "data").stat().st_uid, -1)
            await postgres.say(f"CREATE TABLESPACE small LOCATION '{folder}'")
            await postgres.say("CREATE DATABASE small TABLESPACE small")
            await _fill_up(postgres.url("small"), folder)
            await postgres.say("DROP DATABASE small WITH (FORCE)")
            await postgres.say("DROP TABLESPACE small")
        finally:
            await _does_not("umount", "-l", folder)


async def _does_not(*command: str) -> bool:
    """Whether a program fails."""
    program = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await program.wait() != 0


async def _fill_up(url: str, folder: str) -> None:
    async with shared_pages(url) as pages:
        pages.put(entry("https://example.org/old", text="old"))
        assert await nothing_waits(pages)
        for number in range(40):
            pages.put(entry(f"https://example.org/{number}", text=noise(400_000 + 2 * number)))
        await pages.settled()
        await pages.settled()
        stats = await pages.stats()
        assert "is full" in str(stats.problem) and stats.waiting > 0 and stats.lost == 0
        assert await text_of(pages, "https://example.org/old") == "old"
        assert not await _does_not("mount", "-o", "remount,size=200m", folder)
        await until(lambda: nothing_waits(pages))
        stats = await pages.stats()
        assert stats.pages == 41 and stats.lost == 0 and stats.problem is None


async def test_a_line_of_200_ms_each_way_is_slow_and_nothing_more(postgres: PostgresServer) -> None:
    url = await postgres.database()
    async with shared_pages(url) as near:
        near.put(entry("https://example.org/near", text="near the mill"))
        assert await nothing_waits(near)
    async with slow_line(postgres.port, 0.2) as port:
        name = url.rpartition("/")[2]
        async with asyncio.timeout(PATIENCE_S), shared_pages(postgres.url(name, port=port)) as pages:
            # The first connection takes longer than a read may; it goes on being made for those that follow.
            await until(lambda: _is_there(pages, "https://example.org/near"))
            pages.put(entry("https://example.org/far", text="far from the mill"))
            assert await nothing_waits(pages)
            began = time.monotonic()
            assert await text_of(pages, "https://example.org/far") == "far from the mill"
            assert time.monotonic() - began < PATIENCE_S / 2
            await until(lambda: _finds_two(pages))


async def _finds_two(pages: Pages) -> bool:
    return len((await pages.search("mill", principal="local", allowed=NONE, limit=5)).hits) == 2


async def test_a_database_that_stands_still_holds_nobody_up(mortal: PostgresServer) -> None:
    async with shared_pages(await mortal.database()) as pages:
        pages.put(entry(text="kept"))
        assert await text_of(pages) == "kept"
        mortal.signal("STOP")
        try:
            async with asyncio.timeout(PATIENCE_S):
                for number in range(5):
                    assert await text_of(pages, f"https://example.org/{number}") is None
                pages.put(entry("https://example.org/later", text="later"))
                stats = await pages.stats()
                assert not stats.usable and "did not answer within" in str(stats.problem)
        finally:
            mortal.signal("CONT")
        await until(lambda: _is_there(pages, "https://example.org/"))
        await until(lambda: nothing_waits(pages))


async def test_whoever_gives_up_waiting_leaves_connections_for_the_others(postgres: PostgresServer) -> None:
    async with shared_pages(await postgres.database()) as pages:
        pages.put(entry(text="kept"))
        assert await nothing_waits(pages)
        for _ in range(3):
            calls = [asyncio.create_task(text_of(pages)) for _ in range(20)]
            await asyncio.sleep(0.002)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        assert await text_of(pages) == "kept"


async def test_the_cache_is_kept_within_its_size_by_one_server_at_a_time(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scraper.store.postgres import pages as pages_module

    url = await postgres.database()
    async with (
        shared_pages(url, limit_bytes=1_000_000) as one,
        shared_pages(url, limit_bytes=1_000_000) as other,
    ):
        for number in range(120):
            pages = one if number % 2 else other
            pages.put(entry(f"https://example.org/{number}", text=noise(30_000 + 2 * number)))
            if number % 10 == 9:
                await asyncio.gather(one.settled(), other.settled())
        # What one has just written the other may not know of yet.
        assert 0 < (await one.stats()).bytes < 1_500_000 and (await one.stats()).lost == 0
        monkeypatch.setattr(pages_module, "CHECKED_PAGES", 1)
        one.put(entry("https://example.org/last", text="last"))
        assert (await one.stats()).bytes <= 1_000_000
        assert await text_of(one, "https://example.org/119") is not None
        assert await text_of(one, "https://example.org/0") is None
        orphans = (
            "SELECT 1 FROM search_mcp.words w WHERE NOT EXISTS "
            "(SELECT 1 FROM search_mcp.pages p WHERE p.id = w.id)"
        )
        assert await postgres.say(orphans, url) == []


async def test_a_page_larger_than_the_cache_or_that_cannot_be_written_costs_itself_alone(
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


async def test_servers_that_keep_the_same_pages_at_once_lose_none(postgres: PostgresServer) -> None:
    url = await postgres.database()

    async def write(pages: PostgresPages, turn: int) -> None:
        for round_ in range(5):
            for number in range(30) if turn % 2 else reversed(range(30)):
                pages.put(entry(f"https://example.org/{number}", text=f"word{round_} by {turn}"))
            await pages.settled()

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


async def test_what_is_read_again_and_again_outlives_what_is_newer(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scraper.store import page_rows
    from scraper.store.postgres import pages as pages_module

    monkeypatch.setattr(page_rows, "TOUCH_AFTER_S", -1.0)
    monkeypatch.setattr(pages_module, "TOUCH_EVERY_S", 0.0)
    async with shared_pages(await postgres.database(), limit_bytes=1_000_000) as pages:
        pages.put(entry("https://example.org/loved", text="loved"))
        for number in range(100):
            pages.put(entry(f"https://example.org/{number}", text=noise(30_000 + 2 * number)))
            if number % 5 == 0:
                await pages.settled()
                assert await text_of(pages, "https://example.org/loved") == "loved"
                await asyncio.sleep(0.02)
        assert await text_of(pages, "https://example.org/0") is None


async def test_what_one_server_keeps_another_finds(postgres: PostgresServer, tmp_path: Path) -> None:
    url = await postgres.database()
    async with store_of(url, tmp_path / "a") as one, store_of(url, tmp_path / "b") as other:
        one.pages.put(entry(text="shared mill"))
        await one.pages.settled()
        assert len((await other.pages.search("mill", principal="local", allowed=NONE, limit=5)).hits) == 1
        one.searches.put("key", answer(), shelf=Shelf())
        one.searches.set_rest("bing", "direct", Rest("captcha", 2, 1, 5.0))
        assert await one.searches.rest("bing", "direct") == Rest("captcha", 2, 1, 5.0)
        assert await other.searches.get("key", shelf=Shelf(), max_age_s=60) is not None
        assert await other.searches.rest("bing", "direct") == Rest("captcha", 2, 1, 5.0)
        await one.indexes.create("kept", principal="local", backend="sqlite")
        for number in range(20):
            writer = one if number % 2 else other
            await writer.indexes.add(
                "kept", IndexDocument(str(number), f"mill \0 {number}"), principal="local"
            )
        for store in (one, other):
            assert (await store.indexes.search("kept", "mill", principal="local", limit=5)).total == 20
            assert await store.indexes.document("kept", "3", principal="local") == IndexDocument(
                "3", "mill \0 3"
            )
        with pytest.raises(IndexFault, match="already exists"):
            await other.indexes.create("kept", principal="local", backend="sqlite")
    assert not list(tmp_path.rglob("*.sqlite"))
