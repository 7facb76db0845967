"""Jobs on a cluster: its processes alone, the run with fake processes, and one test with Ray."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import secrets
import signal
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from scraper.bulk.cluster.reader_process import OUTCOMES_LIMIT, ReaderProcess
from scraper.bulk.crawl import open_planner
from scraper.bulk.job import BulkJob
from scraper.bulk.model import (
    BulkError,
    ClusterUnavailableError,
    CrawlOptions,
    Format,
    JobPage,
    JobRate,
    JobSpec,
    OutputRow,
    PageOutcome,
)
from scraper.bulk.page_reader import PageResult
from scraper.settings import Settings
from tests.scraper.bulk.jobs import numbers_in, order_of, rows_in
from tests.scraper.bulk.test_command import SEARCH_MCP, articles, here, listed, written
from tests.scraper.bulk.test_job import Pages
from tests.scraper.process import Program, running, until
from tests.site.running import Site

if TYPE_CHECKING:
    from scraper.bulk.cluster.runner import ClusterRun

__all__ = ["here"]

RAY_S = 900.0
"""Ray takes seconds to start, and minutes on a machine under load."""


def pages_of(host: str, numbers: range) -> list[JobPage]:
    return [JobPage(number, f"http://{host}/{number}", host) for number in numbers]


async def test_a_host_is_in_one_block(tmp_path: Path) -> None:
    from scraper.bulk.cluster.runner import iter_blocks  # imports Ray, which takes a second

    urls = [f"http://large.example/{number}" for number in range(300)]
    urls += [f"http://host{number % 30}.example/{number}" for number in range(300)]
    async with BulkJob.open(order_of(tmp_path, urls)) as job:
        found = [block async for block in iter_blocks(job, size=32)]
    assert sum(map(len, found)) == 600
    where = Counter(host for block in found for host in {page.host for page in block})
    assert set(where.values()) == {1}
    assert {page.host for page in found[0]} == {"large.example"}
    assert all(32 <= len(block) < 64 for block in found[1:-1])


def test_blocks_are_small_and_many() -> None:
    from scraper.bulk.cluster.runner import block_size

    assert block_size(5_000, 2) == 78
    assert block_size(10, 2) == 16
    assert block_size(10_000_000, 8) == 256


@pytest.mark.parametrize("answers", [True, False])
async def test_an_unreachable_cluster_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    pytest.importorskip("ray")
    from scraper.bulk.cluster import ray_connection

    # Ray itself tries to connect to such an address forever.
    over = threading.Event()
    monkeypatch.setattr(ray_connection, "_connect", lambda _: over.wait(60))
    monkeypatch.setattr(ray_connection, "CONNECT_LIMIT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        if not answers:
            listener.close()
        with pytest.raises(BulkError, match=f"^The cluster at {address} cannot be reached: "):
            async with ray_connection.connect_cluster(address):
                pass
        over.set()


@pytest.mark.parametrize("failure", [Exception("The current node timed out\nmore"), OSError(12, "x"), KeyError()])
async def test_a_failed_start_of_ray_says_what_to_do(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    pytest.importorskip("ray")
    from scraper.bulk.cluster import ray_connection

    def fail(address: str) -> None:
        raise failure

    monkeypatch.setattr(ray_connection, "_connect", fail)
    with pytest.raises(ClusterUnavailableError, match=r"^Ray cannot start a cluster on this machine: .+\.$") as caught:
        async with ray_connection.connect_cluster("local"):
            pass
    assert "\n" not in str(caught.value) and "without --cluster" in str(caught.value)


def test_sigterm_is_handled_after_ray_replaced_its_handler() -> None:
    pytest.importorskip("ray")
    from scraper.bulk.cluster.ray_connection import _restore_sigterm

    libc = ctypes.CDLL(None)
    libc.signal.argtypes, libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        # Replace the handler below Python, as Ray does: Python assumes that its own handler is still set.
        ignore = 1
        libc.signal(signal.SIGTERM, ignore)
        _restore_sigterm()
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def reader_of(pages: Pages, concurrency: int, told: list[None] | None = None, **rate: float) -> ReaderProcess:
    spec = JobSpec("-", Path(), Format.JSONL, JobRate(**rate))  # type: ignore[arg-type]
    reader = ReaderProcess(spec, Settings(), keep_snapshots=False)
    reader.begin(pages, lambda: concurrency, lambda: (told if told is not None else []).append(None))
    return reader


async def collected(reader: ReaderProcess, count: int) -> list[int]:
    found: list[int] = []
    async with asyncio.timeout(60):
        while len(found) < count:
            found += [outcome.page.number for outcome in await reader.collect(1.0)]
    return found


async def test_blocks_of_one_process_are_read_concurrently_within_the_limits_per_host() -> None:
    pages = Pages()
    reader = reader_of(pages, 6, per_host=2)
    for k in range(1, 4):
        await reader.add(pages_of(f"h{k}", range(100 * k, 100 * k + 40)), is_restarted=False)
    found = await collected(reader, 120)
    assert len(set(found)) == len(found) == 120
    assert max(pages.most.values()) == 2
    assert set(pages.read.values()) == {1}
    assert await reader.stop() == []


async def test_hosts_of_restarted_pages_pause_first() -> None:
    pages, told = Pages(), list[None]()
    reader = reader_of(pages, 2, told, gap_s=0.5)
    await reader.add(pages_of("h2", range(3, 4)), is_restarted=False)
    assert await collected(reader, 1) == [3] and not told
    await reader.add(pages_of("h1", range(1, 2)), is_restarted=True)
    assert told and await reader.collect(0.2) == []
    assert await collected(reader, 1) == [1]
    await reader.stop()


async def test_no_page_starts_while_too_many_outcomes_wait() -> None:
    pages = Pages()
    reader = reader_of(pages, 4, per_host=2)
    await reader.add(pages_of("h1", range(1, 601)), is_restarted=False)
    await until(lambda: pages.read.total() > OUTCOMES_LIMIT)
    await asyncio.sleep(0.5)
    assert pages.read.total() <= OUTCOMES_LIMIT + 4
    assert sorted(await collected(reader, 600)) == list(range(1, 601))
    await reader.stop()


async def test_a_stopped_process_returns_the_running_pages_also_if_many_wait() -> None:
    pages = Pages()
    reader = reader_of(pages, 4, per_host=2)
    await reader.add(pages_of("h1", range(1, 601)), is_restarted=False)
    await until(lambda: pages.read.total() > OUTCOMES_LIMIT)
    outcomes = await reader.stop()
    assert len(outcomes) == pages.read.total() < 600


async def test_an_internal_error_reaches_the_job() -> None:
    class Gone(Pages):
        async def __call__(self, page: JobPage) -> PageResult:
            raise ConnectionError("no reader")

    reader = reader_of(Gone(), 2)
    await reader.add(pages_of("h1", range(1, 5)), is_restarted=False)
    with pytest.raises(ConnectionError, match="no reader"):
        async with asyncio.timeout(60):
            await collected(reader, 1)


class FakeProcess:
    """Fake Ray actor that returns a page in each call; it dies after `lives_for` pages."""

    def __init__(self, lives_for: int = 1_000, *, opens: bool = True) -> None:
        self.opens = opens
        self.pages: list[JobPage] = []
        self.restarted: list[bool] = []
        self.left = lives_for

    def __getattr__(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(remote=getattr(self, f"_{name}"))

    async def _open(self) -> None:
        if not self.opens:
            await asyncio.sleep(600)

    async def _add(self, pages: list[JobPage], *, is_restarted: bool) -> None:
        self.pages += pages
        self.restarted.append(is_restarted)

    async def _collect(self, wait_s: float) -> list[PageOutcome]:
        from ray.exceptions import RayActorError

        await asyncio.sleep(0.001)
        if not self.left:
            raise RayActorError
        self.left -= bool(self.pages)
        if not self.pages:
            return []
        page = self.pages.pop(0)
        return [PageOutcome(page, OutputRow(page.url, markdown=""), 0.1)]

    async def _stop(self) -> list[PageOutcome]:
        return []

    async def _close(self) -> None:
        pass


@asynccontextmanager
async def cluster_run(
    folder: Path,
    urls: list[str],
    processes: Iterable[FakeProcess],
    stop: asyncio.Event,
    monkeypatch: pytest.MonkeyPatch,
    *,
    count: int = 1,
) -> AsyncIterator[ClusterRun]:
    from scraper.bulk.cluster import runner

    rest = iter(processes)
    monkeypatch.setattr(runner.ClusterRun, "_start_process", lambda _: next(rest))
    monkeypatch.setattr("ray.kill", lambda _: None)
    async with BulkJob.open(order_of(folder, urls)) as job:
        yield runner.ClusterRun(job, Settings(), stop, None, count, 1.0)
        await job.finish()


async def test_another_process_reads_the_pages_of_a_dead_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    urls = [f"http://a.example/{number}" for number in range(9)]
    processes = [FakeProcess(4), FakeProcess(0), FakeProcess()]
    async with cluster_run(tmp_path, urls, processes, asyncio.Event(), monkeypatch) as run:
        await run.run()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(urls)
    assert [process.restarted for process in processes] == [[False], [True], [True]]


async def test_processes_that_die_at_once_end_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    processes = [FakeProcess(1), *(FakeProcess(0) for _ in range(3))]
    urls = ["http://a.example/1", "http://a.example/2"]
    async with cluster_run(tmp_path, urls, processes, asyncio.Event(), monkeypatch) as run:
        with pytest.raises(BulkError, match=r"^The cluster did not read all pages: its processes died\.$"):
            await run.run()
    assert numbers_in(tmp_path / "out", Format.JSONL).total() == 1


async def test_a_lost_process_that_may_still_run_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    from ray.exceptions import ActorUnavailableError

    async def lose(wait_s: float) -> None:
        raise ActorUnavailableError("The node does not answer.", None)

    urls, processes, killed = ["http://a.example/"], [FakeProcess(), FakeProcess()], list[FakeProcess]()
    monkeypatch.setattr(processes[0], "_collect", lose)
    async with cluster_run(tmp_path, urls, processes, asyncio.Event(), monkeypatch) as run:
        monkeypatch.setattr("ray.kill", killed.append)
        await run.run()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(urls)
    assert killed == processes


async def test_processes_that_do_not_open_end_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr("scraper.bulk.cluster.runner._OPEN_LIMIT_S", 0.01)
    processes = [FakeProcess(opens=False) for _ in range(3)]
    async with cluster_run(tmp_path, ["http://a.example/"], processes, asyncio.Event(), monkeypatch) as run:
        with pytest.raises(BulkError, match="its processes did not open in time"):
            async with asyncio.timeout(60):
                await run.run()


async def test_a_list_on_a_full_cluster_is_read_by_the_open_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr("scraper.bulk.cluster.runner._OPEN_LIMIT_S", 0.01)
    urls = [f"http://a.example/{number}" for number in range(100)]
    closed = (FakeProcess(opens=False) for _ in range(100_000))
    async with cluster_run(
        tmp_path, urls, chain([FakeProcess()], closed), asyncio.Event(), monkeypatch, count=2
    ) as run:
        await run.run()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(urls)


async def test_a_short_list_starts_one_process_for_each_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    urls = [f"http://host{number}.example/" for number in range(17)]
    processes = [FakeProcess() for _ in range(8)]
    rest = iter(processes)
    async with cluster_run(tmp_path, urls, rest, asyncio.Event(), monkeypatch, count=8) as run:
        await run.run()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(urls)
    assert len(list(rest)) == 6


async def test_the_last_page_of_a_crawl_is_written_also_to_a_slow_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    from scraper.bulk.cluster.runner import ClusterRun

    urls, processes = ["http://a.example/", "http://b.example/"], iter([FakeProcess(), FakeProcess()])
    monkeypatch.setattr(ClusterRun, "_start_process", lambda _: next(processes))
    monkeypatch.setattr("ray.kill", lambda _: None)
    spec = order_of(tmp_path, urls, crawl=CrawlOptions(tuple(urls), max_pages=2))
    async with BulkJob.open(spec) as job:
        deliver = job.deliver

        async def deliver_slowly(outcome: PageOutcome) -> None:
            await asyncio.sleep(0.3 if outcome.page.host == "b.example" else 0)
            await deliver(outcome)

        monkeypatch.setattr(job, "deliver", deliver_slowly)
        await ClusterRun(job, Settings(), asyncio.Event(), await open_planner(job), 2, 1.0).run()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(urls)


async def test_a_cancelled_run_does_not_wait_for_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    process = FakeProcess()
    monkeypatch.setattr(process, "_collect", lambda _: asyncio.sleep(600))
    async with cluster_run(tmp_path, ["http://a.example/"], [process], asyncio.Event(), monkeypatch) as run:
        working = asyncio.create_task(run.run())
        await until(lambda: bool(process.restarted))
        working.cancel()
        async with asyncio.timeout(60):
            await asyncio.wait({working})
        assert working.cancelled()


@pytest.mark.browser
@pytest.mark.full_size
async def test_ray_reads_every_page_once_despite_killed_processes(
    site: Site, here: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("ray")
    urls = [*articles(site, 42, 5_000), "no url"]
    out = tmp_path / "out"
    command = (
        *SEARCH_MCP,
        listed(tmp_path, urls),
        "--out",
        str(out),
        "--format",
        "jsonl",
        "--cluster",
        "local",
        # Seven pages of each host, a second apart: time to kill twice before the end.
        "--gap",
        "1",
    )
    # A token for this test only: by default Ray writes one into the user's home.
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    async with running(*command, env={**here, **token}) as program:
        async with asyncio.timeout(RAY_S):
            killed: list[psutil.Process] = []
            for done in (8, 20):
                while written(out) < done:
                    assert program.process.returncode is None, "".join(program.said)
                    await asyncio.sleep(0.1)
                killed += kill_readers(program, "ray::ReaderProcess")
            # One of the URLs is invalid: a partial failure.
            assert await program.process.wait() == 1, "".join(program.said)
    assert numbers_in(out, Format.JSONL) == Counter(urls)
    assert [row["url"] for row in rows_in(out, Format.JSONL) if row["error"]] == ["no url"]
    assert killed
    await until(lambda: not any(reader.is_running() for reader in killed))


def kill_readers(program: Program, title: str) -> list[psutil.Process]:
    """Kill the processes that read pages for Ray, whose titles begin with `title`."""
    found = []
    for process in psutil.Process(program.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if " ".join(process.cmdline()).startswith(title):
                process.kill()
                found.append(process)
    return found
