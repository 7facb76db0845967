"""Connect to a Ray cluster within a time limit, and run calls that cannot be interrupted in threads."""

import asyncio
import contextlib
import logging
import os
import queue
import signal
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import Any, Self
from urllib.parse import urlsplit

import ray

from scraper.bulk.model import ClusterUnavailableError

log = logging.getLogger(__name__)

_LOCAL = "local"
"""Address for a new cluster on this machine."""
_PROBE_LIMIT_S = 10.0
"""Seconds to connect to the address. Ray itself retries an unreachable address forever, and logs each attempt."""
CONNECT_LIMIT_S = 120.0
"""Seconds. Connecting takes seconds, and minutes on a loaded machine."""
_DISCONNECT_LIMIT_S, _CANCELLED_LIMIT_S = 30.0, 2.0
"""Seconds to disconnect, normally and after a cancellation; a cluster releases the resources of an ended process."""
_STORE_BYTES = 256 << 20
"""Bytes of Ray's object store in a new cluster; rows stay in it only until they are collected."""


@contextlib.asynccontextmanager
async def connect_cluster(address: str) -> AsyncIterator[None]:
    """Connect to a cluster, or start a new one, for the block.

    `address` is `host:port`, a `ray://` URL, `auto` for the cluster of this machine, or `local` for a new one.

    Raises:
        ClusterUnavailableError: No cluster answers at the address, or Ray cannot start.
    """
    logging.getLogger("ray").setLevel(logging.ERROR)
    with _RayThread() as thread:
        try:
            await _probe(address)
            await thread.run(lambda: _connect(address), CONNECT_LIMIT_S)
        except TimeoutError:
            raise ClusterUnavailableError(address, "it does not answer") from None
        except Exception as error:
            # Ray raises a plain Exception if its processes do not start in time.
            log.debug("Ray did not start", exc_info=True)
            raise ClusterUnavailableError(address, _describe(error)) from None
        _restore_sigterm()
        limit_s = _DISCONNECT_LIMIT_S
        try:
            yield
        except asyncio.CancelledError:
            limit_s = _CANCELLED_LIMIT_S
            raise
        finally:
            with contextlib.suppress(TimeoutError):
                await thread.run(ray.shutdown, limit_s)


def get_error_line(error: BaseException) -> str:
    """Return the first line of a Ray error, up to 300 characters: such errors can have many lines."""
    return str(error).strip().partition("\n")[0][:300]


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return get_error_line(error).rstrip(".") or type(error).__name__


def _connect(address: str) -> None:
    options: dict[str, Any] = {}
    if address == _LOCAL:
        options = {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)


def _restore_sigterm() -> None:
    """Restore the SIGTERM handler: Ray's handler prints a stack and ends the process three seconds later."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM) or signal.SIG_DFL)


async def _probe(address: str) -> None:
    """Connect to the host of the address; raise OSError or TimeoutError if it does not answer."""
    if ":" not in address:
        return
    parts = urlsplit(address if "//" in address else f"//{address}")
    async with asyncio.timeout(_PROBE_LIMIT_S):
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.close()


class _RayThread:
    """Daemon thread for calls that cannot be interrupted; a new cluster ends with the thread that started it."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[Callable[[], object], Future[None]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="ray", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._queue.put(None)

    async def run(self, work: Callable[[], object], limit_s: float) -> None:
        """Run `work` in the thread.

        Raises:
            TimeoutError: It takes longer than `limit_s` seconds.
            BaseException: An exception of `work`.
        """
        done: Future[None] = Future()
        self._queue.put((work, done))
        async with asyncio.timeout(limit_s):
            await asyncio.wrap_future(done)

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            work, done = item
            if not done.set_running_or_notify_cancel():
                continue
            try:
                work()
            except BaseException as error:  # passed on to the caller that waits
                done.set_exception(error)
            else:
                done.set_result(None)
