from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from browsers.model import Snapshot
from scraper.errors import HttpStatusError, UnsupportedTypeError
from scraper.extract import reader
from scraper.workers import (
    NoWorkerError,
    WorkerDiedError,
    WorkerFailedError,
    WorkerMemoryError,
    WorkerPool,
    WorkerTimeoutError,
)
from scraper.workers.process import ProcessGoneError, Worker
from tests.scraper.process import output_of
from tests.scraper.workers import jobs
from tests.scraper.workers.processes import pids_of

pytestmark = pytest.mark.own_processes

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
PATIENCE_S = 60.0


@pytest.fixture(scope="module")
async def workers() -> AsyncIterator[WorkerPool]:
    async with WorkerPool(2) as running:
        yield running


def is_gone(pid: int) -> bool:
    """Return True if a process is gone, or a zombie of another parent: not every init reaps orphans."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return bool(process.ppid() != os.getpid() and process.status() == psutil.STATUS_ZOMBIE)
    return True


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  # other processes set no events
            await asyncio.sleep(0.01)


async def until_gone(*pids: int) -> None:
    await until(lambda: all(is_gone(pid) for pid in pids))


async def until_written(path: Path) -> str:
    await until(lambda: path.exists() and path.read_text() != "")
    return path.read_text()


async def test_a_result_comes_from_another_process(workers: WorkerPool) -> None:
    there = await workers.run(jobs.pid)
    assert there != os.getpid()
    assert there in pids_of(workers)


async def test_a_snapshot_goes_in_and_its_document_comes_out_as_here(workers: WorkerPool) -> None:
    html = "<title>T</title><main><h1>Heading</h1><p>Text with <a href=/x>a link</a>.</p></main>"
    snapshot = Snapshot("https://example.com/", "https://example.com/", 200, media_type="text/html", html=html)
    assert await workers.run(reader.read, snapshot) == reader.read(snapshot)


async def test_thirty_megabytes_travel_both_ways(workers: WorkerPool) -> None:
    text = "é漢x" * 5_000_000
    assert await workers.run(jobs.echo, text, limit_s=PATIENCE_S) == text


async def test_exceptions_travel_with_their_class_fields_and_origin(workers: WorkerPool) -> None:
    with pytest.raises(HttpStatusError, match="It said no") as caught:
        await workers.run(jobs.fail_as_a_site_does)
    error = caught.value
    assert (error.status, error.target, error.next_step, error.retryable) == (
        503,
        "https://example.com/",
        "Wait.",
        True,
    )
    assert "fail_as_a_site_does" in error.__notes__[0]
    with pytest.raises(UnsupportedTypeError):
        await workers.run(jobs.fail_by_type)


async def test_a_timeout_raised_by_the_function_is_not_taken_for_ours(workers: WorkerPool) -> None:
    with pytest.raises(TimeoutError, match="from the function"):
        await workers.run(jobs.timeout_of_its_own)


@pytest.mark.parametrize("job", [jobs.fail_unsendably, jobs.unsendable_result, jobs.untrusted_result])
async def test_an_unsendable_or_untrusted_answer_fails_without_ending_the_worker(
    workers: WorkerPool, job: Callable[[], object]
) -> None:
    await workers.run(jobs.pid)
    before = set(pids_of(workers))
    with pytest.raises(WorkerFailedError):
        await workers.run(job)
    assert await workers.run(jobs.pid) in before


async def test_a_call_over_its_limit_is_killed_and_its_neighbour_does_not_notice(
    workers: WorkerPool, tmp_path: Path
) -> None:
    said = tmp_path / "pid"
    # Try longer limits until the machine is fast enough to start the job within one.
    for limit_s in (0.5, 2.0, 8.0):
        slow = asyncio.create_task(workers.run(jobs.spin, str(said), limit_s=limit_s))
        neighbours = [await workers.run(jobs.echo, number, limit_s=60.0) for number in range(20)]
        with pytest.raises(WorkerTimeoutError, match=rf"longer than {limit_s:g} s"):
            await slow
        assert neighbours == list(range(20))
        if said.exists() and said.read_text():
            break
    await until_gone(int(said.read_text()))
    assert await workers.run(jobs.echo, "again") == "again"


@LINUX
async def test_waiting_for_a_busy_machine_does_not_count_as_hanging(workers: WorkerPool) -> None:
    await workers.run(jobs.sleep, 0.6, limit_s=0.2)
    for limits in ({"limit_s": 0.05}, {"deadline_s": 0.3}):
        with pytest.raises(WorkerTimeoutError, match=r"longer than 0.[35] s$"):
            await workers.run(jobs.sleep, 600.0, **limits)


async def test_a_call_without_time_uses_no_worker(workers: WorkerPool) -> None:
    await workers.run(jobs.pid)
    before = pids_of(workers)
    with pytest.raises(WorkerTimeoutError):
        await workers.run(jobs.pid, deadline_s=0.0)
    assert pids_of(workers) == before


async def test_a_call_that_needs_too_much_memory_says_so_and_the_next_one_works(workers: WorkerPool) -> None:
    with pytest.raises(WorkerMemoryError):
        await workers.run(jobs.take, 3 << 30, limit_s=PATIENCE_S)
    assert await workers.run(jobs.take, 1_000) == 1_000


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("piece", "number"),
    [
        pytest.param("word ", 10_000_000, id="words"),
        pytest.param("<b>x</b> ", 1_000_000, id="elements", marks=pytest.mark.full_size),
        pytest.param("<p>", 5_000_000, id="open tags", marks=pytest.mark.full_size),
    ],
)
async def test_the_largest_pages_are_read_within_the_memory_of_a_worker(
    workers: WorkerPool, piece: str, number: int
) -> None:
    snapshot = Snapshot(
        "https://example.com/", "https://example.com/", 200, media_type="text/html", html=piece * number
    )
    assert (await workers.run(reader.read, snapshot, limit_s=300.0)).degraded


@pytest.mark.thorough
async def test_a_process_that_grew_large_is_replaced(workers: WorkerPool) -> None:
    async with WorkerPool(1) as one:
        first = await one.run(jobs.pid)
        assert await one.run(jobs.take, 400 << 20, limit_s=PATIENCE_S) == 400 << 20
        assert await one.run(jobs.pid) != first
        await until_gone(first)


async def test_a_dead_process_is_tried_once_more(workers: WorkerPool, tmp_path: Path) -> None:
    assert await workers.run(jobs.die_once, str(tmp_path / "once")) == "alive"
    with pytest.raises(WorkerDiedError):
        await workers.run(jobs.note_and_die, str(tmp_path / "twice"))
    assert (tmp_path / "twice").read_text() == "xx"


async def test_killed_idle_workers_are_replaced(workers: WorkerPool) -> None:
    await asyncio.gather(*(workers.run(jobs.sleep, 0.1) for _ in range(2)))
    idle = pids_of(workers)[1:]
    assert len(idle) == 2
    for pid in idle:
        os.kill(pid, signal.SIGKILL)
    await until_gone(*idle)
    assert await workers.run(jobs.echo, "here") == "here"


async def test_calls_go_on_after_the_fork_server_was_killed(workers: WorkerPool) -> None:
    await workers.run(jobs.pid)
    before = pids_of(workers)
    os.kill(before[0], signal.SIGKILL)
    if sys.platform == "linux":
        await until_gone(*before[1:])
    assert await workers.run(jobs.echo, "here", limit_s=PATIENCE_S) == "here"
    if sys.platform == "linux":  # on other systems its workers outlive it
        assert before[0] not in pids_of(workers)


async def test_a_cancelled_call_frees_its_process(workers: WorkerPool, tmp_path: Path) -> None:
    call = asyncio.create_task(workers.run(jobs.spin, str(tmp_path / "pid"), limit_s=60.0))
    pid = int(await until_written(tmp_path / "pid"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until_gone(pid)
    await asyncio.gather(*(workers.run(jobs.echo, number) for number in range(10)))


async def test_calls_are_served_in_the_order_of_asking(tmp_path: Path) -> None:
    notes = str(tmp_path / "order")
    async with WorkerPool(1) as one:
        await asyncio.gather(*(one.run(jobs.say_number, number, notes) for number in range(30)))
    assert (tmp_path / "order").read_text().split() == [str(number) for number in range(30)]


async def test_canceled_waiting_calls_lose_no_worker() -> None:
    async with WorkerPool(1) as one:
        busy = asyncio.create_task(one.run(jobs.sleep, 0.2))
        await asyncio.sleep(0)
        leaving = [asyncio.create_task(one.run(jobs.echo, number)) for number in range(5)]
        staying = asyncio.create_task(one.run(jobs.echo, "stays"))
        await asyncio.sleep(0.05)
        for call in leaving:
            call.cancel()
        assert await staying == "stays"
        await busy
        assert one.queued == 0


@LINUX
async def test_standard_streams_and_secrets_stay_with_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_MCP_TOKEN", "secret")
    async with WorkerPool(1) as one:
        assert (await one.run(jobs.descriptors))[:2] == ["/dev/null", "/dev/null"]
        assert "SEARCH_MCP_TOKEN" not in await one.run(jobs.environment)


async def test_a_worker_imports_only_pure_packages(workers: WorkerPool) -> None:
    loaded = await workers.run(jobs.modules)
    assert "scraper.extract.reader" in loaded
    assert not {"asyncio", "mcp", "playwright", "scraper.workers.pool", "apsw"} & set(loaded)


CLOSED = """
    import asyncio, os
    from scraper.workers import WorkerDiedError, WorkerPool
    from tests.scraper.workers import jobs
    from tests.scraper.workers.processes import pids_of
    from tests.scraper.workers.test_pool import until_gone

    async def main():
        before = set(os.listdir("/proc/self/fd"))
        running = WorkerPool(2)
        await running.start()
        await asyncio.gather(*(running.run(jobs.sleep, 0.05) for _ in range(4)))
        call = asyncio.create_task(running.run(jobs.sleep, 600.0, limit_s=600.0))
        await asyncio.sleep(0.1)
        pids = pids_of(running)
        await running.close()
        for closed in (call, running.run(jobs.pid)):
            try:
                await closed
            except WorkerDiedError as error:
                print(error)
        await until_gone(*pids)
        print(len(pids), set(os.listdir("/proc/self/fd")) - before)

    asyncio.run(main())
