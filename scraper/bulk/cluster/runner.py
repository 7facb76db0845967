"""Run a job on a Ray cluster: processes read blocks of pages or crawl sites; a collector returns the rows."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
import logging
import math
import pickle
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import ray
import ray.data
from ray.actor import ActorHandle
from ray.exceptions import RayActorError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from scraper.bulk.cluster.ray_connection import connect_cluster, get_error_line, run_in_daemon_thread
from scraper.bulk.cluster.ray_worker import OutcomeCollector, RayWorker, make_block_table
from scraper.bulk.crawl import CrawlPlanner, choose_pages, open_planner
from scraper.bulk.job import BulkJob
from scraper.bulk.job_database import JobDatabase
from scraper.bulk.model import BulkError, JobPage, PageOutcome
from scraper.settings import Settings

_BLOCK_PAGES = 16
"""Pages of a site that are sent to a process at once. With fewer, more links are known when pages are chosen."""
_SITES_PER_PROCESS = 32
"""Sites that one process reads at once: many, because few pages of a host may be requested at once."""
_CRAWL_COLLECT_WAIT_S = 0.2
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
                await self._write(await self._collector.collect.remote(0.0 if ended else _CRAWL_COLLECT_WAIT_S))
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


log = logging.getLogger(__name__)

Notify = Callable[[str], None]

_PROCESS_CPUS = 2.0
"""CPUs per process: its browser and its workers use two."""
_PEEKS_PER_CPU, _RENDERS_PER_CPU, _MAX_SLOTS_PER_CPU = 4, 2, 24
"""Values per CPU of the settings `peek_slots`, `render_slots` and `max_slots`, as on a whole machine.

They limit the pages read as served and the pages rendered at once. The third applies while CPU and memory are free.
"""
_BLOCKS_PER_PROCESS = 8
"""Blocks read at once in one process. A block may be a single host, from which only few pages may be read at once."""
_COLLECT_WAIT_S = 1.0
"""Seconds that one call waits for outcomes."""
_PASSES_LIMIT = 3
"""Passes over the remaining pages. A block whose process dies repeatedly is read in the next pass."""


async def run_on_cluster(job: BulkJob, settings: Settings, address: str, stop: asyncio.Event, notify: Notify) -> None:
    """Read pages until the list is complete or `stop` is set; show messages to the user with `notify`.

    Raises:
        BulkError: The cluster is unavailable, pages remain after all passes, or rows cannot be written.
    """
    async with connect_cluster(address):
        processes, cpus = await asyncio.to_thread(_plan_processes)
        notify(f"{processes} processes of {cpus:g} CPUs on the cluster")
        job.stats.minimum_s = await _make_minimum_s(job)
        process_settings = _make_process_settings(settings, job, cpus)
        if job.spec.crawl is not None:
            await _crawl(job, process_settings, stop, processes, cpus)
            return
        run = _Run(job, process_settings, stop, processes, cpus)
        try:
            for _ in range(_PASSES_LIMIT):
                before = job.stats.delivered
                if await run.run_pass() or stop.is_set():
                    return
                if job.stats.delivered == before:
                    break
        except RayError as error:
            raise BulkError(
                f"The cluster was lost: {get_error_line(error)} Written pages are safe: run the same command again."
            ) from error
    raise BulkError(f"The cluster did not read all pages: {run.problem or 'its processes died'}.")


async def _crawl(job: BulkJob, settings: Settings, stop: asyncio.Event, processes: int, cpus: float) -> None:
    planner = await open_planner(job)
    if not planner.has_next():
        return
    collector = _create_collector(0.0)
    count = min(processes, len(planner.sites()))
    run = CrawlRun(job, planner, settings, stop, collector=collector, processes=count, cpus=cpus)
    try:
        await run.run()
    except RayError as error:
        raise BulkError(
            f"The cluster was lost: {get_error_line(error)} Written pages are safe: run the same command again."
        ) from error
    finally:
        ray.kill(collector)
    await planner.save(job)


def _create_collector(pause_s: float) -> Any:
    """Start the collector on the node of the job, so that it survives failures of other nodes."""
    on_this_node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(OutcomeCollector).options(num_cpus=0, scheduling_strategy=on_this_node).remote(pause_s)


class _Run:
    def __init__(self, job: BulkJob, settings: Settings, stop: asyncio.Event, processes: int, cpus: float) -> None:
        self.problem = ""
        self._job = job
        self._settings = settings
        self._stop = stop
        self._processes = processes
        self._cpus = cpus
        self._is_resumed = job.is_resumed
        """True if pages of any host may have been requested recently."""

    async def run_pass(self) -> bool:
        """Distribute the remaining pages and write the outcomes; return True if the list is complete."""
        counts = await self._job.counts()
        if counts.done >= counts.pages:
            return True
        collector = _create_collector(self._job.spec.rate.gap_s if self._is_resumed else 0.0)
        try:
            dataset = await self._make_dataset(collector, counts.pages - counts.done)
            self._is_resumed = True
            working = run_in_daemon_thread(lambda: _run_dataset(dataset), name="blocks")
            try:
                await self._collect_until_done(collector, working)
            finally:
                # After a cancellation, the thread is not waited for.
                working.cancel()
            while packed := await collector.collect.remote(0.0):
                await self._write(packed)
        finally:
            ray.kill(collector)
        await self._job.flush()
        counts = await self._job.counts()
        return counts.done >= counts.pages

    async def _make_dataset(self, collector: ActorHandle[Any], pages: int) -> ray.data.Dataset:
        number = 0
        references: list[Any] = []
        async for block in iter_blocks(self._job, size=block_size(pages, self._processes)):
            references.append(ray.put(make_block_table(number, block)))
            number += 1
        return ray.data.from_arrow_refs(references).map_batches(
            RayWorker,
            batch_size=None,
            batch_format="pyarrow",
            fn_constructor_args=(self._job.spec, self._settings, collector),
            fn_constructor_kwargs={"keep_snapshots": self._job.needs_snapshots, "is_resumed": self._is_resumed},
            compute=ray.data.ActorPoolStrategy(
                size=min(self._processes, number),
                max_tasks_in_flight_per_actor=_BLOCKS_PER_PROCESS,
                max_concurrent_calls_per_actor=_BLOCKS_PER_PROCESS,
                enable_true_multi_threading=True,
            ),
            num_cpus=self._cpus,
        )

    async def _collect_until_done(self, collector: ActorHandle[Any], work: asyncio.Future[None]) -> None:
        """Write outcomes until all processes have ended; after a failure, let them finish their running pages."""
        try:
            while not work.done():
                if self._stop.is_set():
                    await collector.stop.remote()
                await self._write(await collector.collect.remote(_COLLECT_WAIT_S))
        except Exception:
            await self._stop_processes(collector, work)
            raise
        await self._stop_processes(collector, work)

    async def _stop_processes(self, collector: ActorHandle[Any], work: asyncio.Future[None]) -> None:
        await collector.stop.remote()
        self.problem = await _wait_for_problem(work)

    async def _write(self, packed: list[bytes]) -> None:
        for part in packed:
            outcomes: list[PageOutcome] = pickle.loads(part)
            for outcome in outcomes:
                await self._job.deliver(outcome)


async def _make_minimum_s(job: BulkJob) -> Callable[[], float]:
    """Return a function that returns the minimum seconds until the job ends.

    The host with the most pages decides: its requests must be a gap apart.
    """
    max_pending = max((host.pending for host in await job.query(JobDatabase.list_hosts)), default=0)
    ends_at = time.monotonic() + max_pending * job.spec.rate.gap_s
    return lambda: max(0.0, ends_at - time.monotonic())


def _plan_processes() -> tuple[int, float]:
    """Return the number of processes that fit on the cluster, and the CPUs of each."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    machines = [float(node["Resources"].get("CPU", 0.0)) for node in nodes if node["Alive"]]
    with_cpus = [cpus for cpus in machines if cpus >= 1] or [1.0]
    each = min(_PROCESS_CPUS, *with_cpus)
    return max(1, sum(math.floor(cpus / each) for cpus in with_cpus)), each


