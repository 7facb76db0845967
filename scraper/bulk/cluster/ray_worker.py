"""Worker class for Ray Data: each process of a cluster opens the services once and reads blocks."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import math
import pickle
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import pyarrow as pa
from ray.actor import ActorHandle

from scraper.background_tasks import run_in_background
from scraper.bulk.crawl import CrawlPageReader
from scraper.bulk.local_reading import count_pages_at_once
from scraper.bulk.model import IdSet, JobPage, JobRate, JobSpec, PageOutcome
from scraper.bulk.page_dispatcher import PageDispatcher, ReadPage
from scraper.bulk.page_reader import JobPageReader
from scraper.bulk.schedule import Schedule
from scraper.services import Services
from scraper.settings import Settings

WAITING_BYTES = 128 << 20
"""Bytes of outcomes that are submitted but not collected; with more, `submit` waits."""


@dataclass(frozen=True, slots=True)
class BlockStart:
    """Answer of the collector to a process that starts a block."""

    remaining: tuple[int, ...]
    """Numbers of the pages to read."""
    was_started: bool
    """True if another process or an earlier run may have requested pages of its hosts recently."""


class OutcomeCollector:
    """Collect outcomes as a Ray actor. Its methods are called over the network, several at once, in one event loop."""

    def __init__(self, pause_s: float = 0.0) -> None:
        """Start without outcomes.

        Hosts pause for `pause_s`, because an earlier run may have requested pages recently.
        """
        self._paused_until = time.monotonic() + pause_s
        self._submitted = IdSet()
        self._started = IdSet()
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._changed = asyncio.Condition()
        self._is_stopped = False

    async def start_block(self, block: int, numbers: tuple[int, ...]) -> BlockStart:
        """Start or continue the block with these page numbers; no pages remain if the job was stopped."""
        was_started = block in self._started or time.monotonic() < self._paused_until
        self._started.add(block)
        remaining = () if self._is_stopped else tuple(one for one in numbers if one not in self._submitted)
        return BlockStart(remaining, was_started)

    async def submit(self, numbers: tuple[int, ...], packed: bytes) -> bool:
        """Add the pickled list of outcomes of these page numbers; return False if the job was stopped.

        Wait while `WAITING_BYTES` are not yet collected.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._bytes < WAITING_BYTES or self._is_stopped)
            for number in numbers:
                self._submitted.add(number)
            self._waiting.append(packed)
            self._bytes += len(packed)
            self._changed.notify_all()
        return not self._is_stopped

    async def collect(self, wait_s: float) -> list[bytes]:
        """Return the pickled lists submitted since the last call; wait up to `wait_s` seconds for the first one."""
        async with self._changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._changed.wait_for(lambda: bool(self._waiting))
            found = list(self._waiting)
            self._waiting.clear()
            self._bytes = 0
            self._changed.notify_all()
        return found

    async def is_running(self) -> bool:
        """Return True unless the job was stopped."""
        return not self._is_stopped

    async def stop(self) -> None:
        """Let all processes finish the pages in progress and start no more."""
        async with self._changed:
            self._is_stopped = True
            self._changed.notify_all()


_GATHER_S = 0.2
"""Seconds during which outcomes are gathered before they are submitted."""
_BATCH = 64
"""Outcomes that are submitted without further delay."""
OUTCOMES_LIMIT = 2 * _BATCH
"""Outcomes waiting for submission; with more, no page is started."""
_POLL_S = 2.0
"""Seconds between two checks if the job was stopped."""


class _Block:
    """A block in progress."""

    def __init__(self, pages: int) -> None:
        self.remaining = pages
        self.done = asyncio.Event()
        if not pages:
            self.done.set()

    def count_submitted(self) -> None:
        """Count one submitted page."""
        self.remaining -= 1
        if not self.remaining:
            self.done.set()


