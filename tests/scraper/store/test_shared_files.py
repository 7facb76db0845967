"""Database files that are deleted, damaged or moved while one or several processes use them."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sqlite3
import sys
from pathlib import Path

import apsw
import pytest

from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.sqlite.database import Database
from scraper.store.sqlite.page_queries import SCHEMA
from scraper.store.sqlite.pages import FILE_NAME
from tests.scraper.store.conftest import PATIENCE_S, entry, opened, text_of
from tests.scraper.store.test_faults import kept_aside

WRITE_MANY = """
import asyncio, sys
from pathlib import Path
from scraper.store.sqlite import database
from scraper.store.sqlite.pages import SqlitePageStore
from tests.scraper.store.conftest import entry

# Whoever has the file may be held up by the machine.
database.BUSY_LIMIT_MS = 30_000

async def main():
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    pages = SqlitePageStore(folder, limit_bytes=10**9)
    print("open", flush=True)
    for number in range(first, first + count):
        pages.put(entry(f"https://example.org/{number}", text=f"word{number} " * 200))
        if number % 20 == 0:
            await pages.flush()
    await pages.flush()
    stats = await pages.stats()
    await pages.close()
    print("lost", stats.lost, flush=True)

asyncio.run(main())
"""


def sound(path: Path) -> bool:
    """Return True if SQLite's integrity check of a file succeeds."""
    connection = sqlite3.connect(path)
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))
    finally:
        connection.close()


def damage(path: Path) -> None:
    """Overwrite the middle of a file that may be in use."""
    with path.open("r+b") as file:
        file.write(b"\xaa" * 8_192)


async def test_a_deleted_folder_is_created_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "cache"
    async with opened(folder) as pages:
        pages.put(entry(text="before"))
        assert await text_of(pages) == "before"
        shutil.rmtree(folder)
        assert await text_of(pages) is None
        pages.put(entry(text="after"))
        assert await text_of(pages) == "after"
        assert (await pages.stats()).problem is None
    async with opened(folder) as pages:
        assert await text_of(pages) == "after"
    assert len([line for line in caplog.messages if "moved or deleted" in line]) == 1


async def test_a_file_replaced_by_another_is_read_from_then_on(tmp_path: Path) -> None:
    async with opened(tmp_path / "other") as other:
        other.put(entry(text="from elsewhere"))
    async with opened(tmp_path / "own") as pages:
        pages.put(entry(text="own"))
        assert await text_of(pages) == "own"
        for suffix in ("-wal", "-shm"):
            (tmp_path / "own" / (FILE_NAME + suffix)).unlink(missing_ok=True)
        (tmp_path / "other" / FILE_NAME).replace(tmp_path / "own" / FILE_NAME)
        assert await text_of(pages) == "from elsewhere"


def test_closing_a_moved_file_leaves_the_log_of_the_new_file(tmp_path: Path) -> None:
    first, second = (Database(tmp_path / FILE_NAME, SCHEMA) for _ in range(2))
    first.run(lambda connection: connection.execute("CREATE TABLE old (x)"), writes=True)
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / (FILE_NAME + suffix)).rename(tmp_path / ("moved" + suffix))
    second.run(lambda connection: connection.execute("CREATE TABLE new (x)"), writes=True)
    assert (tmp_path / (FILE_NAME + "-wal")).stat().st_size > 0
    first.close()
    assert (tmp_path / (FILE_NAME + "-wal")).stat().st_size > 0
    found = second.run(lambda c: c.execute("SELECT name FROM sqlite_schema WHERE name = 'new'").fetchall())
    assert found == [("new",)]
    second.close()


