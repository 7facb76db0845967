"""A job cut into blocks: each host stands whole in one of them, so that one process alone asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scraper.bulk.frontier import HostLeft
from scraper.bulk.job import BulkJob
from scraper.bulk.model import JobPage

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


async def _pages(job: BulkJob, hosts: list[HostLeft]) -> list[list[JobPage]]:
    most = max(host.waiting for host in hosts)
    return await job.waiting([(host.number, 0) for host in hosts], count=most)
