"""A job in this process with the real fetcher and fake browsers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from browsers import Browsers
from browsers.model import Request, Snapshot
from scraper.bulk import page_dispatcher, run
from scraper.bulk.job import BulkJob
from scraper.bulk.model import Format, JobPage, JobRate
from scraper.bulk.page_reader import JobPageReader, PageResult
from scraper.bulk.run import make_job_settings, read_locally
from scraper.reading import robots
from scraper.reading.fetcher import Fetcher
from scraper.services import Services
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.urls import host_of
from scraper.workers import WorkerPool
from tests.scraper.bulk.jobs import order_of, rows_in
from tests.scraper.bulk.test_job import Pages
from tests.scraper.reading.fakes import CountingPages, Enough, ScriptedWorkers

PLACES = 4
SLOW = [f"http://slow{number % 2}.example/{number}" for number in range(60)]
QUICK = [f"http://quick.example/{number}" for number in range(20)]


class FakeClient:
    """Serve sites of which some require long pauses.

    Stop the job after all pages of the other site, or after a third page of the slow ones.
    """

    def __init__(self, stop: asyncio.Event) -> None:
        self.pages: Counter[str] = Counter()
        self.at_once: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._stop = stop

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        host = host_of(request.url)
        if request.url.endswith("/robots.txt"):
            text = "User-agent: *\nCrawl-delay: 30" if host.startswith("slow") else ""
            return Snapshot(request.url, request.url, 200, {}, "text/plain", text.encode(), text)
        self.pages[host] += 1
        self.at_once[host] += 1
        self.most[host] = max(self.most[host], self.at_once[host])
        await asyncio.sleep(0.01)
        self.at_once[host] -= 1
        others = self.pages["quick.example"]
        if others >= len(QUICK) or self.pages.total() - others > 2:
            self._stop.set()
        html = "<p>Served.</p>"
        snapshot = Snapshot(request.url, request.url, 200, {}, "text/html", html.encode(), html)
        assert enough is not None
        await enough(snapshot)
        return snapshot


@pytest.mark.parametrize("policy", ["warn", "obey"])
async def test_long_pauses_of_a_site_do_not_delay_other_sites(tmp_path: Path, policy: str) -> None:
    spec = order_of(tmp_path, [*SLOW, *QUICK])
    settings = make_job_settings(spec, Settings(robots=policy))
    stop = asyncio.Event()
    client = FakeClient(stop)
    workers = cast(WorkerPool, ScriptedWorkers())
    fetcher = Fetcher(cast(Any, client), workers, cast(PageStore, CountingPages()), settings)
    reader = JobPageReader(fetcher, workers, spec, keep_snapshots=True)
    begun: Counter[str] = Counter()

    def read(page: JobPage) -> Awaitable[PageResult]:
        begun[page.host] += 1
        return reader.read(page)

    async with BulkJob.open(spec) as job:
        await read_locally(job, read, stop, concurrency=lambda: PLACES, respects_robots=True)
        left_s = job.stats.minimum_s()
    await fetcher.close()
    # No task that waits for a host occupies a slot that other hosts could use.
    assert begun == client.pages == {"slow0.example": 1, "slow1.example": 1, "quick.example": len(QUICK)}
    assert client.most["quick.example"] == 2
    assert left_s == 29 * 30


@dataclass
class OnlyReader:
    """The part of the services that reads pages."""

    fetcher: Fetcher
    workers: WorkerPool
    browsers: Browsers = field(default_factory=Browsers)


async def test_a_resumed_job_observes_the_crawl_delay_of_each_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More pages than either run reads before it is stopped.
    spec = order_of(tmp_path, [*SLOW, *(f"http://quick.example/{number}" for number in range(90))])
    clients: list[FakeClient] = []
    for _ in range(2):
        stop = asyncio.Event()
        clients.append(FakeClient(stop))

        @asynccontextmanager
        async def opened(settings: Settings) -> AsyncIterator[OnlyReader]:
            workers = cast(WorkerPool, ScriptedWorkers())
            reads = Fetcher(cast(Browsers, clients[-1]), workers, cast(PageStore, CountingPages()), settings)
            yield OnlyReader(reads, workers)
            await reads.close()

        monkeypatch.setattr(Services, "open", opened)
        async with asyncio.timeout(60):
            await run.run_bulk(spec, Settings(robots="obey"), stop=stop)
    first, again = (client.pages for client in clients)
    assert first["slow0.example"] == first["slow1.example"] == 1
    # The interrupted run may have sent a request to them just before.
    assert again["slow0.example"] == again["slow1.example"] == 0
    assert again["quick.example"] >= len(QUICK)


async def test_a_resumed_job_pauses_every_host_first(tmp_path: Path) -> None:
    spec = order_of(tmp_path, QUICK, rate=JobRate(gap_s=3_600))
    for is_resumed in (False, True):
        async with BulkJob.open(spec) as job:
            assert job.is_resumed == is_resumed
            pages = Pages()
            reading = asyncio.create_task(read_locally(job, pages, asyncio.Event(), concurrency=lambda: 4))
            await asyncio.sleep(0.5)
            assert pages.read.total() == (0 if is_resumed else 1)
            reading.cancel()
            await asyncio.wait({reading})


class Limited:
    """A site that refuses the first request because of its rate limit."""

    def __init__(self) -> None:
        self.asked = 0

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        self.asked += 1
        status = 429 if self.asked == 1 else 200
        words = "Too many requests" if status == 429 else "The ferry leaves at noon. " * 60
        html = f"<!doctype html><title>Harbour</title><h1>Harbour</h1><p>{words}</p>"
        snapshot = Snapshot(request.url, request.url, status, {}, "text/html", html.encode(), html)
        assert enough is not None
        await enough(snapshot)
        return snapshot


async def test_a_page_of_a_rate_limited_site_is_read_after_the_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_dispatcher, "SITE_PAUSE_S", 0.01)
    spec, client = order_of(tmp_path, ["http://limited.example/1"]), Limited()
    async with WorkerPool() as workers:
        fetcher = Fetcher(cast(Any, client), workers, cast(PageStore, CountingPages()), Settings())
        reader = JobPageReader(fetcher, workers, spec, keep_snapshots=False)
        async with BulkJob.open(spec) as job:
            await read_locally(job, reader.read, asyncio.Event(), concurrency=lambda: 1)
            await job.finish()
        await fetcher.close()
    (row,) = rows_in(tmp_path / "out", Format.JSONL)
    assert (row["status"], row["error"], client.asked) == (200, None, 2)


class Recovering(Limited):
    """A site whose robots.txt fails at the first request."""

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        if request.url.endswith("/robots.txt"):
            self.asked += 1
            status = 503 if self.asked == 1 else 404
            return Snapshot(request.url, request.url, status, {}, "text/plain", b"", "")
        return await super().visit(request, enough)


async def test_pages_are_read_after_robots_txt_was_unreachable_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "UNREACHABLE_RETRY_S", 0.05)
    monkeypatch.setattr(page_dispatcher, "SITE_PAUSE_S", 0.01)
    spec, client = order_of(tmp_path, [f"http://limited.example/{n}" for n in range(30)]), Recovering()
    workers = cast(WorkerPool, ScriptedWorkers())
    fetcher = Fetcher(cast(Any, client), workers, cast(PageStore, CountingPages()), Settings(robots="obey"))
    reader = JobPageReader(fetcher, workers, spec, keep_snapshots=False)
    async with BulkJob.open(spec) as job:
        await read_locally(job, reader.read, asyncio.Event(), concurrency=lambda: 4, respects_robots=True)
        await job.finish()
    await fetcher.close()
    assert [row["error"] for row in rows_in(tmp_path / "out", Format.JSONL)] == [None] * 30
