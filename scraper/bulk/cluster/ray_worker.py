"""Worker class for Ray Data: each process of a cluster opens the services once and reads blocks."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar, cast

import pyarrow as pa
from ray.actor import ActorHandle

from scraper.background_tasks import run_in_background
from scraper.bulk.cluster.block_runner import BlockRunner, OutcomeCollector
from scraper.bulk.crawl import CrawlPageReader
from scraper.bulk.local_reading import count_pages_at_once
from scraper.bulk.model import JobPage, JobSpec
from scraper.bulk.page_reader import JobPageReader
from scraper.services import Services
from scraper.settings import Settings

T = TypeVar("T")

_OPEN_LIMIT_S, _CLOSE_LIMIT_S = 60.0, 10.0
"""Seconds to open, and to close, the services."""


class RayWorker:
    """Read blocks in one process; several threads may call it at once."""

    def __init__(
        self, spec: JobSpec, settings: Settings, collector: ActorHandle[Any], *, keep_snapshots: bool, is_resumed: bool
    ) -> None:
        """Open the services. `is_resumed` is True if an earlier run may have requested pages of any host recently.

        Raises:
            TimeoutError: The services did not open within `_OPEN_LIMIT_S`.
            SettingsError: The browsers cannot be configured.
        """
        # Ray logs many lines; failed pages are in the output.
        logging.basicConfig(level=logging.ERROR)
        self._spec = spec
        self._settings = settings
        self._collector = cast(OutcomeCollector, _RemoteCollector(collector))
        self._keep_snapshots = keep_snapshots
        self._is_resumed = is_resumed
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bulk", daemon=True)
        self._thread.start()
        self._services = contextlib.AsyncExitStack()
        self._pages: BlockRunner = self._submit(self._open()).result(_OPEN_LIMIT_S)

    def __call__(self, block: pa.Table) -> dict[str, list[int]]:
        """Read one block from `make_block_table`.

        Return its number as `block`, and the number of its pages that were read here as `read`.
        """
        number = block.column("block")[0].as_py()
        read = self._submit(self._pages.read(number, _load_pages(block))).result()
        return {"block": [number], "read": [read]}

    def __del__(self) -> None:
        """Close the services, when Ray drops the object at the end of a job."""
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)

    def close(self) -> None:
        """Close the services."""
        with contextlib.suppress(FutureTimeout, RuntimeError):
            self._submit(self._services.aclose()).result(_CLOSE_LIMIT_S)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self) -> BlockRunner:
        app = await self._services.enter_async_context(Services.open(self._settings))
        make_reader = JobPageReader if self._spec.crawl is None else CrawlPageReader
        reader = make_reader(app.fetcher, app.workers, self._spec, keep_snapshots=self._keep_snapshots)
        if self._is_resumed:
            app.fetcher.assume_recent_requests()
        pages = BlockRunner(
            self._collector,
            reader.read,
            self._spec.rate,
            concurrency=functools.partial(count_pages_at_once, self._spec.rate, app.browsers),
            respects_robots=self._settings.robots != "off",
            on_restarted_block=app.fetcher.assume_recent_requests,
            keeps_hosts=self._spec.crawl is not None,
        )
        await self._services.enter_async_context(run_in_background(pages.run()))
        return pages


class _RemoteCollector:
    """Client of the collector: each method returns an awaitable reference to the result of the Ray actor."""

    def __init__(self, actor: ActorHandle[Any]) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> Callable[..., Any]:
        remote: Callable[..., Any] = getattr(self._actor, name).remote
        return remote


def make_block_table(number: int, pages: list[JobPage]) -> pa.Table:
    """Return a block as a table for Ray Data, with one row for each page and the block's number in every row."""
    return pa.table(
        {
            "block": pa.array([number] * len(pages), pa.int64()),
            "number": pa.array([page.number for page in pages], pa.int64()),
            "url": [page.url for page in pages],
            "host": [page.host for page in pages],
            "problem": [page.problem for page in pages],
            "other_url": [page.other_url for page in pages],
            "is_start": pa.array([page.is_start for page in pages], pa.bool_()),
            "site": pa.array([page.site for page in pages], pa.int64()),
        }
    )


def _load_pages(block: pa.Table) -> list[JobPage]:
    names = ("number", "url", "host", "problem", "other_url", "is_start", "site")
    columns = (block.column(name).to_pylist() for name in names)
    return [JobPage(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]
