"""What Ray Data calls in each process of a cluster: services opened once, blocks read by them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

import pyarrow as pa
from ray.actor import ActorHandle

from scraper.app import App
from scraper.bulk.cluster.block_pages import BlockPageRunner, BlockStart
from scraper.bulk.model import JobPage, JobSpec
from scraper.bulk.page_reader import JobPageReader
from scraper.settings import Settings

T = TypeVar("T")

OPEN_LIMIT_S = 60.0
CLOSE_LIMIT_S = 10.0


class BlockReader:
    """One in each process; called by several threads at once."""

    def __init__(
        self,
        order: JobSpec,
        settings: Settings,
        desk: ActorHandle[Any],
        *,
        keep_snapshots: bool,
        resumed: bool,
    ) -> None:
        # Ray's own lines are many; a page that fails stands in the output.
        logging.basicConfig(level=logging.ERROR)
        self._order = order
        self._settings = settings
        self._desk = _Desk(desk)
        self._keep_snapshots = keep_snapshots
        self._resumed = resumed
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bulk", daemon=True)
        self._thread.start()
        self._services = contextlib.AsyncExitStack()
        self._pages: BlockPageRunner = self._submit(self._open()).result(OPEN_LIMIT_S)

    def __call__(self, block: pa.Table) -> dict[str, list[int]]:
        """Read one block; what of it was read here."""
        number = block.column("block")[0].as_py()
        read = self._submit(self._pages.read(number, _pages_of(block))).result()
        return {"block": [number], "read": [read]}

    def __del__(self) -> None:
        """Ray lets go of it at the end of a job."""
        with contextlib.suppress(FutureTimeout, RuntimeError):
            self._submit(self._services.aclose()).result(CLOSE_LIMIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self) -> BlockPageRunner:
        app = await self._services.enter_async_context(App.open(self._settings))
        reader = JobPageReader(app.fetcher, app.workers, self._order, keep_snapshots=self._keep_snapshots)
        if self._resumed:
            app.fetcher.assume_recent_requests()
        at_once = self._order.pace.concurrency or self._settings.peek_slots + self._settings.render_slots
        pages = BlockPageRunner(
            self._desk,
            reader.read,
            self._order.pace,
            concurrency=at_once,
            hosts_are_heard=self._settings.robots != "off",
            on_again=app.fetcher.assume_recent_requests,
        )
        await self._services.enter_async_context(_running(pages))
        return pages


class _Desk:
    """The desk, spoken to through Ray."""

    def __init__(self, actor: ActorHandle[Any]) -> None:
        self._actor = actor

    async def begin(self, block: int, numbers: tuple[int, ...]) -> BlockStart:
        begun: BlockStart = await self._actor.begin.remote(block, numbers)
        return begun

    async def hand_in(self, numbers: tuple[int, ...], packed: bytes) -> bool:
        going_on: bool = await self._actor.hand_in.remote(numbers, packed)
        return going_on

    async def going_on(self) -> bool:
        going_on: bool = await self._actor.going_on.remote()
        return going_on


@contextlib.asynccontextmanager
async def _running(pages: BlockPageRunner) -> AsyncIterator[None]:
    task = asyncio.create_task(pages.run(), name="bulk pages")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def table_of(number: int, pages: list[JobPage]) -> pa.Table:
    """A block as Ray Data carries it."""
    return pa.table(
        {
            "block": pa.array([number] * len(pages), pa.int64()),
            "number": pa.array([page.number for page in pages], pa.int64()),
            "url": [page.url for page in pages],
            "host": [page.host for page in pages],
            "problem": [page.problem for page in pages],
        }
    )


def _pages_of(block: pa.Table) -> list[JobPage]:
    columns = (block.column(name).to_pylist() for name in ("number", "url", "host", "problem"))
    return [JobPage(*values) for values in zip(*columns, strict=True)]
