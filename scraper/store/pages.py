"""The page cache in one SQLite file, used from one thread so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import apsw

from scraper.store.database import Database, Schema, Unavailable
from scraper.store.protocols import Entry, PagesStats, Shelf
from scraper.store.serial import dump_reading, load_reading

__all__ = ["FILE_NAME", "NoPages", "SqlitePages"]

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

FILE_NAME = "pages.sqlite"

QUEUE_LIMIT = 256
"""Operations that may wait for the thread; beyond, pages are read anew and not kept."""
GET_LIMIT_S = 2.0
"""A cache slower than this is slower than many a page."""
CLOSE_LIMIT_S = 5.0
ENTRY_BYTES = 8 * 1024 * 1024
"""A larger page is not kept: a few of them would push out all others."""
FUTURE_S = 60.0
"""A page read later than this from now was read under a wrong clock; how old it is nobody knows."""
PRUNE_EVERY = 50
"""Writes between two looks at the size of the file."""
PRUNE_TO = 0.9
PRUNE_ROUNDS = 20

_SCHEMA = Schema(
    application_id=0x53_4D_43_50,
    version=1,
    create="""
        CREATE TABLE pages (
            id INTEGER PRIMARY KEY,
            principal TEXT NOT NULL,
            profile TEXT NOT NULL,
            language TEXT NOT NULL,
            key TEXT NOT NULL,
            method TEXT NOT NULL,
            retrieved_at REAL NOT NULL,
            allowances TEXT NOT NULL,
            reading BLOB NOT NULL,
            UNIQUE (principal, profile, language, key, method)
        ) STRICT;
        CREATE INDEX pages_by_age ON pages (retrieved_at);
    """,
    drop="DROP TABLE IF EXISTS pages",
)

# An upsert, not INSERT OR REPLACE: that one would delete rows without telling a full-text index.
_PUT = """
    INSERT INTO pages (principal, profile, language, key, method, retrieved_at, allowances, reading)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (principal, profile, language, key, method) DO UPDATE
    SET retrieved_at = excluded.retrieved_at, allowances = excluded.allowances, reading = excluded.reading
"""
_GET = """
    SELECT id, allowances, reading FROM pages
    WHERE principal = ? AND profile = ? AND language = ? AND key = ?
      AND method IN (SELECT value FROM json_each(?)) AND retrieved_at BETWEEN ? AND ?
    ORDER BY retrieved_at DESC
