"""Each document is parsed in a separate process, which always ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import zlib
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from scraper.documents.model import ParseRequest
from scraper.workers import WorkerDiedError, WorkerFailedError, WorkerMemoryError, WorkerTimeoutError
from scraper.workers.sandbox import SandboxLimits
from scraper.workers.single_use import ResourceLimits, SingleUseProcesses
from tests.scraper.documents.builders import drawn_pdf, text_at

PDF = drawn_pdf([text_at(60, 300, "A line of the log that is long enough")])


@pytest_asyncio.fixture
async def shots() -> AsyncIterator[SingleUseProcesses]:
    opened = SingleUseProcesses(2)
    yield opened
    await opened.close()


async def ask(shots: SingleUseProcesses, data: bytes, **more: Any) -> dict[str, Any]:
    return await shots.run(asdict(ParseRequest(**more)), data)


def children() -> set[int]:
    """Return the child processes of this process, including zombies."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        # A thread may end during the loop.
        with contextlib.suppress(OSError):
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


async def test_an_error_is_returned_with_code_and_text(shots: SingleUseProcesses) -> None:
    answer = await ask(shots, b"%PDF-1.7\n")
    assert answer["error"] == "malformed"
    assert "damaged" in answer["message"]


async def test_a_warm_process_serves_one_document_and_is_replaced(shots: SingleUseProcesses) -> None:
    await ask(shots, PDF)
    assert shots.warm_process is not None
    first = await shots.warm_process
    await ask(shots, PDF)
    assert not first.is_open
    assert shots.warm_process is not None
    assert await shots.warm_process is not first


async def test_nothing_is_left_of_any_process(shots: SingleUseProcesses) -> None:
    before = children()
    await ask(shots, PDF)
    await shots.close()
    assert children() <= before


async def test_a_bomb_is_ended_by_its_memory_and_the_next_document_is_read(shots: SingleUseProcesses) -> None:
    content = zlib.compress(b"BT /F1 1 Tf 1 1 Td (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET\n" * 1_000_000)
    start, end = PDF.index(b"<< /Length"), PDF.index(b"endstream")
    head = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(content)
    bomb = PDF[:start] + head + content + b"\n" + PDF[end:]
    small = SingleUseProcesses(1, limits=ResourceLimits(memory_bytes=200_000_000), keep_warm=False)
    with pytest.raises((WorkerMemoryError, WorkerDiedError, WorkerTimeoutError)):
        await ask(small, bomb)
    assert "parsed" in await ask(small, PDF)
    await small.close()


async def test_time_is_up_when_it_is_up() -> None:
    slow = SingleUseProcesses(1, limits=ResourceLimits(sandbox=replace(SandboxLimits(), cpu_s=1)), keep_warm=False)
    deep = b"a," * 9_000_000
    with pytest.raises(WorkerTimeoutError):
        await slow.run(asdict(ParseRequest(name="a.csv")), deep, limit_s=0.05)
    await slow.close()


async def test_process_without_cpu_time_is_killed_as_stalled() -> None:
    shots = SingleUseProcesses(1, limits=ResourceLimits(stalled_s=0.2), keep_warm=False)
    before = children()
    process = await shots._take_process()
    await process.wait_until_ready()
    task = asyncio.create_task(process.run(asdict(ParseRequest(name="a.csv")), b"a," * 4_000_000, shots._limits))
    os.kill(process._process.pid, signal.SIGSTOP)
    with pytest.raises(WorkerTimeoutError, match="stalled"):
        await task
    await process.end()
    assert children() <= before


async def test_waiting_for_a_slot_does_not_count_as_time_of_the_document() -> None:
    one = SingleUseProcesses(1, keep_warm=False)
    async with one._semaphore:
        task = asyncio.create_task(one.run(asdict(ParseRequest()), PDF, limit_s=0.01))
        done, _ = await asyncio.wait({task}, timeout=0.3)
    assert not done
    with pytest.raises(WorkerTimeoutError):
        await task
    await one.close()


async def test_cancellation_ends_the_process() -> None:
    shots = SingleUseProcesses(1, keep_warm=False)
    before = children()
    task = asyncio.create_task(ask(shots, PDF))
    while not children() - before:  # noqa: ASYNC110 - no event reports a birth
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await shots.close()
    for _ in range(500):
        if children() <= before:
            break
        await asyncio.sleep(0.01)
    assert children() <= before


async def test_a_dead_process_fails_only_its_own_call(shots: SingleUseProcesses) -> None:
    await ask(shots, PDF)
    assert shots.warm_process is not None
    waiting = await shots.warm_process
    pid = waiting._process.pid
    os.kill(pid, 9)
    while pid in children():  # noqa: ASYNC110 - no event reports a death
        await asyncio.sleep(0.01)
    assert "parsed" in await ask(shots, PDF)


async def test_a_process_that_is_killed_while_it_starts_fails_no_call(shots: SingleUseProcesses) -> None:
    before = children()
    await ask(shots, PDF)
    while not (starting := children() - before):  # noqa: ASYNC110 - no event reports a start
        await asyncio.sleep(0.001)
    assert shots.warm_process is not None and not shots.warm_process.done()
    for pid in starting:
        os.kill(pid, signal.SIGKILL)
    assert "parsed" in await ask(shots, PDF)


async def test_closed_shots_read_nothing() -> None:
    shots = SingleUseProcesses(1)
    await shots.close()
    with pytest.raises(WorkerFailedError):
        await ask(shots, PDF)