def test_a_recreated_file_is_not_moved_away_by_another_process(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    first, second = Database(path, SCHEMA), Database(path, SCHEMA)
    for database in (first, second):
        database.run(lambda connection: None)
    first.run(lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    damage(path)
    for database in (first, second, first, second):
        try:
            database.run(lambda c: c.execute("SELECT count(*) FROM pages, words").fetchall())
        except DatabaseUnavailableError:
            continue
    (aside,) = kept_aside(tmp_path)
    assert aside.read_bytes()[:4] == b"\xaa" * 4
    for database in (first, second):
        assert database.run(lambda c: c.execute("SELECT count(*) FROM pages").get) == 0
        database.close()
    assert sound(path)


def test_late_detection_of_damage_does_not_move_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    late = Database(path, SCHEMA)

    def see_damage(connection: apsw.Connection) -> None:
        path.rename(tmp_path / "moved")
        Database(path, SCHEMA).run(lambda c: c.execute("CREATE TABLE new (x)"), writes=True)
        raise apsw.CorruptError

    with pytest.raises(DatabaseUnavailableError):
        late.run(see_damage)
    assert kept_aside(tmp_path) == []
    assert late.run(lambda c: c.execute("SELECT count(*) FROM new").get) == 0
    late.close()


async def test_a_file_without_its_tables_is_moved_away(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        pages.put(entry(text="old"))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("DROP TABLE pages")
    connection.close()
    async with opened(tmp_path) as pages:
        assert await text_of(pages) is None
        pages.put(entry(text="new"))
        assert await text_of(pages) == "new"
    assert len(kept_aside(tmp_path)) == 1


async def test_servers_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    said = await _writers(tmp_path, 3, 200)
    assert said == ["lost 0"] * 3
    assert sound(tmp_path / FILE_NAME)
    async with opened(tmp_path) as pages:
        assert (await pages.stats()).pages == 600


async def test_servers_go_on_together_when_their_file_is_damaged_under_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        for number in range(50):
            pages.put(entry(f"https://example.org/before-{number}", text="x " * 2_000))
        await pages.flush()
    await _writers(tmp_path, 3, 300, damaged=tmp_path / FILE_NAME)
    async with opened(tmp_path) as pages:
        pages.put(entry(text="afterwards"))
        if await text_of(pages) is None:  # this read detected the damage
            pages.put(entry(text="afterwards"))
        assert await text_of(pages) == "afterwards"
    assert len(kept_aside(tmp_path)) <= 1
    assert sound(tmp_path / FILE_NAME)


async def test_a_page_that_cannot_be_serialized_does_not_affect_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with opened(tmp_path) as pages:
        pages.put(entry("https://example.org/\ud800", text="half a pair"))
        pages.put(entry("https://example.org/1", text="whole"))
        assert await text_of(pages, "https://example.org/1") == "whole"
        pages.put(entry("https://example.org/2", text="later"))
        assert await text_of(pages, "https://example.org/2") == "later"
        assert (await pages.stats()).lost == 1
    assert any("cannot be cached" in line for line in caplog.messages)


async def test_a_search_waits_only_for_earlier_writes(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        going = True

        async def keep_putting() -> None:
            number = 0
            while going:
                pages.put(entry(f"https://example.org/{number}", text="crowd " * 500))
                number += 1
                await asyncio.sleep(0)

        putting = asyncio.ensure_future(keep_putting())
        await asyncio.sleep(0.2)
        async with asyncio.timeout(PATIENCE_S):
            assert (await pages.search("crowd", principal="local", allowed=frozenset(), limit=5)).hits
            assert (await pages.stats()).usable
        going = False
        await putting


async def _writers(folder: Path, count: int, pages: int, *, damaged: Path | None = None) -> list[str]:
    """Run processes that write to one file at once; return the output of each."""
    running = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WRITE_MANY, str(folder), str(number * pages), str(pages)),
            stdout=asyncio.subprocess.PIPE,
        )
        for number in range(count)
    ]
    said = []
    async with asyncio.timeout(180):
        for writer in running:
            assert writer.stdout is not None
            assert await writer.stdout.readline() == b"open\n"
        if damaged is not None:
            await asyncio.sleep(0.1)
            damage(damaged)
        for writer in running:
            assert writer.stdout is not None
            said.append((await writer.stdout.read()).decode().strip())
            assert await writer.wait() == 0
    return said