"""
_PRUNE = "DELETE FROM pages WHERE id IN (SELECT id FROM pages ORDER BY retrieved_at LIMIT ?)"


class SqlitePages:
    """The `Pages` protocol over `pages.sqlite` in a folder."""

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        self._database = Database(folder / FILE_NAME, _SCHEMA)
        self._limit_bytes = limit_bytes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pages")
        self._room = threading.BoundedSemaphore(QUEUE_LIMIT)
        self._hits = self._misses = self._refused = 0
        # Counted in the thread; the others in the event loop.
        self._written = self._failed = 0
        # Opened now rather than at the first page, so that a fault is told at the start.
        self._queue(self._read, lambda connection: None)

    async def get(
        self, key: str, *, shelf: Shelf, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> Entry | None:
        """The newest page read by one of `methods`, not older than `max_age_s`, under rules still valid."""
        entry = None
        if max_age_s > 0:
            work = functools.partial(
                _get, key=key, shelf=shelf, methods=methods, max_age_s=max_age_s, allowed=allowed
            )
            entry = await self._result(work, GET_LIMIT_S)
        self._hits += entry is not None
        self._misses += entry is None
        return entry

    def put(self, entry: Entry) -> None:
        """Keep a page; returns at once."""
        self._refused += self._queue(self._put, entry) is None

    async def stats(self) -> PagesStats:
        """Numbers for status and metrics."""
        sizes = await self._result(_sizes, GET_LIMIT_S)
        pages, size = sizes or (0, 0)
        return PagesStats(
            usable=sizes is not None,
            problem=self._database.problem,
            pages=pages,
            bytes=size,
            hits=self._hits,
            misses=self._misses,
            written=self._written,
            lost=self._refused + self._failed,
        )

    async def close(self) -> None:
        """Write what was put, then close the file."""
        closing = asyncio.wrap_future(self._thread.submit(self._database.close))
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await closing
        except TimeoutError:
            log.warning("the cache did not close within %s s", CLOSE_LIMIT_S)
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    def _queue(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T] | None:
        """Give work to the thread; None when too much is waiting for it."""
        if not self._room.acquire(blocking=False):
            return None
        future = self._thread.submit(work, *args, **kwargs)
        future.add_done_callback(lambda _: self._room.release())
        return future

    async def _result(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T | None:
        future = self._queue(self._read, work)
        if future is None:
            return None
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            return None

    def _read(self, work: Callable[[apsw.Connection], T]) -> T | None:
        try:
            return self._database.run(work)
        except Unavailable:
            return None

    def _put(self, entry: Entry) -> None:
        data = dump_reading(entry.reading)
        if len(data) > min(ENTRY_BYTES, self._limit_bytes):
            return
        shelf, reading = entry.shelf, entry.reading
        place = (shelf.principal, shelf.profile, shelf.language, entry.key, reading.method)
        allowances = json.dumps(sorted(entry.allowances))
        row = (*place, reading.retrieved_at.timestamp(), allowances, data)
        try:
            self._database.run(functools.partial(self._write, row=row), writes=True)
        except Unavailable:
            self._failed += 1

    def _write(self, connection: apsw.Connection, row: tuple[str | float | bytes, ...]) -> None:
        connection.execute(_PUT, row)
        self._written += 1
        if self._written % PRUNE_EVERY == 0:
            _prune(connection, self._limit_bytes)


class NoPages:
    """The `Pages` protocol for an operator who wants none kept."""

    async def get(
        self, key: str, *, shelf: Shelf, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> Entry | None:
        """Nothing."""
        return None

    def put(self, entry: Entry) -> None:
        """Nothing happens."""

    async def stats(self) -> PagesStats:
        """All zero."""
        return PagesStats()

    async def close(self) -> None:
        """Nothing happens."""


def _get(
    connection: apsw.Connection,
    *,
    key: str,
    shelf: Shelf,
    methods: tuple[str, ...],
    max_age_s: float,
    allowed: frozenset[str],
) -> Entry | None:
    now = time.time()
    place = (shelf.principal, shelf.profile, shelf.language, key, json.dumps(methods))
    rows: list[Any] = connection.execute(_GET, (*place, now - max_age_s, now + FUTURE_S)).fetchall()
    for number, listed, data in rows:
        try:
            allowances = frozenset(json.loads(listed))
            if allowances <= allowed:
                return Entry(shelf, key, load_reading(data), allowances)
        except ValueError as error:
            log.warning("a cached page cannot be read and is dropped: %s", error)
            connection.execute("DELETE FROM pages WHERE id = ?", (number,))
    return None


def _sizes(connection: apsw.Connection) -> tuple[int, int]:
    pages = connection.execute("SELECT count(*) FROM pages").get
    return int(pages), _used_bytes(connection)


def _used_bytes(connection: apsw.Connection) -> int:
    used = connection.pragma("page_count") - connection.pragma("freelist_count")
    return int(used * connection.pragma("page_size"))


def _prune(connection: apsw.Connection, limit_bytes: int) -> None:
    """Drop the oldest pages when the file is over its limit."""
    if _used_bytes(connection) <= limit_bytes:
        return
    for _ in range(PRUNE_ROUNDS):
        count = connection.execute("SELECT count(*) FROM pages").get
        connection.execute(_PRUNE, (max(1, count // 10),))
        if _used_bytes(connection) <= limit_bytes * PRUNE_TO or count <= 1:
            return
