"""Pages, search answers and indexes keep working after any damage to their files, and so does `fetch`."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from scraper.coordination.state import Cooldown
from scraper.engines.model import SearchAnswer
from scraper.model import ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.settings import Settings
from scraper.store.index_model import IndexDocument, IndexFaultError
from scraper.store.index_service import IndexService
from scraper.store.protocols import CacheScope
from scraper.store.search_cache import open_search_cache
from scraper.store.sqlite import database
from scraper.store.sqlite.pages import SqlitePageStore
from tests.scraper.reading.fakes import ScriptedBrowsers, ScriptedWorkers
from tests.scraper.store.conftest import PATIENCE_S, entry, text_of


@dataclass(frozen=True)
class Kept:
    """A service with one file: store an entry, and look it up."""

    put: Callable[[], Awaitable[None]]
    found: Callable[[], Awaitable[bool]]


@asynccontextmanager
async def pages_in(folder: Path) -> AsyncIterator[Kept]:
    pages = SqlitePageStore(folder, limit_bytes=10**8)

    async def put() -> None:
        pages.put(entry(text="kept"))
        await pages.flush()

    async def found() -> bool:
        return await text_of(pages) == "kept"

    yield Kept(put, found)
    await pages.close()


@asynccontextmanager
async def searches_in(folder: Path) -> AsyncIterator[Kept]:
    searches = open_search_cache(folder)

    async def put() -> None:
        searches.put("key", SearchAnswer("q", (), (), retrieved_at=datetime.now(UTC)), scope=CacheScope())

    async def found() -> bool:
        return await searches.get("key", scope=CacheScope(), max_age_s=60) is not None

    yield Kept(put, found)
    await searches.close()


@asynccontextmanager
async def indexes_in(folder: Path) -> AsyncIterator[Kept]:
    indexes = IndexService(folder)

    async def put() -> None:
        try:
            await indexes.create("kept", principal="local", backend="sqlite")
        except IndexFaultError as fault:
            if "exists" not in str(fault):
                return
        await indexes.add("kept", IndexDocument("a", "mill"), principal="local")

    async def found() -> bool:
        try:
            return (await indexes.search("kept", "mill", principal="local", limit=5)).total == 1
        except IndexFaultError:
            return False

    yield Kept(put, found)
    await indexes.close()


FILES = pytest.mark.parametrize(
    ("name", "service"), [("pages.sqlite", pages_in), ("searches.sqlite", searches_in), ("indexes.sqlite", indexes_in)]
)
Service = Callable[[Path], AbstractAsyncContextManager[Kept]]


async def filled(folder: Path, service: Service) -> None:
    async with service(folder) as kept:
        await kept.put()
        assert await kept.found()


@FILES
async def test_a_damaged_file_is_moved_away_and_replaced(tmp_path: Path, name: str, service: Service) -> None:
    (tmp_path / name).write_bytes(b"no database at all " * 500)
    async with service(tmp_path) as kept:
        for _ in range(2):  # the first may detect the damage
            await kept.put()
        assert await kept.found()
    (aside,) = tmp_path.glob(f"{name}.corrupt-*")
    assert aside.read_bytes().startswith(b"no database")


@FILES
async def test_a_file_of_a_newer_version_is_left_as_it_is(tmp_path: Path, name: str, service: Service) -> None:
    await filled(tmp_path, service)
    with sqlite3.connect(tmp_path / name) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = (tmp_path / name).read_bytes()
    async with service(tmp_path) as kept:
        await kept.put()
        assert not await kept.found()
    assert (tmp_path / name).read_bytes() == before


@FILES
async def test_a_folder_that_vanishes_in_use_is_made_anew(tmp_path: Path, name: str, service: Service) -> None:
    folder = tmp_path / "data"
    async with service(folder) as kept:
        await kept.put()
        assert await kept.found()
        shutil.rmtree(folder)
        assert not await kept.found()
        await kept.put()
        assert await kept.found()
    assert (folder / name).exists()


@FILES
async def test_a_locked_file_is_usable_again_later(
    tmp_path: Path, name: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_LIMIT_MS", 50)
    monkeypatch.setattr(database, "BUSY_PAUSE_S", 0.0)
    await filled(tmp_path, service)
    async with service(tmp_path) as kept:
        assert await kept.found()
        holder = apsw.Connection(str(tmp_path / name))
        holder.execute("BEGIN IMMEDIATE")
        try:
            await kept.put()
        except IndexFaultError as fault:
            assert "locked" in str(fault) and name in str(fault)
        holder.execute("ROLLBACK")
        holder.close()
        await kept.put()
        assert await kept.found()


async def test_rests_of_engines_are_remembered_without_their_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    searches = open_search_cache(tmp_path / "file" / "data")
    searches.set_cooldown("bing", "direct", Cooldown("captcha", until=1.0))
    assert await searches.get_cooldown("bing", "direct") == Cooldown("captcha", until=1.0)
    await searches.close()


@pytest.mark.parametrize("trouble", ["no folder", "damaged", "vanished"])
async def test_pages_are_read_whatever_becomes_of_the_cache(tmp_path: Path, trouble: str) -> None:
    folder = tmp_path / "data"
    if trouble == "no folder":
        folder.write_text("a file stands in the way")
    elif trouble == "damaged":
        folder.mkdir()
        (folder / "pages.sqlite").write_bytes(b"no database at all " * 500)
    pages = SqlitePageStore(folder, limit_bytes=10**8)
    fetcher = Fetcher(ScriptedBrowsers(), ScriptedWorkers(), pages, Settings())  # type: ignore[arg-type]
    try:
        assert (await fetcher.fetch(ReadRequest("https://site.example/one"))).document.text
        if trouble == "vanished":
            await pages.flush()
            shutil.rmtree(folder)
        for turn in range(3):
            assert (await fetcher.fetch(ReadRequest(f"https://site.example/{turn}"))).document.text
    finally:
        await fetcher.close()
        await pages.close()


ADD_UNTIL_KILLED = """
import asyncio, sys
from pathlib import Path
from scraper.store.index_service import IndexService
from scraper.store.index_model import IndexDocument

async def main():
    indexes = IndexService(Path(sys.argv[1]))
    await indexes.create("kept", principal="local", backend="sqlite")
    for number in range(1_000_000):
        await indexes.add("kept", IndexDocument(str(number), f"mill {number}"), principal="local")
        print(number, flush=True)

asyncio.run(main())
"""


async def test_a_killed_server_loses_no_document_that_it_confirmed(tmp_path: Path) -> None:
    adding = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ADD_UNTIL_KILLED, str(tmp_path)), stdout=asyncio.subprocess.PIPE
    )
    assert adding.stdout is not None
    async with asyncio.timeout(2 * PATIENCE_S):
        while int(await adding.stdout.readline()) < 100:
            pass
        adding.kill()
        said = (await adding.stdout.read()).split()
        await adding.wait()
    last = int(said[-2]) if len(said) > 1 else 100  # the last line may be incomplete
    indexes = IndexService(tmp_path)
    assert len(await indexes.list_documents("kept", principal="local", limit=10**6)) > last
    for number in (0, last // 2, last):
        assert (await indexes.search("kept", f"+{number}", principal="local", limit=1)).total == 1 or number < 10
    await indexes.close()
