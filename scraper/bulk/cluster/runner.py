"""Reads a job on a Ray cluster: blocks out through Ray Data, rows back over the desk to the job."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import math
import pickle
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import ray
import ray.data
from ray.actor import ActorHandle
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from scraper.bulk.cluster.block_pages import RowCollector
from scraper.bulk.cluster.block_reader import BlockReader, table_of
from scraper.bulk.cluster.ray_connection import aside, connected, first_line
from scraper.bulk.errors import BulkError
from scraper.bulk.frontier import HostBacklog
from scraper.bulk.job import BulkJob
from scraper.bulk.model import JobPage, PageOutcome
from scraper.settings import Settings

log = logging.getLogger(__name__)

Say = Callable[[str], None]

CPUS = 2.0
"""Of one process: what its browser and its readers of pages keep busy."""
PEEKS_A_CPU, RENDERS_A_CPU = 4, 2
"""Pages at once, as the settings take them for a whole machine."""
BLOCKS_AT_ONCE = 8
"""In one process: a block may be of one host alone, which is asked for few pages at once."""
COLLECT_S = 1.0
PASSES = 3
"""A block whose process died again and again is left; what is missing is given out once more."""


async def run_on_cluster(
    job: BulkJob, settings: Settings, address: str, stop: asyncio.Event, say: Say
) -> None:
    """Read until the list is at its end or `stop` is set.

    Raises:
        BulkError: the cluster cannot be reached or used, or what is read cannot be written.
    """
    async with connected(address):
        processes, cpus = await asyncio.to_thread(_room)
        say(f"{processes} processes of {cpus:g} CPUs on the cluster")
        job.tally.at_least_s = await _at_least_s(job)
        run = _Run(job, _for_process(settings, job, cpus), stop, processes, cpus)
        try:
            for _ in range(PASSES):
                before = job.tally.delivered
                if await run.one_pass() or stop.is_set():
                    return
                if job.tally.delivered == before:
                    break
        except RayError as error:
            raise BulkError(
                f"The cluster was lost: {first_line(error)} "
                "What was written is safe: the same command goes on."
            ) from error
    raise BulkError(f"The cluster did not read all pages: {run.problem or 'its processes died'}.")


class _Run:
    def __init__(
        self, job: BulkJob, settings: Settings, stop: asyncio.Event, processes: int, cpus: float
    ) -> None:
        self.problem = ""
        self._job = job
        self._settings = settings
        self._stop = stop
        self._processes = processes
        self._cpus = cpus
        self._resumed = job.resumed
        """Somebody may have asked any host just now."""

    async def one_pass(self) -> bool:
        """Give out all that is left, and write what comes back; whether everything came."""
        counts = await self._job.counts()
        if counts.done >= counts.pages:
            return True
        desk = self._new_desk()
        try:
            dataset = await self._dataset(desk, counts.pages - counts.done)
            self._resumed = True
            working = aside(lambda: _consume(dataset), name="blocks")
            try:
                await self._collected(desk, working)
            finally:
                # Where it is to end at once, nobody waits for it.
                working.cancel()
            await self._collect_rest(desk)
        finally:
            ray.kill(desk)
        await self._job.settled()
        counts = await self._job.counts()
        return counts.done >= counts.pages

    def _new_desk(self) -> Any:
        """On the node where the job is: no other that dies takes it along. It waits most of the time."""
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        rest_s = self._job.order.pace.gap_s if self._resumed else 0.0
        return ray.remote(RowCollector).options(num_cpus=0, scheduling_strategy=here).remote(rest_s)

    async def _dataset(self, desk: ActorHandle[Any], pages: int) -> ray.data.Dataset:
        number = 0
        references: list[Any] = []
        async for block in blocks(self._job, size=block_size(pages, self._processes)):
            references.append(ray.put(table_of(number, block)))
            number += 1
        return ray.data.from_arrow_refs(references).map_batches(
            BlockReader,
            batch_size=None,
            batch_format="pyarrow",
            fn_constructor_args=(self._job.order, self._settings, desk),
            fn_constructor_kwargs={
                "keep_snapshots": self._job.wants_snapshots,
                "resumed": self._resumed,
            },
            compute=ray.data.ActorPoolStrategy(
                size=min(self._processes, number),
                max_tasks_in_flight_per_actor=BLOCKS_AT_ONCE,
                max_concurrent_calls_per_actor=BLOCKS_AT_ONCE,
                enable_true_multi_threading=True,
            ),
            num_cpus=self._cpus,
        )

    async def _collect(self, desk: ActorHandle[Any], working: asyncio.Future[None]) -> None:
        while not working.done():
            if self._stop.is_set():
                await desk.stop.remote()
            await self._write(await desk.collect.remote(COLLECT_S))

    async def _collected(self, desk: ActorHandle[Any], working: asyncio.Future[None]) -> None:
        """Write what is handed in until there is no more."""
        try:
            await self._collect(desk, working)
        except asyncio.CancelledError:
            raise
        except BaseException:
            await self._stopped(desk, working)
            raise
        await self._stopped(desk, working)

    async def _stopped(self, desk: ActorHandle[Any], working: asyncio.Future[None]) -> None:
        """Let everybody end what is under way, and wait for it."""
        await desk.stop.remote()
        self.problem = await _problem_of(working)

    async def _collect_rest(self, desk: ActorHandle[Any]) -> None:
        while packed := await desk.collect.remote(0.0):
            await self._write(packed)

    async def _write(self, packed: list[bytes]) -> None:
        for part in packed:
            outcomes: list[PageOutcome] = pickle.loads(part)
            for outcome in outcomes:
                await self._job.deliver(outcome)


async def _at_least_s(job: BulkJob) -> Callable[[], float]:
    """How long the host with most pages still takes by its gap alone."""
    most = max((host.waiting for host in await job.hosts()), default=0)
    ends_at = time.monotonic() + most * job.order.pace.gap_s
    return lambda: max(0.0, ends_at - time.monotonic())


def _room() -> tuple[int, float]:
    """How many processes the cluster has room for, and the CPUs of each."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    machines = [float(node["Resources"].get("CPU", 0.0)) for node in nodes if node["Alive"]]
    with_cpus = [cpus for cpus in machines if cpus >= 1] or [1.0]
    each = min(CPUS, *with_cpus) if len(with_cpus) > 1 else min(CPUS, with_cpus[0])
    return max(1, sum(math.floor(cpus / each) for cpus in with_cpus)), each


