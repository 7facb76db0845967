"""A database in a thread of its own: the event loop never waits for a disk, and a full queue is a miss."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import apsw

from scraper.store.sqlite.database import Database, DatabaseUnavailableError

T = TypeVar("T")

log = logging.getLogger(__name__)

QUEUE_LIMIT = 256
"""Operations that may wait for the thread."""
READ_LIMIT_S = 2.0
CLOSE_LIMIT_S = 5.0


class DatabaseThread:
    """Runs work on one database, in the order of asking; faults are told by None."""

    def __init__(self, database: Database, name: str) -> None:
        self.database = database
        self._name = name
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._room = threading.BoundedSemaphore(QUEUE_LIMIT)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T | None:
        """What `work` finds; None when the database cannot serve it, or not in time."""
        future = self._queue(functools.partial(self._done, work, writes=False))
        if future is None:
            return None
        try:
            async with asyncio.timeout(READ_LIMIT_S):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            return None

    def write(self, work: Callable[[apsw.Connection], None]) -> None:
        """Do `work` soon; returns at once."""
        self._queue(functools.partial(self._done, work, writes=True))

    async def close(self) -> None:
        """Write what is waiting, then close the file."""
        closing = asyncio.wrap_future(self._thread.submit(self.database.close))
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await closing
        except TimeoutError:
            log.warning("%s did not close within %s s", self._name, CLOSE_LIMIT_S)
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    def _queue(self, work: Callable[[], T]) -> Future[T] | None:
        if not self._room.acquire(blocking=False):
            return None
        future = self._thread.submit(work)
        future.add_done_callback(lambda _: self._room.release())
        return future

    def _done(self, work: Callable[[apsw.Connection], T], *, writes: bool) -> T | None:
        try:
            return self.database.run(work, writes=writes)
        except DatabaseUnavailableError:
            return None
