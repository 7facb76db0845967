"""Fixtures of the store tests: a page cache of each backend, and pages to store."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scraper.model import Document, Reading
from scraper.store import base_page_store, search_cache
from scraper.store.postgres import database as server
from scraper.store.postgres import stores
from scraper.store.postgres.database import PostgresPool
from scraper.store.postgres.stores import PostgresPageStore
from scraper.store.protocols import CacheScope, PageEntry, PageStore
from scraper.store.sqlite import database
from scraper.store.sqlite.pages import SqlitePageStore
from tests.scraper.store.memory_page_store import MemoryPageStore
from tests.scraper.store.postgres_server import PostgresServer, missing, running_postgres

OpenPages = Callable[[], AbstractAsyncContextManager[SqlitePageStore]]

DAY_S = 86_400.0
PATIENCE_S = 60.0


def noise(length: int) -> str:
    """Return random hexadecimal digits, which compress badly."""
    return random.Random(length).randbytes(length // 2).hex()


def entry(
    key: str = "https://example.org/",
    *,
    text: str = "text",
    method: str = "http",
    scope: CacheScope | None = None,
    age_s: float = 0.0,
    allowances: frozenset[str] = frozenset(),
) -> PageEntry:
    """Return a page that was read `age_s` seconds ago."""
    reading = Reading(
        document=Document(url=key, text=text, markdown=text),
        url=key,
        requested_url=key,
        status=200,
        method=method,
        cached=False,
        retrieved_at=datetime.now(UTC) - timedelta(seconds=age_s),
    )
    return PageEntry(scope or CacheScope(), key, reading, allowances)


async def text_of(
    pages: PageStore,
    key: str = "https://example.org/",
    *,
    scope: CacheScope | None = None,
    methods: tuple[str, ...] = ("http", "browser"),
    max_age_s: float = DAY_S,
    allowed: frozenset[str] = frozenset(),
) -> str | None:
    """Flush the store and return the stored text of a key."""
    await pages.flush()
    found = await pages.get(key, scope=scope or CacheScope(), methods=methods, max_age_s=max_age_s, allowed=allowed)
    return None if found is None else found.reading.document.text


@asynccontextmanager
async def opened(folder: Path, *, limit_bytes: int = 100_000_000) -> AsyncIterator[SqlitePageStore]:
    """Open the SQLite cache of a folder; close it when the block ends."""
    pages = SqlitePageStore(folder, limit_bytes=limit_bytes)
    try:
        yield pages
    finally:
        await pages.close()


BACKENDS: Mapping[str, Callable[[Path], PageStore]] = {
    "sqlite": lambda folder: SqlitePageStore(folder, limit_bytes=100_000_000),
    "memory": lambda folder: MemoryPageStore(),
}
"""Every backend of the cache that needs nothing: another line runs the contract's tests over another one."""


@pytest.fixture(params=[*BACKENDS, "postgres"])
async def pages(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[PageStore]:
    """Open an empty cache of each backend."""
    if request.param == "postgres":
        async with shared_pages(await request.getfixturevalue("postgres").database()) as shared:
            yield shared
        return
    cache = BACKENDS[request.param](tmp_path)
    yield cache
    await cache.close()


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the time limits of reads, so that a slow machine causes no cache miss."""
    monkeypatch.setattr(base_page_store, "GET_LIMIT_S", PATIENCE_S)
    monkeypatch.setattr(base_page_store, "SEARCH_LIMIT_S", PATIENCE_S)
    monkeypatch.setattr(search_cache, "READ_LIMIT_S", PATIENCE_S)
    monkeypatch.setattr(stores, "INDEX_LIMIT_S", PATIENCE_S)
    monkeypatch.setattr(database, "BUSY_LIMIT_MS", round(PATIENCE_S / 2 * 1_000))


SERVER = pytest.StashKey[PostgresServer]()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """Start one PostgreSQL server for all tests that do not stop it."""
    if reason := missing():
        pytest.skip(reason)
    with running_postgres() as server:
        request.config.stash[SERVER] = server
        yield server


@pytest.fixture(autouse=True)
def _databases_are_lent_again(request: pytest.FixtureRequest) -> Iterator[None]:
    """Release databases for reuse: to create and drop one for every test would take longer than the tests."""
    yield
    if SERVER in request.config.stash:
        request.config.stash[SERVER].give_back()


@asynccontextmanager
async def shared_pages(url: str, *, limit_bytes: int = 100_000_000) -> AsyncIterator[PostgresPageStore]:
    """Open the PostgreSQL cache of a database; close it when the block ends."""
    server = PostgresPool(url)
    pages = PostgresPageStore(server, limit_bytes=limit_bytes)
    try:
        yield pages
    finally:
        await pages.close()
        await server.disconnect()


@pytest.fixture
async def sqlite_pages(tmp_path: Path) -> AsyncIterator[SqlitePageStore]:
    """Open an empty SQLite cache."""
    async with opened(tmp_path) as cache:
        yield cache


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses before retries."""
    monkeypatch.setattr(server, "AWAY_PAUSE_S", 0.05)
    monkeypatch.setattr(base_page_store, "RETRY_S", 0.05)
    monkeypatch.setattr(base_page_store, "MAX_RETRY_S", 0.2)
