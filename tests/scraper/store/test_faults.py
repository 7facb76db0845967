"""A broken disk, a damaged file or another process disables the cache and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from scraper.store import base_page_store
from scraper.store.base_page_store import QUEUE_LIMIT
from scraper.store.protocols import IncompleteOperationError
from scraper.store.sqlite import database
from scraper.store.sqlite.pages import FILE_NAME, SqlitePageStore
from tests.scraper.store.conftest import PATIENCE_S, entry, noise, opened, text_of

NOBODY = 65_534

WRITE_UNTIL_KILLED = """
import asyncio, sys
from pathlib import Path
from scraper.store.sqlite.pages import SqlitePageStore
from tests.scraper.store.conftest import entry

async def main():
    pages = SqlitePageStore(Path(sys.argv[1]), limit_bytes=10**9)
    number = 0
    while True:
        pages.put(entry(f"https://example.org/{number}", text=f"{number} " * 5_000))
        await pages.stats()
        if number == 50:
            print("written", flush=True)
        number += 1

asyncio.run(main())
"""


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """Drop root's rights in the block: root may write everywhere, even to a read-only folder."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def no_file_beyond(limit_bytes: int) -> Iterator[None]:
    """Limit the size of files that this process writes in the block."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """Return a folder that an ordinary user can read but not write."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        yield Path(folder)
        Path(folder).chmod(0o755)


def kept_aside(folder: Path) -> list[Path]:
    """Return the damaged database files that were set aside."""
    return [path for path in folder.glob(f"{FILE_NAME}.corrupt-*") if not path.name.endswith("-wal")]


async def test_a_read_only_folder_disables_the_cache_and_is_logged_once(
    read_only_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with as_ordinary_user():
        async with opened(read_only_folder) as pages:
            pages.put(entry())
            assert await text_of(pages) is None
            assert await text_of(pages) is None
            stats = await pages.stats()
    assert not stats.usable and stats.problem is not None and str(read_only_folder) in stats.problem
    assert len([line for line in caplog.messages if "without the cache" in line]) == 1


async def test_a_folder_that_cannot_be_created_disables_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    async with opened(tmp_path / "file" / "cache") as pages:
        pages.put(entry())
        assert await text_of(pages) is None
        stats = await pages.stats()
    assert not stats.usable and stats.lost == 1 and stats.problem is not None


async def test_a_full_disk_loses_only_new_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "REOPEN_AFTER_S", 0.0)
    async with opened(tmp_path) as pages:
        pages.put(entry("https://example.org/old", text="old"))
        await pages.stats()
        with no_file_beyond(200_000):
            pages.put(entry("https://example.org/new", text=noise(1_000_000)))
            assert await text_of(pages, "https://example.org/new") is None
            assert await text_of(pages, "https://example.org/old") == "old"
            assert (await pages.stats()).lost == 1
        pages.put(entry("https://example.org/new", text="room again"))
        assert await text_of(pages, "https://example.org/new") == "room again"


async def test_opening_a_file_on_a_full_disk_reports_the_full_disk(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        pages.put(entry(text="kept"))
        await pages.stats()
    with no_file_beyond(1_000):
        async with opened(tmp_path) as pages:
            problem = (await pages.stats()).problem
    assert problem is not None and "rollback" not in problem and "I/O" in problem
    async with opened(tmp_path) as pages:
        assert await text_of(pages) == "kept"


async def test_a_full_file_system_is_reported_until_a_write_succeeds(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "scraper.store")
    async with opened(tmp_path) as pages:
        pages.put(entry("https://example.org/old", text="old"))
        await pages.stats()
        await _pragma(pages, "max_page_count = 10")
        for number in range(5):
            pages.put(entry(f"https://example.org/{number}", text=noise(100_000)))
            assert await text_of(pages, "https://example.org/old") == "old"
        stats = await pages.stats()
        assert stats.usable and stats.lost == 5 and stats.problem is not None and "full" in stats.problem
        await _pragma(pages, "max_page_count = 1000000")
        pages.put(entry(text="room again"))
        assert await text_of(pages) == "room again"
        assert (await pages.stats()).problem is None
    told = [line for line in caplog.messages if "cache" in line]
    assert len(told) == 2 and "full" in told[0] and "usable again" in told[1]


async def test_a_file_that_is_no_database_is_moved_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"this was a cache once " * 1_000)
    async with opened(tmp_path) as pages:
        pages.put(entry(text="new life"))
        assert await text_of(pages) == "new life"
    (aside,) = kept_aside(tmp_path)
    assert aside.read_bytes().startswith(b"this was a cache once")
    assert any(str(aside) in line for line in caplog.messages)