"""


@LINUX
async def test_nothing_is_left_after_close() -> None:
    # Run in a separate process: other tests open and close files in this one.
    told = await output_of("-c", textwrap.dedent(CLOSED))
    first, second, left = told.out.splitlines()
    assert "closed" in first and "closed" in second, told
    assert (left, told.code) == ("3 set()", 0)


async def test_starts_that_fail_together_are_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    fork, failures = WorkerPool._fork, [ProcessGoneError("the fork server is gone")] * 4

    def failing(self: WorkerPool) -> Worker:
        if failures:
            raise failures.pop()
        return fork(self)

    monkeypatch.setattr(WorkerPool, "_fork", failing)
    async with WorkerPool(4) as four:
        assert await four.run(jobs.pid) in pids_of(four)


async def test_waiting_calls_fail_if_no_worker_can_start() -> None:
    async with WorkerPool(1, preload=("scraper.no_such_module",)) as broken:
        with pytest.raises(NoWorkerError, match="no worker process can be started"):
            await broken.run(jobs.pid)


SERVER = """
    import asyncio, os, sys
    from scraper.workers import WorkerPool
    from tests.scraper.workers import jobs
    from tests.scraper.workers.processes import pids_of

    async def main():
        async with WorkerPool(2) as workers:
            await asyncio.gather(*(workers.run(jobs.sleep, 0.05) for _ in range(4)))
            call = asyncio.create_task(workers.run(jobs.spin, sys.argv[1], limit_s=600.0))
            while not os.path.exists(sys.argv[1]):
                await asyncio.sleep(0.01)
            print(*pids_of(workers), flush=True)
            await call

    asyncio.run(main())
"""


async def test_no_process_outlives_a_killed_server(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", textwrap.dedent(SERVER), str(tmp_path / "pid")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root, text=True) as server:  # noqa: ASYNC220
        assert server.stdout is not None
        pids = [int(word) for word in server.stdout.readline().split()]
        assert len(pids) == 3
        server.kill()
    await until_gone(*pids)


async def test_a_hundred_calls_at_once_all_come_back(workers: WorkerPool) -> None:
    started = time.monotonic()
    assert await asyncio.gather(*(workers.run(jobs.echo, number) for number in range(100))) == list(range(100))
    assert time.monotonic() - started < PATIENCE_S
