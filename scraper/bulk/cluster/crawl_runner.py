"""Crawl sites on a Ray cluster: this process chooses the pages, and each site is read by one process at a time."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pickle
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import ray
from ray.exceptions import RayActorError

from scraper.bulk.cluster.ray_worker import RayWorker, make_block_table
from scraper.bulk.crawl import CrawlPlanner, choose_pages
from scraper.bulk.errors import BulkError
from scraper.bulk.job import BulkJob
from scraper.bulk.model import JobPage, PageOutcome
from scraper.settings import Settings

_BLOCK_PAGES = 16
"""Pages of a site that are sent to a process at once. With fewer, more links are known when pages are chosen."""
_SITES_PER_PROCESS = 32
"""Sites that one process reads at once: many, because few pages of a host may be requested at once."""
_COLLECT_WAIT_S = 0.2
"""Seconds that one call waits for outcomes."""
_BLOCK_TRIES = 3
"""Attempts to read one block; another process gets it after its process has died."""
_CLOSE_LIMIT_S = 10.0


class _CrawlProcess:
    """Ray actor that reads the blocks of some sites."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Open the services, with the arguments of `RayWorker`."""
        self._reader = RayWorker(*arguments, **options)

    def read_block(self, block: pa.Table) -> None:
        """Read one block."""
        self._reader(block)

    def close(self) -> None:
        """Close the services."""
        self._reader.close()


class CrawlRun:
    """One run of a crawl; sites stay with their process, which knows when their hosts were requested last."""

    def __init__(
        self,
        job: BulkJob,
        planner: CrawlPlanner,
        settings: Settings,
        stop: asyncio.Event,
        *,
        collector: Any,
        processes: int,
        cpus: float,
    ) -> None:
        """Read with `processes` processes of `cpus` CPUs each."""
        self._job = job
        self._planner = planner
        self._settings = settings
        self._stop = stop
        self._collector = collector
        self._cpus = cpus
        self._processes = [self._start_process(is_resumed=job.is_resumed) for _ in range(processes)]
        self._blocks = itertools.count()
        self._reading: dict[int, asyncio.Task[None]] = {}
        """Blocks in progress by site."""

    async def run(self) -> None:
        """Read until nothing is left that is worth a visit, or `stop` is set.

        Raises:
            BulkError: Rows cannot be written, or the processes of a block died `_BLOCK_TRIES` times.
            RayError: The cluster was lost.
        """
        try:
            while True:
                ended = [site for site, task in self._reading.items() if task.done()]
                await self._write(await self._collector.collect.remote(0.0 if ended else _COLLECT_WAIT_S))
                for site in ended:
                    self._reading.pop(site).result()
                if self._stop.is_set():
                    await self._collector.stop.remote()
                else:
                    await self._start_blocks()
                if not self._reading:
                    await self._write(await self._collector.collect.remote(0.0))
                    return
        finally:
            for task in self._reading.values():
                task.cancel()
            await self._close()

    async def _start_blocks(self) -> None:
        for site in self._planner.sites():
            if site not in self._reading and not self._planner.count_reading(site):
                pages = await choose_pages(self._job, self._planner, site, _BLOCK_PAGES)
                if pages:
                    self._reading[site] = asyncio.create_task(self._read_block(site, pages))

    async def _read_block(self, site: int, pages: Sequence[JobPage]) -> None:
        table = make_block_table(next(self._blocks), list(pages))
        place = site % len(self._processes)
        for _ in range(_BLOCK_TRIES):
            process = self._processes[place]
            try:
                await process.read_block.remote(table)
                return
            except RayActorError:
                if self._processes[place] is process:
                    # Its hosts may have been asked just now.
                    self._processes[place] = self._start_process(is_resumed=True)
        raise BulkError(f"The processes that read {pages[0].host} died. Run the same command again.")

    async def _write(self, packed: Iterable[bytes]) -> None:
        for part in packed:
            outcomes: list[PageOutcome] = pickle.loads(part)
            for outcome in outcomes:
                await self._job.deliver(self._planner.take(outcome))

    def _start_process(self, *, is_resumed: bool) -> Any:
        # A process may be used before its services are open: Ray lets the call wait.
        remote = ray.remote(_CrawlProcess).options(num_cpus=self._cpus, max_concurrency=_SITES_PER_PROCESS)
        return remote.remote(
            self._job.spec,
            self._settings,
            self._collector,
            keep_snapshots=self._job.needs_snapshots,
            is_resumed=is_resumed,
        )

    async def _close(self) -> None:
        """Close the browsers of all processes, then end the processes."""
        with contextlib.suppress(RayActorError, TimeoutError):
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await asyncio.gather(*(process.close.remote() for process in self._processes), return_exceptions=True)
        for process in self._processes:
            ray.kill(process)