async def test_a_file_damaged_in_the_middle_is_moved_away(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        for number in range(100):
            pages.put(entry(f"https://example.org/{number}", text=noise(5_000)))
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(4_096)
        file.write(b"\xaa" * 400_000)
    async with opened(tmp_path) as pages:
        for number in range(100):
            await text_of(pages, f"https://example.org/{number}")
            pages.put(entry(f"https://example.org/{number}", text="new"))
        assert await text_of(pages, "https://example.org/99") == "new"
    assert len(kept_aside(tmp_path)) == 1


async def test_only_the_last_damaged_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / f"{FILE_NAME}.corrupt-20200101-000000").write_bytes(b"older")
    (tmp_path / FILE_NAME).write_bytes(b"newer " * 1_000)
    async with opened(tmp_path) as pages:
        await text_of(pages)
    (aside,) = kept_aside(tmp_path)
    assert aside.read_bytes().startswith(b"newer")


async def test_an_unreadable_row_is_a_miss_until_it_is_written_anew(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        pages.put(entry("https://example.org/1"))
        pages.put(entry("https://example.org/2"))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE pages SET reading = x'00' WHERE key LIKE '%1'")
    connection.close()
    async with opened(tmp_path) as pages:
        assert await text_of(pages, "https://example.org/1") is None
        assert await text_of(pages, "https://example.org/2") == "text"
        pages.put(entry("https://example.org/1", text="anew"))
        assert await text_of(pages, "https://example.org/1") == "anew"


async def test_unreadable_rows_do_not_end_an_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_page_store, "EXPORT_BATCH", 2)
    async with opened(tmp_path) as pages:
        for number in range(5):
            pages.put(entry(f"https://example.org/{number}"))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE pages SET reading = x'00' WHERE id <= 2")
    connection.close()
    async with opened(tmp_path) as pages:
        assert [kept.key[-1] async for kept in pages.iter_entries()] == ["2", "3", "4"]


async def test_an_export_of_an_unusable_file_raises_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    async with opened(tmp_path) as pages:
        with pytest.raises(IncompleteOperationError):
            [kept async for kept in pages.iter_entries()]
        with pytest.raises(IncompleteOperationError):
            await pages.clear()


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(tmp_path) as pages:
        pages.put(entry(text="precious"))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    async with opened(tmp_path) as pages:
        pages.put(entry())
        assert await text_of(pages) is None
        assert not (await pages.stats()).usable
    assert (tmp_path / FILE_NAME).read_bytes() == before
    assert [line for line in caplog.messages if "newer version" in line] != []


async def test_a_file_of_an_unknown_older_version_is_replaced(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        pages.put(entry(text="old"))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version = 0")
        connection.execute("ALTER TABLE pages DROP COLUMN reading")
    connection.close()
    async with opened(tmp_path) as pages:
        assert await text_of(pages) is None
        pages.put(entry(text="new"))
        assert await text_of(pages) == "new"


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("CREATE TABLE accounts (name)")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    async with opened(tmp_path) as pages:
        pages.put(entry())
        assert not (await pages.stats()).usable
    assert (tmp_path / FILE_NAME).read_bytes() == before


async def test_a_locked_file_is_a_miss_and_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_LIMIT_MS", 50)
    monkeypatch.setattr(database, "BUSY_PAUSE_S", 0.0)
    async with opened(tmp_path) as pages:
        await pages.stats()
        holder = apsw.Connection(str(tmp_path / FILE_NAME))
        holder.execute("BEGIN EXCLUSIVE")
        pages.put(entry(text="lost"))
        assert await text_of(pages) is None
        assert "locked" in ((await pages.stats()).problem or "")
        holder.execute("ROLLBACK")
        holder.close()
        pages.put(entry(text="kept"))
        assert await text_of(pages) == "kept"


async def test_a_killed_writer_leaves_a_sound_file(tmp_path: Path) -> None:
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITE_UNTIL_KILLED, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        assert await writer.stdout.readline() == b"written\n"
    writer.send_signal(signal.SIGKILL)
    await writer.wait()
    checked = sqlite3.connect(tmp_path / FILE_NAME)
    assert checked.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    checked.close()
    async with opened(tmp_path) as pages:
        assert (await text_of(pages, "https://example.org/50") or "").startswith("50 ")
        assert kept_aside(tmp_path) == []


async def test_writes_beyond_the_queue_limit_are_counted_as_lost(tmp_path: Path) -> None:
    async with opened(tmp_path) as pages:
        for number in range(QUEUE_LIMIT + 100):
            pages.put(entry(f"https://example.org/{number}"))
        await pages.flush()
        stats = await pages.stats()
        assert stats.lost > 0 and stats.problem is None
        assert stats.pages == stats.written == QUEUE_LIMIT + 100 - stats.lost


async def _pragma(pages: SqlitePageStore, setting: str) -> None:
    """Set a pragma on the writer connection of the cache."""
    await pages._threads.run_in_writer(lambda connection: connection.execute(f"PRAGMA {setting}"), PATIENCE_S)