def _for_process(settings: Settings, job: BulkJob, cpus: float) -> Settings:
    """The settings of one process: what the driver's machine would take is not what each may."""
    if job.order.pace.concurrency is not None:
        return settings
    return dataclasses.replace(
        settings,
        peek_slots=max(1, round(PEEKS_A_CPU * cpus)),
        render_slots=max(1, round(RENDERS_A_CPU * cpus)),
    )


def _consume(dataset: ray.data.Dataset) -> None:
    for _ in dataset.iter_batches(batch_size=None):
        pass


async def _problem_of(working: asyncio.Future[None]) -> str:
    """Why Ray gave up, if it did."""
    await asyncio.wait({working})
    fault = working.exception()
    if fault is None:
        return ""
    if not isinstance(fault, RayError):
        raise fault
    log.error("the cluster gave up", exc_info=fault)
    return first_line(fault)


LEAST, MOST = 16, 256
"""Pages of a block of small hosts: few enough to spread the end of a job, many enough to cost little."""
BLOCKS_A_PROCESS = 32
HOSTS_AT_ONCE = 200


def block_size(pages: int, processes: int) -> int:
    """How many pages make a block, where hosts are small enough."""
    return max(LEAST, min(MOST, pages // (processes * BLOCKS_A_PROCESS)))


async def blocks(job: BulkJob, *, size: int) -> AsyncIterator[list[JobPage]]:
    """The pages that are left, largest hosts first: they are what a job ends with."""
    gathered: list[JobPage] = []
    hosts = await job.hosts()
    for start in range(0, len(hosts), HOSTS_AT_ONCE):
        for pages in await _pages(job, hosts[start : start + HOSTS_AT_ONCE]):
            gathered += pages
            if len(gathered) >= size:
                yield gathered
                gathered = []
    if gathered:
        yield gathered


async def _pages(job: BulkJob, hosts: list[HostBacklog]) -> list[list[JobPage]]:
    most = max(host.waiting for host in hosts)
    return await job.waiting([(host.number, 0) for host in hosts], count=most)