def _make_process_settings(settings: Settings, job: BulkJob, cpus: float) -> Settings:
    """Return the settings of one process, which may use less than the whole machine of the job."""
    if job.spec.rate.concurrency is not None:
        return settings
    return dataclasses.replace(
        settings,
        peek_slots=max(1, round(_PEEKS_PER_CPU * cpus)),
        render_slots=max(1, round(_RENDERS_PER_CPU * cpus)),
        max_slots=max(1, round(_MAX_SLOTS_PER_CPU * cpus)),
    )


def _run_dataset(dataset: ray.data.Dataset) -> None:
    for _ in dataset.iter_batches(batch_size=None):
        pass


async def _wait_for_problem(work: asyncio.Future[None]) -> str:
    """Wait for the end of the run; return the reason why Ray failed, or an empty string."""
    await asyncio.wait({work})
    error = work.exception()
    if error is None:
        return ""
    if not isinstance(error, RayError):
        raise error
    log.error("the cluster failed", exc_info=error)
    return get_error_line(error)


_MIN_BLOCK_PAGES, _MAX_BLOCK_PAGES = 16, 256
"""Pages of a block of small hosts: few enough to balance the end of a job, enough to limit the overhead."""
_TOTAL_BLOCKS_PER_PROCESS = 32
"""Blocks per process of a whole job, if hosts are small enough."""
_HOSTS_PER_LOOKUP = 200
"""Hosts looked up in one query."""


def block_size(pages: int, processes: int) -> int:
    """Return the minimum pages of a block for a job of `pages` pages; large hosts make larger blocks."""
    return max(_MIN_BLOCK_PAGES, min(_MAX_BLOCK_PAGES, pages // (processes * _TOTAL_BLOCKS_PER_PROCESS)))


async def iter_blocks(job: BulkJob, *, size: int) -> AsyncIterator[list[JobPage]]:
    """Yield the remaining pages in blocks of whole hosts, largest hosts first; only the last has under `size` pages."""
    block_pages: list[JobPage] = []
    all_hosts = await job.query(JobDatabase.list_hosts)
    for start in range(0, len(all_hosts), _HOSTS_PER_LOOKUP):
        hosts = all_hosts[start : start + _HOSTS_PER_LOOKUP]
        max_pending = max(host.pending for host in hosts)
        for pages in await job.list_pages([(host.number, 0) for host in hosts], count=max_pending):
            block_pages += pages
            if len(block_pages) >= size:
                yield block_pages
                block_pages = []
    if block_pages:
        yield block_pages