class BlockRunner:
    """Read all blocks of this process in one schedule, so that the limits per host apply to all of them."""

    def __init__(
        self,
        collector: OutcomeCollector,
        read: ReadPage,
        rate: JobRate,
        *,
        concurrency: Callable[[], int],
        respects_robots: bool = False,
        on_restarted_block: Callable[[], None] = lambda: None,
        keeps_hosts: bool = False,
    ) -> None:
        """Read `concurrency()` pages at once.

        `on_restarted_block` is called for a block that another process has started. With `respects_robots`, a host may
        require a gap between requests. With `keeps_hosts`, a host may be in several blocks.
        """
        self._collector = collector
        self._rate = rate
        self._on_restarted_block = on_restarted_block
        self._schedule = Schedule(rate, respects_robots=respects_robots, keeps_hosts=keeps_hosts)
        self._pages = PageDispatcher(
            self._schedule, read, self._deliver, concurrency=concurrency, on_change=lambda: None
        )
        self._blocks: dict[int, _Block] = {}
        """Block by page number."""
        self._outcomes: list[PageOutcome] = []
        self._has_outcomes = asyncio.Event()
        self._has_space = asyncio.Event()
        self._is_stopped = False
        self._is_over = False
        """True after the run was stopped or failed."""
        self._error: BaseException | None = None

    async def run(self) -> None:
        """Read the pages of all blocks until canceled or stopped."""
        tasks = [asyncio.create_task(self._submit_repeatedly()), asyncio.create_task(self._poll_running())]
        for task in tasks:
            task.add_done_callback(self._on_task_end)
        try:
            await self._pages.run(lambda: self._is_stopped)
            await self._flush()
        except BaseException as error:
            self._error = error
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self._is_over = True
            for block in self._blocks.values():
                block.done.set()

    async def read(self, number: int, pages: Sequence[JobPage]) -> int:
        """Read one block and return how many of its pages this process has read.

        Raises:
            BaseException: The run failed.
        """
        start = await self._collector.start_block(number, tuple(page.number for page in pages))
        if self._is_over:
            return self._check_error(0)
        if start.was_started:
            self._on_restarted_block()
        remaining = set(start.remaining)
        requested = [page for page in pages if page.number in remaining]
        block = _Block(len(requested))
        self._add_pages(requested, block, pauses_hosts=start.was_started)
        await block.done.wait()
        return self._check_error(len(requested) - block.remaining)

    def _check_error(self, read: int) -> int:
        if self._error is not None:
            raise self._error
        return read

    def _add_pages(self, pages: Sequence[JobPage], block: _Block, *, pauses_hosts: bool) -> None:
        by_host: dict[str, list[JobPage]] = defaultdict(list)
        for page in pages:
            by_host[page.host].append(page)
            self._blocks[page.number] = block
        now = time.monotonic()
        for host, host_pages in by_host.items():
            free_at = now + self._rate.gap_s if pauses_hosts else -math.inf
            self._schedule.add_more_pages(host, host_pages, now=now, free_at=free_at)
        self._schedule.pop_hosts_needing_pages()
        self._pages.notify()

    async def _deliver(self, outcome: PageOutcome) -> None:
        # If submitting ends, the tasks that wait here are canceled.
        while len(self._outcomes) >= OUTCOMES_LIMIT:
            self._has_space.clear()
            await self._has_space.wait()
        self._outcomes.append(outcome)
        self._has_outcomes.set()

    async def _submit_repeatedly(self) -> None:
        while True:
            await self._has_outcomes.wait()
            if len(self._outcomes) < _BATCH:
                await asyncio.sleep(_GATHER_S)
            await self._flush()

    async def _flush(self) -> None:
        outcomes, self._outcomes = self._outcomes, []
        self._has_outcomes.clear()
        self._has_space.set()
        if not outcomes:
            return
        numbers = tuple(outcome.page.number for outcome in outcomes)
        packed = await asyncio.to_thread(pickle.dumps, outcomes, pickle.HIGHEST_PROTOCOL)
        if not await self._collector.submit(numbers, packed):
            self._stop()
        for number in numbers:
            self._blocks.pop(number).count_submitted()

    async def _poll_running(self) -> None:
        while not self._is_stopped:
            await asyncio.sleep(_POLL_S)
            if not await self._collector.is_running():
                self._stop()

    def _stop(self) -> None:
        self._is_stopped = True
        self._pages.notify()

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._pages.fail(error)


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
