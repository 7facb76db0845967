"""An unreachable, full or slow database costs cached pages and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Iterator

import pytest

from scraper.store import base_page_store
from scraper.store.postgres.database import QUICK_LIMIT_S
from scraper.store.protocols import IncompleteOperationError, PageStore
from tests.growth import full_size, thorough
from tests.ports import free_port
from tests.scraper.store.conftest import PATIENCE_S, entry, noise, shared_pages, text_of
from tests.scraper.store.patience import NONE, is_there, nothing_waits, until
from tests.scraper.store.postgres_server import PASSWORD, PostgresServer, missing, running_postgres
from tests.scraper.store.slow_line import slow_line

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture(scope="module")
def mortal() -> Iterator[PostgresServer]:
    """Start a server with fsync that tests may stop."""
    if reason := missing():
        pytest.skip(reason)
    with running_postgres("") as running:
        yield running


@pytest.mark.parametrize("mode", ["immediate", thorough("fast")])
async def test_stopped_and_started_again_it_has_every_page_that_was_confirmed_and_those_put_meanwhile(
    mortal: PostgresServer, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "scraper.store")
    async with shared_pages(await mortal.database()) as pages:
        for number in range(100):
            pages.put(entry(f"https://example.org/{number}", text=f"before {number}"))
        await until(lambda: nothing_waits(pages))
        await asyncio.to_thread(mortal.stop, mode)
        try:
            pages.put(entry("https://example.org/meanwhile", text="meanwhile"))
            await pages.flush()
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
    assert "continuing without" in told[0] and "usable again" in told[-1]
    assert not any(PASSWORD in line for line in caplog.messages)


async def test_pages_beyond_the_queue_limit_are_counted_as_lost(
    mortal: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_page_store, "QUEUE_LIMIT", 10)
    async with shared_pages(mortal.url(port=free_port())) as pages:
        for number in range(25):
            pages.put(entry(f"https://example.org/{number}"))
        await pages.flush()
        stats = await pages.stats()
        assert stats.waiting == 10 and stats.lost == 15


async def test_an_interrupted_export_raises_an_error(mortal: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_page_store, "EXPORT_BATCH", 2)
    async with shared_pages(await mortal.database()) as pages:
        for number in range(5):
            pages.put(entry(f"https://example.org/{number}"))
        await until(lambda: nothing_waits(pages))
        exported = aiter(pages.iter_entries())
        for _ in range(2):
            await anext(exported)
        await asyncio.to_thread(mortal.stop)
        try:
            with pytest.raises(IncompleteOperationError, match="no PostgreSQL answers at"):
                await anext(exported)
            with pytest.raises(IncompleteOperationError, match="no PostgreSQL answers at"):
                await pages.clear()
        finally:
            await asyncio.to_thread(mortal.start)


async def test_a_confirmed_page_survives_a_crash_in_the_middle_of_writing(mortal: PostgresServer) -> None:
    confirmed = 0
    async with shared_pages(await mortal.database()) as pages:
        crash: asyncio.Task[None] | None = None
        number = 0
        while crash is None or not crash.done():
            for _ in range(20):
                pages.put(entry(f"https://example.org/{number}", text=f"page {number}"))
                number += 1
            await pages.flush()
            stats = await pages.stats()
            if stats.usable and not stats.waiting and not stats.lost:
                confirmed = number
                await asyncio.sleep(0.02)
                crash = crash or asyncio.create_task(_crash_soon(mortal))
        await crash
        assert confirmed > 0
        for sure in range(confirmed):
            key = f"https://example.org/{sure}"
            await until(lambda key=key: is_there(pages, key))  # type: ignore[misc]


async def _crash_soon(mortal: PostgresServer) -> None:
    await asyncio.sleep(0.5)
    await asyncio.to_thread(mortal.stop, "immediate")
    await asyncio.to_thread(mortal.start)


async def test_a_read_only_database_is_read_and_queued_pages_are_written_later(postgres: PostgresServer) -> None:
    url = await postgres.database()
    name = url.rpartition("/")[2]
    async with shared_pages(url) as pages:
        pages.put(entry("https://example.org/old", text="old"))
        await until(lambda: nothing_waits(pages))
        await postgres.say(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        await _cut_off(postgres, name)
        pages.put(entry("https://example.org/new", text="new"))
        await pages.flush()
        assert await text_of(pages, "https://example.org/old") == "old"
        stats = await pages.stats()
        assert stats.usable and stats.waiting == 1 and "takes no writes" in str(stats.problem)
        await postgres.say(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        await _cut_off(postgres, name)
        await until(lambda: nothing_waits(pages))
        assert await text_of(pages, "https://example.org/new") == "new"
        assert (await pages.stats()).problem is None


async def _cut_off(postgres: PostgresServer, name: str) -> None:
    """Close all connections to a database: a changed default applies to new ones only."""
    await postgres.say(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


@pytest.mark.full_size
async def test_a_full_disk_is_reported_and_queued_pages_are_written_later(postgres: PostgresServer) -> None:
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
    """Return True if a program fails."""
    program = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await program.wait() != 0


async def _fill_up(url: str, folder: str) -> None:
    async with shared_pages(url) as pages:
        pages.put(entry("https://example.org/old", text="old"))
        await until(lambda: nothing_waits(pages))
        for number in range(40):
            pages.put(entry(f"https://example.org/{number}", text=noise(400_000 + 2 * number)))
        await pages.flush()
        await pages.flush()
        stats = await pages.stats()
        assert "is full" in str(stats.problem) and stats.waiting > 0 and stats.lost == 0
        assert await text_of(pages, "https://example.org/old") == "old"
        assert not await _does_not("mount", "-o", "remount,size=200m", folder)
        await until(lambda: nothing_waits(pages))
        stats = await pages.stats()
        assert stats.pages == 41 and stats.lost == 0 and stats.problem is None


@pytest.mark.parametrize("delay_s", [0.05, full_size(0.2, id="200 ms")])
async def test_a_line_with_a_delay_is_slow_and_nothing_more(postgres: PostgresServer, delay_s: float) -> None:
    url = await postgres.database()
    async with shared_pages(url) as near:
        near.put(entry("https://example.org/near", text="near the mill"))
        await until(lambda: nothing_waits(near))
    async with slow_line(postgres.port, delay_s) as port:
        name = url.rpartition("/")[2]
        async with asyncio.timeout(5 * PATIENCE_S), shared_pages(postgres.url(name, port=port)) as pages:
            # The first connection takes longer than a read may; it completes for later reads.
            await until(lambda: is_there(pages, "https://example.org/near"))
            pages.put(entry("https://example.org/far", text="far from the mill"))
            await until(lambda: nothing_waits(pages))
            assert await text_of(pages, "https://example.org/far") == "far from the mill"
            await until(lambda: _finds_two(pages))


async def _finds_two(pages: PageStore) -> bool:
    return len((await pages.search("mill", principal="local", allowed=NONE, limit=5)).hits) == 2


async def test_a_stopped_database_blocks_no_caller(mortal: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shared_pages(await mortal.database()) as pages:
        pages.put(entry(text="kept"))
        assert await text_of(pages) == "kept"
        monkeypatch.setattr(base_page_store, "GET_LIMIT_S", QUICK_LIMIT_S)
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
        monkeypatch.setattr(base_page_store, "GET_LIMIT_S", PATIENCE_S)
        await until(lambda: is_there(pages, "https://example.org/"))
        await until(lambda: nothing_waits(pages))


async def test_abandoned_operations_leave_connections_usable(postgres: PostgresServer) -> None:
    async with shared_pages(await postgres.database()) as pages:
        pages.put(entry(text="kept"))
        await until(lambda: nothing_waits(pages))
        for _ in range(3):
            calls = [asyncio.create_task(text_of(pages)) for _ in range(20)]
            await asyncio.sleep(0.002)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        assert await text_of(pages) == "kept"
