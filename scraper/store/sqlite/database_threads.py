"""Run operations on a SQLite file in threads, so that the event loop never waits for the disk."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from scraper.store.sqlite.database import Database, DatabaseSchema, DatabaseUnavailableError

T = TypeVar("T")

log = logging.getLogger(__name__)

_READERS = 2
"""Reading threads. SQLite runs without Python's lock; more threads than cores of a small machine do not help."""
_WAITING_LIMIT = 256
"""Reads that may wait. Further reads count as misses."""
_CLOSE_LIMIT_S = 5.0


class DatabaseThreads:
    """One thread that writes to a file, and threads that read it at the same time; each has its own connection.

    The writing connection detects, logs and repairs problems of the file.
    """

    def __init__(self, path: Path, schema: DatabaseSchema, name: str) -> None:
        """Prepare the threads, which open the file on first use; their names begin with `name`."""
        self.writer = ThreadPoolExecutor(1, thread_name_prefix=f"{name}-writer")
        self.database = Database(path, schema)
        """Connection of the writing thread."""
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix=f"{name}-reader")
        self._schema = schema
        self._waiting = 0
        self._local = threading.local()
        self._connections: list[Database] = []

    async def read(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T | None:
        """Return the result of `work`, or None if the file is unavailable, too many reads wait, or time is up."""
        if self._waiting >= _WAITING_LIMIT:
            return None
        self._waiting += 1
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)
        except TimeoutError:
            return None
        except DatabaseUnavailableError:
            # The writer can create or repair the file.
            return await self.run_in_writer(work, limit_s)
        finally:
            self._waiting -= 1

    async def run_in_writer(
        self, work: Callable[[apsw.Connection], T], limit_s: float | None = None, *, writes: bool = False
    ) -> T | None:
        """Run `work` in the writing thread; return None if the file is unavailable or time is up."""
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.wrap_future(self.writer.submit(self.try_run, work, writes=writes))
        except TimeoutError:
            return None

    def try_run(self, work: Callable[[apsw.Connection], T], *, writes: bool = False) -> T | None:
        """Run `work` in this thread, which must be the writing one; return None if the file is unavailable."""
        try:
            return self.database.run(work, writes=writes)
        except DatabaseUnavailableError:
            return None

    async def close(self) -> None:
        """Stop the threads and close their connections."""
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                self._readers.shutdown(wait=False, cancel_futures=True)
                await asyncio.to_thread(self._readers.shutdown)
                for database in self._connections:
                    database.close()
                await asyncio.wrap_future(self.writer.submit(self.database.close))
        except TimeoutError:
            log.warning("%s did not close within %s s", self.database.path.name, _CLOSE_LIMIT_S)
        finally:
            self.writer.shutdown(wait=False, cancel_futures=True)

    def _read(self, work: Callable[[apsw.Connection], T]) -> T:
        database: Database | None = getattr(self._local, "database", None)
        if database is None:
            database = self._local.database = Database(self.database.path, self._schema, is_owner=False)
            self._connections.append(database)
        return database.run(work)
