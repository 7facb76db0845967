"""PostgreSQL server with many synthetic pages, filled once and reset to that state at each start."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import asyncpg

from benchmarks.common.command_line import Figures
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.corpora import cache_folder
from benchmarks.common.synthetic_texts import SyntheticTexts
from scraper.model import Document, Reading
from scraper.store.postgres import database, page_queries
from scraper.store.postgres.database import PostgresPool
from scraper.store.postgres.lexemes import LexemeTokenizer
from scraper.store.postgres.stores import PostgresPageStore
from scraper.store.protocols import CacheScope, PageEntry
from tests.ports import free_port
from tests.scraper.store.postgres_server import PostgresServer

DATABASE = "kept"
PAGE_CHARS = 5_000
LANGUAGE = 1
_FILLERS = 2
_CHUNK = 1_000
LIMIT_BYTES = 1_000_000_000_000
SLOW_WAIT_MS = 100

# Typical settings for a database of some GB on a machine with 24 GB: a quarter for shared buffers, as PostgreSQL
# recommends; other settings are the defaults.
_SETTINGS = f"""
shared_buffers = 6GB
effective_cache_size = 12GB
maintenance_work_mem = 1GB
max_wal_size = 8GB
checkpoint_timeout = 15min
deadlock_timeout = {SLOW_WAIT_MS}ms
log_lock_waits = on
"""


@asynccontextmanager
async def filled_server(count: int) -> AsyncIterator[tuple[PostgresServer, Figures]]:
    """Start a server with this many pages in `DATABASE`; yield it with the seconds to create them."""
    folder = _base_folder() / "shared_store" / str(count)
    server = await asyncio.to_thread(_start, folder)
    try:
        figures = await _fill_once(server, folder, count)
        await _delete_later_pages(server.url(DATABASE), count)
        yield server, figures
    finally:
        await asyncio.to_thread(server.stop)


def _base_folder() -> Path:
    """Return a folder that outlives this run and that the PostgreSQL user can access."""
    preferred = cache_folder()
    closed = os.geteuid() == 0 and any(
        parent.exists() and not parent.stat().st_mode & 0o001 for parent in (preferred, *preferred.parents)
    )
    return Path("/var/tmp/search-mcp-benchmarks") if closed else preferred


def _start(folder: Path) -> PostgresServer:
    server = PostgresServer(folder)
    if not (folder / "data").exists():
        folder.mkdir(parents=True, exist_ok=True)
        server.make()
    else:
        server.port = free_port()
    own = folder / "data" / "postgresql.auto.conf"  # overrides the settings from the creation of the folder
    own.write_text(f"port={server.port}\n{_SETTINGS}")
    (folder / "log").unlink(missing_ok=True)
    server.start()
    return server


async def _fill_once(server: PostgresServer, folder: Path, count: int) -> Figures:
    """Fill the database with all pages, once."""
    done = folder / "filled.json"
    if not done.exists():
        if not await server.say(f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'"):
            await server.say(f"CREATE DATABASE {DATABASE}")
        url = server.url(DATABASE)
        await server.say(f"DROP INDEX IF EXISTS {database.SCHEMA_NAME}.words_by_vector", await _create_schema(url))
        started = time.perf_counter()
        fillers = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _FILL, url, str(part), str(count)), cwd=REPOSITORY
            )
            for part in range(_FILLERS)
        ]
        for filler in fillers:
            if await filler.wait():
                raise SystemExit("a process that fills the database has failed")
        copied_s = time.perf_counter() - started
        connection = await asyncpg.connect(url)
        await connection.execute(database.WORDS_INDEX)
        await connection.execute(f"SELECT setval('{database.SCHEMA_NAME}.page_numbers', {count})")
        await connection.execute("VACUUM ANALYZE")
        size = await connection.fetchval("SELECT pg_database_size(current_database())")
        await connection.close()
        figures = {
            "pages": count,
            "fill_s": copied_s,
            "index_s": time.perf_counter() - started - copied_s,
            "database_bytes_per_page": size / count,
        }
        done.write_text(json.dumps(figures))
    return {key: float(value) for key, value in json.loads(done.read_text()).items()}


async def _delete_later_pages(url: str, count: int) -> None:
    """Delete pages of earlier runs, so that every run measures the same table."""
    connection = await asyncpg.connect(url)
    for table in ("words", "pages"):
        await connection.execute(f"DELETE FROM {database.SCHEMA_NAME}.{table} WHERE id > $1", count)
        await connection.execute(f"VACUUM ANALYZE {database.SCHEMA_NAME}.{table}")
    await connection.execute(f"SELECT setval('{database.SCHEMA_NAME}.page_numbers', {count})")
    await connection.close()


async def _create_schema(url: str) -> str:
    async with open_store(url) as pages:
        assert (await pages.stats()).usable
    return url


_FILL = """
import asyncio, sys
from benchmarks.shared_store.table import fill
asyncio.run(fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


async def fill(url: str, part: int, count: int) -> None:
    """Copy every other thousand pages into the tables, except those of an earlier run."""
    server, texts, lexer = PostgresPool(url), SyntheticTexts(LANGUAGE), LexemeTokenizer()

    async def copy(connection: database.Connection) -> None:
        owners = await page_queries.find_owner_ids(connection, [("local", "[]")])
        for first in range(1 + part * _CHUNK, count + 1, _FILLERS * _CHUNK):
            if await connection.fetchval("SELECT 1 FROM words WHERE id = $1", first):
                continue
            texts.begin_at(first)
            rows = []
            for number in range(first, min(first + _CHUNK, count + 1)):
                page = page_queries.make_row(make_entry(number, texts.page(PAGE_CHARS)), lexer, LIMIT_BYTES)
                assert page is not None
                rows.append(page_queries.make_values(page, number, owners[page.owner]))
            async with connection.transaction():
                await connection.copy_records_to_table("pages", records=[row for row, _ in rows])
                await connection.copy_records_to_table("words", records=[words for _, words in rows])

    await server.run(copy, 100_000.0)
    await server.disconnect()


def make_entry(number: int, text: str, scope: CacheScope | None = None) -> PageEntry:
    """Return the cache entry of a synthetic page."""
    url = f"https://example.org/{number}"
    document = Document(url=url, title=text[:40], markdown=text)
    reading = Reading(document, url, url, 200, "http", cached=False, retrieved_at=datetime.now(UTC))
    return PageEntry(scope or CacheScope(), url, reading)


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[PostgresPageStore]:
    """Open the store as a server does."""
    server = PostgresPool(url)
    pages = PostgresPageStore(server, limit_bytes=LIMIT_BYTES)
    try:
        yield pages
    finally:
        await pages.close()
        await server.disconnect()
