"""A connection to a Ray cluster: it stands within a time, or one sentence says why it does not."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import signal
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, Self
from urllib.parse import urlsplit

import ray
import ray.data
from ray.exceptions import RayError

from scraper.bulk.errors import BulkError

OWN = "local"
PROBE_S = 10.0
"""Ray itself goes on asking an address at which nobody is, for good, in lines of its own."""
JOIN_S = 120.0
"""Joining takes seconds, and minutes on a machine under load."""
LEAVE_S = 30.0
LEAVE_AT_ONCE_S = 2.0
"""Where it is to end at once; a cluster lets go of what a process had when that process is over."""
STORE_BYTES = 256 << 20
"""Of a cluster of our own: rows stay in Ray's memory only until they are collected."""


@contextlib.asynccontextmanager
async def connected(address: str) -> AsyncIterator[None]:
    """A connection to the cluster, or a cluster of our own, for the time of the block.

    Raises:
        BulkError: nobody answers there as a cluster does.
    """
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with _Thread() as thread:
        try:
            await _probe(address)
            await thread.do(lambda: _join(address), JOIN_S)
        except TimeoutError:
            raise BulkError(f"The cluster at {address} cannot be reached: it does not answer.") from None
        except (RayError, OSError, RuntimeError, ValueError) as error:
            raise BulkError(f"The cluster at {address} cannot be reached: {_reason(error)}.") from None
        _take_back_signals()
        ray.data.DataContext.get_current().enable_progress_bars = False
        leave_s = LEAVE_S
        try:
            yield
        except asyncio.CancelledError:
            leave_s = LEAVE_AT_ONCE_S
            raise
        finally:
            with contextlib.suppress(TimeoutError):
                await thread.do(ray.shutdown, leave_s)


def first_line(error: BaseException) -> str:
    """What a person is told of an error of Ray's, which can have many lines."""
    return str(error).strip().partition("\n")[0][:300]


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return first_line(error).rstrip(".")


def _join(address: str) -> None:
    own: dict[str, Any] = {}
    if address == OWN:
        own = {"include_dashboard": False, "object_store_memory": STORE_BYTES}
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)


def _take_back_signals() -> None:
    """Ray answers SIGTERM with its stack, and ends the process three seconds later."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM) or signal.SIG_DFL)


async def _probe(address: str) -> None:
    """Raises OSError, TimeoutError or ValueError where the address names a host that does not answer."""
    if ":" not in address:
        return
    parts = urlsplit(address if "//" in address else f"//{address}")
    async with asyncio.timeout(PROBE_S):
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.close()


_Work = tuple[Callable[[], object], "asyncio.Future[None]"]


class _Thread:
    """Does what nothing can end, without holding up the end of the process.

    It lives as long as the connection: the kernel ends a cluster of our own with the thread that started it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._works: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="ray", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._works.put(None)

    async def do(self, work: Callable[[], object], limit_s: float) -> None:
        """Do `work`.

        Raises:
            TimeoutError: it takes longer.
            BaseException: what it raised.
        """
        done: asyncio.Future[None] = self._loop.create_future()
        self._works.put((work, done))
        async with asyncio.timeout(limit_s):
            await done

    def _run(self) -> None:
        while (got := self._works.get()) is not None:
            if not done_in(self._loop, *got):
                return


def aside(work: Callable[[], object], *, name: str) -> asyncio.Future[None]:
    """Do `work` in a thread of its own; what comes of it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    threading.Thread(target=done_in, args=(loop, work, done), name=name, daemon=True).start()
    return done


def done_in(loop: asyncio.AbstractEventLoop, work: Callable[[], object], done: asyncio.Future[None]) -> bool:
    """Do `work` in this thread and tell a loop what came of it; whether there is anybody left to be told."""
    fault: BaseException | None = None
    try:
        work()
    except BaseException as error:  # whatever it is, it belongs to whoever waits
        fault = error
    try:
        loop.call_soon_threadsafe(_end, done, fault)
    except RuntimeError:
        return False
    return True


def _end(done: asyncio.Future[None], fault: BaseException | None) -> None:
    if done.done():
        return
    if fault is None:
        done.set_result(None)
    else:
        done.set_exception(fault)
