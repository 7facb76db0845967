"""Concurrent callers share the same work; it is canceled when the last of them leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from scraper.caching import SingleFlight


class Work:
    """Work that counts its runs and cancellations, and ends when the test says so."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0
        self.released = asyncio.Event()
        self.result: Callable[[], Awaitable[str]] = self._return

    async def __call__(self) -> str:
        self.begun += 1
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            self.cancelled += 1
            raise
        return await self.result()

    async def _return(self) -> str:
        return "done"


async def _cancelled(task: asyncio.Task[str]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _under_way(flights: SingleFlight[str, str], work: Work, passengers: int) -> list[asyncio.Task[str]]:
    tasks = [asyncio.create_task(flights.join("page", work)) for _ in range(passengers)]
    await asyncio.sleep(0.01)
    return tasks


async def test_concurrent_callers_share_the_work() -> None:
    flights, work = SingleFlight[str, str](), Work()
    tasks = await _under_way(flights, work, 3)
    work.released.set()
    assert await asyncio.gather(*tasks) == ["done"] * 3
    assert work.begun == 1 and len(flights) == 0


async def test_work_of_another_key_is_not_shared() -> None:
    flights, work = SingleFlight[str, str](), Work()
    work.released.set()
    await asyncio.gather(flights.join("one", work), flights.join("other", work))
    assert work.begun == 2


async def test_a_canceled_caller_does_not_affect_others() -> None:
    flights, work = SingleFlight[str, str](), Work()
    first, second = await _under_way(flights, work, 2)
    await _cancelled(first)
    work.released.set()
    assert await second == "done"
    assert work.cancelled == 0


async def test_the_last_canceled_caller_cancels_the_work_and_waits_for_it() -> None:
    flights, work = SingleFlight[str, str](), Work()
    first, second = await _under_way(flights, work, 2)
    await _cancelled(first)
    await _cancelled(second)
    assert work.cancelled == 1 and len(flights) == 0


async def test_canceled_work_is_not_joined() -> None:
    flights, work = SingleFlight[str, str](), Work()
    (first,) = await _under_way(flights, work, 1)
    first.cancel()
    await asyncio.sleep(0)
    work.released.set()
    assert await flights.join("page", work) == "done"
    assert work.begun == 2
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_failure_reaches_everybody() -> None:
    async def fail() -> str:
        raise ValueError("no")

    flights, work = SingleFlight[str, str](), Work()
    work.result = fail
    tasks = await _under_way(flights, work, 2)
    work.released.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(result) for result in results] == ["no", "no"]


async def test_after_a_failure_the_work_is_tried_anew() -> None:
    async def fail() -> str:
        raise ValueError("no")

    flights, work = SingleFlight[str, str](), Work()
    work.released.set()
    work.result = fail
    with pytest.raises(ValueError):
        await flights.join("page", work)
    work.result = work._return
    assert await flights.join("page", work) == "done"


async def test_closing_ends_everything() -> None:
    flights, work = SingleFlight[str, str](), Work()
    (waiting,) = await _under_way(flights, work, 1)
    await flights.close()
    assert work.cancelled == 1
    with pytest.raises(asyncio.CancelledError):
        await waiting
