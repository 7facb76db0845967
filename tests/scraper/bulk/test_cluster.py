"""Jobs on a cluster: block readers and collector alone, and one test with Ray."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import pickle
import secrets
import signal
import socket
import threading
from collections import Counter
from pathlib import Path

import psutil
import pytest

from scraper.bulk.cluster import ray_worker
from scraper.bulk.cluster.ray_worker import OUTCOMES_LIMIT, BlockRunner, OutcomeCollector
from scraper.bulk.job import BulkJob
from scraper.bulk.model import BulkError, ClusterUnavailableError, Format, JobPage, JobRate, PageOutcome
from scraper.settings import Settings
from tests.scraper.bulk.jobs import numbers_in, order_of, rows_in
from tests.scraper.bulk.test_command import SEARCH_MCP, articles, here, listed, written
from tests.scraper.bulk.test_job import Pages
from tests.scraper.process import Program, running, until
from tests.site.running import Site

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


async def test_a_restarted_block_has_the_pages_not_submitted() -> None:
    desk = OutcomeCollector()
    first = await desk.start_block(7, (1, 2, 3))
    assert (first.remaining, first.was_started) == ((1, 2, 3), False)
    assert await desk.submit((2,), b"two")
    was_started = await desk.start_block(7, (1, 2, 3))
    assert (was_started.remaining, was_started.was_started) == ((1, 3), True)
    assert await desk.collect(1.0) == [b"two"]
    await desk.stop()
    assert (await desk.start_block(8, (9,))).remaining == ()
    assert not await desk.submit((1,), b"one")


async def test_submit_waits_while_too_much_is_not_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_worker, "WAITING_BYTES", 10)
    desk = OutcomeCollector()
    await desk.submit((1,), bytes(20))
    second = asyncio.create_task(desk.submit((2,), b"x"))
    done, _ = await asyncio.wait({second}, timeout=0.05)
    assert not done
    assert await desk.collect(0.0) == [bytes(20)]
    async with asyncio.timeout(60):
        assert await second


async def test_submit_stops_waiting_when_the_job_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_worker, "WAITING_BYTES", 10)
    desk = OutcomeCollector()
    await desk.submit((1,), bytes(20))
    second = asyncio.create_task(desk.submit((2,), b"x"))
    await asyncio.sleep(0)
    await desk.stop()
    async with asyncio.timeout(60):
        assert not await second
    assert await desk.collect(0.0) == [bytes(20), b"x"]


async def test_hosts_of_an_interrupted_job_pause_first() -> None:
    assert not (await OutcomeCollector().start_block(1, (1,))).was_started
    assert (await OutcomeCollector(pause_s=60.0).start_block(1, (1,))).was_started


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


async def test_blocks_of_one_process_are_read_concurrently_within_the_limits_per_host() -> None:
    desk, pages = OutcomeCollector(), Pages()
    blocks_of = BlockRunner(desk, pages, JobRate(per_host=2), concurrency=lambda: 6)
    working = asyncio.create_task(blocks_of.run())
    read = await asyncio.gather(
        *(blocks_of.read(k, pages_of(f"h{k}", range(100 * k, 100 * k + 40))) for k in range(1, 4))
    )
    assert read == [40, 40, 40]
    assert max(pages.most.values()) == 2
    assert set(pages.read.values()) == {1}
    outcomes: list[PageOutcome] = [one for part in await desk.collect(1.0) for one in pickle.loads(part)]
    assert len({outcome.page.number for outcome in outcomes}) == 120
    await desk.stop()
    assert await blocks_of.read(9, pages_of("h9", range(900, 910))) == 0
    working.cancel()
    await asyncio.wait({working})


async def test_a_restarted_block_is_reported_to_its_new_process() -> None:
    desk, told = OutcomeCollector(), list[None]()
    await desk.start_block(1, (1, 2))
    blocks_of = BlockRunner(
        desk, Pages(), JobRate(), concurrency=lambda: 2, on_restarted_block=lambda: told.append(None)
    )
    working = asyncio.create_task(blocks_of.run())
    assert await blocks_of.read(2, pages_of("h2", range(3, 5))) == 2 and not told
    assert await blocks_of.read(1, pages_of("h1", range(1, 3))) == 2 and told
    working.cancel()
    await asyncio.wait({working})


class Slow(OutcomeCollector):
    """A collector that blocks until the test releases it."""

    def __init__(self) -> None:
        super().__init__()
        self.free = asyncio.Event()

    async def submit(self, numbers: tuple[int, ...], packed: bytes) -> bool:
        await self.free.wait()
        return await super().submit(numbers, packed)


@pytest.mark.parametrize("cancelled", [False, True])
async def test_no_page_starts_while_too_many_outcomes_wait(cancelled: bool) -> None:
    desk, pages = Slow(), Pages()
    blocks_of = BlockRunner(desk, pages, JobRate(per_host=2), concurrency=lambda: 4)
    working = asyncio.create_task(blocks_of.run())
    reading = asyncio.create_task(blocks_of.read(1, pages_of("h1", range(1, 601))))
    await until(lambda: pages.read.total() > OUTCOMES_LIMIT)
    await asyncio.sleep(0.5)
    assert pages.read.total() <= 2 * OUTCOMES_LIMIT + 4
    if not cancelled:
        desk.free.set()
        async with asyncio.timeout(60):
            assert await reading == 600
    working.cancel()
    async with asyncio.timeout(60):
        await asyncio.wait({working, reading})


async def test_a_lost_collector_ends_the_running_blocks() -> None:
    class Gone(OutcomeCollector):
        async def submit(self, numbers: tuple[int, ...], packed: bytes) -> bool:
            raise ConnectionError("the desk is gone")

    blocks_of = BlockRunner(Gone(), Pages(), JobRate(), concurrency=lambda: 2)
    working = asyncio.create_task(blocks_of.run())
    with pytest.raises(ConnectionError, match="the desk is gone"):
        async with asyncio.timeout(60):
            await blocks_of.read(1, pages_of("h1", range(1, 5)))
    await asyncio.wait({working})
    assert isinstance(working.exception(), ConnectionError)
    with pytest.raises(ConnectionError):
        await blocks_of.read(2, pages_of("h2", range(5, 9)))


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
                killed += kill_readers(program, "ray::MapWorker(MapBatches(RayWorker))")
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


class Handed:
    """Fake collector actor that never receives any rows."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.stop = self.collect = self
        self.stopped = asyncio.Event()

    async def remote(self, *wait_s: float) -> list[bytes]:
        if not wait_s:
            self.stopped.set()
            return []
        self.asked.set()
        await asyncio.sleep(0.01)
        return []


