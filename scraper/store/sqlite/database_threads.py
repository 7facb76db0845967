"""Run operations on a SQLite file in threads, so that the event loop never waits for the disk."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from scraper.store.sqlite.database import Database, DatabaseSchema, DatabaseUnavailableError

T = TypeVar("T")

log = logging.getLogger(__name__)

QUEUE_LIMIT = 256
"""Operations that may wait for the thread. Further reads miss and further writes are dropped."""
READ_LIMIT_S = 2.0
"""Seconds that a read may take."""
CLOSE_LIMIT_S = 5.0
"""Seconds that `close` may take."""


class DatabaseThread:
    """One thread that runs operations on one database in order; failures return None."""

    def __init__(self, database: Database, name: str) -> None:
        """Start the thread.

        Args:
            database: The database; it is used by this thread only.
            name: Name of the thread, for logs.
        """
        self.database = database
        self._name = name
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._free_places = threading.BoundedSemaphore(QUEUE_LIMIT)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T | None:
        """Return the result of `work`, or None if the database is unavailable or too slow."""
        future = self._submit(functools.partial(self._try, work, writes=False))
        if future is None:
            return None
        try:
            async with asyncio.timeout(READ_LIMIT_S):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            return None

    def write(self, work: Callable[[apsw.Connection], None]) -> None:
        """Queue `work` and return immediately."""
        self._submit(functools.partial(self._try, work, writes=True))

    async def close(self) -> None:
        """Run the queued operations, then close the file."""
        closing = asyncio.wrap_future(self._thread.submit(self.database.close))
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await closing
        except TimeoutError:
            log.warning("%s did not close within %s s", self._name, CLOSE_LIMIT_S)
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    def _submit(self, work: Callable[[], T]) -> Future[T] | None:
        if not self._free_places.acquire(blocking=False):
            return None
        future = self._thread.submit(work)
        future.add_done_callback(lambda _: self._free_places.release())
        return future

    def _try(self, work: Callable[[apsw.Connection], T], *, writes: bool) -> T | None:
        try:
            return self.database.run(work, writes=writes)
        except DatabaseUnavailableError:
            return None


THREADS = 2
"""Reading threads. SQLite runs without Python's lock; more threads than cores of a small machine do not help.
"""
WAITING_LIMIT = 256
"""Reads that may wait. Further reads miss."""


class ReadPool:
    """Threads that read a file while another connection writes to it; each has its own connection.

    The writing connection finds, logs and repairs problems of the file.
    """

    def __init__(self, path: Path, schema: DatabaseSchema, name: str) -> None:
        """Start the threads.

        Args:
            path: The file.
            schema: Its tables.
            name: Prefix of the names of the threads.
        """
        self._path = path
        self._schema = schema
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix=name)
        self._free_places = threading.BoundedSemaphore(WAITING_LIMIT)
        self._local = threading.local()
        self._open: list[Database] = []

    async def read(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T | None:
        """Return the result of `work`, or None if too many reads wait or `limit_s` seconds have passed.

        Raises:
            DatabaseUnavailableError: The file cannot be read.
        """
        if not self._free_places.acquire(blocking=False):
            return None
        future = self._threads.submit(self._run, work)
        future.add_done_callback(lambda _: self._free_places.release())
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            return None

    async def close(self) -> None:
        """Stop the threads and close their connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._threads.shutdown)
        for database in self._open:
            database.close()

    def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        database: Database | None = getattr(self._local, "database", None)
        if database is None:
            database = self._local.database = Database(self._path, self._schema, is_owner=False)
            self._open.append(database)
        return database.run(work)
