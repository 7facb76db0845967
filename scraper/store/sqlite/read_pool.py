"""Threads that read a database while another writes to it: each with a connection of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from scraper.store.sqlite.database import Database, DatabaseSchema

T = TypeVar("T")

THREADS = 2
"""SQLite computes without Python's lock; more threads than cores of a small machine would not help."""
WAITING_LIMIT = 256
"""Reads that may wait; more than that is answered with a miss."""


class ReadPool:
    """Reads of one file; what is wrong with it is found, told and mended by whoever writes to it."""

    def __init__(self, path: Path, schema: DatabaseSchema, name: str) -> None:
        self._path = path
        self._schema = schema
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix=name)
        self._room = threading.BoundedSemaphore(WAITING_LIMIT)
        self._local = threading.local()
        self._open: list[Database] = []

    async def read(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T | None:
        """What `work` finds; None when too many wait, or it does not come in time.

        Raises:
            Unavailable: the file cannot serve it.
        """
        if not self._room.acquire(blocking=False):
            return None
        future = self._threads.submit(self._run, work)
        future.add_done_callback(lambda _: self._room.release())
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            return None

    async def close(self) -> None:
        """Let go of the file."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._threads.shutdown)
        for database in self._open:
            database.close()

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        database: Database | None = getattr(self._local, "database", None)
        if database is None:
            database = self._local.database = Database(self._path, self._schema, keeps=False)
            self._open.append(database)
        return database.run(work)
