"""Run a job on a Ray cluster: give blocks of pages to its processes, and write the outcomes that come back."""

import asyncio
import contextlib
import dataclasses
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from scraper.bulk.cluster.ray_connection import connect_cluster, get_error_line
from scraper.bulk.cluster.reader_process import ReaderProcess
from scraper.bulk.crawl import CrawlPlanner, is_complete, open_planner
from scraper.bulk.job import BulkJob
from scraper.bulk.job_database import JobDatabase
from scraper.bulk.model import BulkError, JobPage, PageOutcome
from scraper.bulk.page_dispatcher import GRACE_S
from scraper.settings import Settings

Notify = Callable[[str], None]

_PROCESS_CPUS = 2.0
"""CPUs per process: its browser and its workers use two."""
_PEEKS_PER_CPU, _RENDERS_PER_CPU, _MAX_SLOTS_PER_CPU = 4, 2, 24
"""Values per CPU of the settings `peek_slots`, `render_slots` and `max_slots`, as on a whole machine.

They limit the pages read as served and the pages rendered at once. The third applies while CPU and memory are free.
"""
_HOSTS_PER_PROCESS = 64
"""Hosts that one process reads at once: many, because few pages of a host may be requested at once."""
_SITE_PAGES = 16
"""Pages of a crawled site that a process gets at once. With fewer, more links are known when pages are chosen."""
_COLLECT_WAIT_S = 1.0
_MAX_DEATHS = 3
"""Processes that may die or not open in one place one after the other without an outcome."""
_OPEN_LIMIT_S, _CLOSE_LIMIT_S = 60.0, 10.0
"""Seconds until a process has started and opened its services, and to close them."""


async def run_on_cluster(job: BulkJob, settings: Settings, address: str, stop: asyncio.Event, notify: Notify) -> None:
    """Read pages until the job is complete or `stop` is set; show messages to the user with `notify`.

    Raises:
        BulkError: The cluster is unavailable, its processes die repeatedly, or rows cannot be written.
    """
    async with connect_cluster(address):
        processes, cpus = await asyncio.to_thread(_plan_processes)
        notify(f"{processes} processes of {cpus:g} CPUs on the cluster")
        most_pages = max((host.pending for host in await job.query(JobDatabase.list_hosts)), default=0)
        # The host with the most pages decides: its requests must be a gap apart.
        ends_at = time.monotonic() + most_pages * job.spec.rate.gap_s
        job.stats.minimum_s = lambda: max(0.0, ends_at - time.monotonic())
        planner = None if job.spec.crawl is None else await open_planner(job)
        run = ClusterRun(job, _make_process_settings(settings, job, cpus), stop, planner, processes, cpus)
        try:
            await run.run()
        except RayTaskError as error:
            raise BulkError(f"The cluster did not read all pages: {get_error_line(error)}.") from error
        except RayError as error:
            raise BulkError(
                f"The cluster was lost: {get_error_line(error)} Written pages are safe: run the same command again."
            ) from error
        if planner is not None:
            await planner.save(job)


