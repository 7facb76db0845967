"""Reads a job's pages in this process."""

from __future__ import annotations

import asyncio

from scraper.bulk.job import BulkJob
from scraper.bulk.page_feeder import PageFeeder
from scraper.bulk.page_runner import PageRunner, ReadPage
from scraper.bulk.schedule import Schedule


async def run_here(
    job: BulkJob,
    read: ReadPage,
    stop: asyncio.Event,
    *,
    concurrency: int,
    hosts_are_heard: bool = False,
) -> None:
    """Read until the list is at its end or `stop` is set; `hosts_are_heard`: each says how often it is asked.

    Raises:
        BulkError: what is read cannot be written.
    """
    schedule = Schedule(job.order.pace, hosts_are_heard=hosts_are_heard, left=lambda: job.tally.left)
    job.tally.at_least_s = schedule.longest_s
    feed = PageFeeder(job, schedule, on_supply=lambda: pages.look())
    pages = PageRunner(schedule, read, job.deliver, concurrency=concurrency, on_change=feed.look)
    feeding = asyncio.create_task(feed.run(), name="bulk feed")
    feeding.add_done_callback(lambda task: _tell(task, pages))
    stopping = asyncio.create_task(_look_at_stop(stop, pages), name="bulk stop")
    try:
        await pages.run(lambda: stop.is_set() or (feed.exhausted and not schedule and not len(pages)))
    finally:
        for task in (stopping, feeding):
            task.cancel()
        await asyncio.wait({stopping, feeding})


async def _look_at_stop(stop: asyncio.Event, pages: PageRunner) -> None:
    await stop.wait()
    pages.look()


def _tell(feeding: asyncio.Task[None], pages: PageRunner) -> None:
    if not feeding.cancelled() and (fault := feeding.exception()) is not None:
        pages.fail(fault)