async def test_cancellation_does_not_wait_for_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    from scraper.bulk.cluster import runner

    desk, over, killed = Handed(), threading.Event(), list[object]()

    async def dataset(*_: object) -> None:
        return None

    monkeypatch.setattr(runner, "_create_collector", lambda _: desk)
    monkeypatch.setattr(runner._Run, "_make_dataset", dataset)
    monkeypatch.setattr(runner, "_run_dataset", lambda _: over.wait(600))
    monkeypatch.setattr("ray.kill", killed.append)
    stop = asyncio.Event()
    try:
        async with BulkJob.open(order_of(tmp_path, ["http://a.example/"])) as job:
            run = runner._Run(job, Settings(), stop, 1, 1.0)
            working = asyncio.create_task(run.run_pass())
            async with asyncio.timeout(60):
                await desk.asked.wait()
                stop.set()
                await desk.stopped.wait()
                working.cancel()
                await asyncio.wait({working})
        assert working.cancelled() and killed == [desk]
    finally:
        over.set()


@pytest.mark.parametrize("fails", [True, False])
async def test_a_daemon_thread_reports_its_outcome(fails: bool) -> None:
    from scraper.bulk.cluster.ray_connection import run_in_daemon_thread

    def work() -> None:
        if fails:
            raise ZeroDivisionError

    done = run_in_daemon_thread(work, name="work")
    async with asyncio.timeout(60):
        await asyncio.wait({done})
    assert isinstance(done.exception(), ZeroDivisionError) == fails


async def test_the_program_ends_without_waiting_for_a_daemon_thread() -> None:
    from scraper.bulk.cluster.ray_connection import run_in_daemon_thread

    over, ended = threading.Event(), threading.Event()

    def work() -> None:
        over.wait(60)
        ended.set()

    run_in_daemon_thread(work, name="work").cancel()
    over.set()
    assert await asyncio.to_thread(ended.wait, 60)