class ClusterRun:
    """One run of a job. A host stays with one process, which knows when it was requested last."""

    def __init__(
        self,
        job: BulkJob,
        settings: Settings,
        stop: asyncio.Event,
        planner: CrawlPlanner | None,
        processes: int,
        cpus: float,
    ) -> None:
        """Read with `processes` processes of `cpus` CPUs each; a crawl has a planner."""
        self._job = job
        self._settings = settings
        self._stop = stop
        self._planner = planner
        self._cpus = cpus
        self._processes: dict[int, Any] = {}
        """Ray actor by place, from 0."""
        self._open_places: set[int] = set()
        size = block_size(job.stats.remaining, processes)
        parts = math.ceil(job.stats.remaining / size) if planner is None else len(planner.sites())
        self._places = min(processes, parts)
        self._blocks = iter_blocks(job, size=size)
        self._choosing = asyncio.Lock()
        self._returned: dict[int, list[JobPage]] = {}
        """Pages of processes that have died: of a crawl by place; of a list at 0, for any process."""

    async def run(self) -> None:
        """Read until all pages are read, or `stop` is set.

        Raises:
            BulkError: Rows cannot be written, or processes die repeatedly.
            RayError: The cluster was lost, or a process cannot open its services.
        """
        if is_complete(self._job, self._planner):
            return
        tasks = [asyncio.create_task(self._use_processes(place)) for place in range(self._places)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            # The others may still deliver outcomes, also of a complete crawl.
            done, _ = await asyncio.wait(tasks, timeout=2 * GRACE_S)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self._close()

    async def _use_processes(self, place: int) -> None:
        """Read pages in one process; if it dies, continue in another one."""
        is_restarted, deaths = self._job.is_resumed, 0
        key = 0 if self._planner is None else place
        while not self._stop.is_set() and not is_complete(self._job, self._planner):
            process = self._processes[place] = self._start_process()
            reading: dict[int, JobPage] = {}
            try:
                async with asyncio.timeout(_OPEN_LIMIT_S):
                    await process.open.remote()
                self._open_places.add(place)
                while not self._stop.is_set():
                    returned = self._returned.pop(key, [])
                    if pages := returned or await self._choose_pages(place, reading.values()):
                        reading |= {page.number: page for page in pages}
                        await process.add.remote(pages, is_restarted=is_restarted or bool(returned))
                        is_restarted = False
                    elif is_complete(self._job, self._planner):
                        return
                    outcomes = await process.collect.remote(_COLLECT_WAIT_S)
                    deaths = 0 if outcomes else deaths
                    await self._write(outcomes, reading)
                await self._write(await process.stop.remote(), reading)
                return
            except RayTaskError:
                # An internal error of the process, which may be a TimeoutError too.
                raise
            except (RayActorError, TimeoutError) as error:
                # It may still run, read its hosts and hold CPUs.
                ray.kill(process)
                self._open_places.discard(place)
                is_dead = isinstance(error, RayActorError)
                # If the cluster is full, the open processes read all pages of a list.
                deaths += is_dead or self._planner is not None or not self._open_places
                if deaths >= _MAX_DEATHS:
                    problem = "its processes died" if is_dead else "its processes did not open in time"
                    raise BulkError(f"The cluster did not read all pages: {problem}.") from None
                self._returned.setdefault(key, []).extend(reading.values())
                # Its hosts may have been requested just now.
                is_restarted = True

    async def _choose_pages(self, place: int, reading: Iterable[JobPage]) -> list[JobPage]:
        pages: list[JobPage] = []
        async with self._choosing:
            if self._planner is not None:
                for site in self._planner.sites()[place :: self._places]:
                    if not self._planner.count_reading(site):
                        pages += await self._planner.choose(self._job, site, _SITE_PAGES)
                return pages
            hosts = {page.host for page in reading}
            while len(hosts) < _HOSTS_PER_PROCESS and (block := await anext(self._blocks, None)) is not None:
                hosts |= {page.host for page in block}
                pages += block
        return pages

    async def _write(self, outcomes: Iterable[PageOutcome], reading: dict[int, JobPage]) -> None:
        for outcome in outcomes:
            del reading[outcome.page.number]
            await self._job.deliver(outcome if self._planner is None else self._planner.take(outcome))

    def _start_process(self) -> Any:
        remote = ray.remote(ReaderProcess).options(num_cpus=self._cpus)
        return remote.remote(self._job.spec, self._settings, keep_snapshots=self._job.needs_snapshots)

    async def _close(self) -> None:
        processes = self._processes.values()
        with contextlib.suppress(RayActorError, TimeoutError):
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await asyncio.gather(*(process.close.remote() for process in processes), return_exceptions=True)
        for process in processes:
            ray.kill(process)


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


_MIN_BLOCK_PAGES, _MAX_BLOCK_PAGES = 16, 256
"""Pages of a block of small hosts: few enough to balance the end of a job, enough to limit the overhead."""
_TOTAL_BLOCKS_PER_PROCESS = 32
"""Blocks per process of a whole job, if hosts are small enough."""
_HOSTS_PER_LOOKUP = 200


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
