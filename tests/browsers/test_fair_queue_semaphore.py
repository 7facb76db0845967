"""Slots are bounded, fair by caller and host, and never lost if a waiting caller is canceled."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from browsers import errors, fair_queue
from browsers.fair_queue import FairSemaphore


class Clock:
    """Replacement of the module `time` whose clock the test advances."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    standing = Clock()
    monkeypatch.setattr(fair_queue, "time", standing)
    return standing


def slots(size: int = 1, per_host: int = 10, queue_limit: int = 10) -> FairSemaphore:
    return FairSemaphore(size, per_host=per_host, queue_limit=queue_limit)


async def hold(of: FairSemaphore, log: list[str], name: str, principal: str, host: str, release: asyncio.Event) -> None:
    async with of.acquire(principal, host, url="", wait_s=30):
        log.append(name)
        await release.wait()


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def order_of(of: FairSemaphore, expected: list[tuple[str, str]]) -> list[str]:
    """Return the order in which waiting (principal, host) pairs get the slots of `of`."""
    log: list[str] = []
    closed, opened = asyncio.Event(), asyncio.Event()
    opened.set()
    first = asyncio.create_task(hold(of, [], "first", "nobody", "none.example", closed))
    await turns()
    waiting = [asyncio.create_task(hold(of, log, f"{p}@{h}", p, h, opened)) for p, h in expected]
    await turns()
    closed.set()
    await asyncio.gather(first, *waiting)
    return log


async def test_callers_take_turns() -> None:
    got = await order_of(slots(), [("a", "x"), ("a", "x"), ("a", "x"), ("b", "x"), ("c", "x")])
    assert got == ["a@x", "b@x", "c@x", "a@x", "a@x"]


async def test_hosts_of_one_caller_take_turns() -> None:
    got = await order_of(slots(), [("a", "x"), ("a", "x"), ("a", "y"), ("a", "z")])
    assert got == ["a@x", "a@y", "a@z", "a@x"]


async def test_busy_host_does_not_delay_another() -> None:
    of, log, release = slots(size=3, per_host=1), list[str](), asyncio.Event()
    tasks = [
        asyncio.create_task(hold(of, log, name, "a", host, release))
        for name, host in (("x1", "x"), ("x2", "x"), ("y1", "y"))
    ]
    await turns()
    assert log == ["x1", "y1"]
    release.set()
    await asyncio.gather(*tasks)
    assert log == ["x1", "y1", "x2"]


async def test_full_queue_raises_busy_with_retry_time() -> None:
    of, release = slots(queue_limit=1), asyncio.Event()
    tasks = [asyncio.create_task(hold(of, [], str(i), "a", "x", release)) for i in range(2)]
    await turns()
    with pytest.raises(errors.BusyError) as caught:
        async with of.acquire("a", "x", url="http://x/", wait_s=30):
            pass
    assert caught.value.retry_after_s >= 1
    assert str(caught.value) == "Too many pages are being read: 1 at work, 1 waiting."
    assert of.queued == 1
    release.set()
    await asyncio.gather(*tasks)
    assert (of.in_use, of.queued) == (0, 0)


async def test_retry_time_is_that_of_the_slowest_host(clock: Clock) -> None:
    of, release = slots(size=8, per_host=1, queue_limit=4), asyncio.Event()
    for host, held_s in (("slow", 1.5), *[("quick", 0.0)] * 3):
        async with of.acquire("a", host, url="", wait_s=30):
            clock.now += held_s
    tasks = [asyncio.create_task(hold(of, [], "", "a", "slow", release)) for _ in range(5)]
    await turns()
    with pytest.raises(errors.BusyError) as caught:
        async with of.acquire("a", "slow", url="", wait_s=30):
            pass
    assert caught.value.retry_after_s == 6  # four wait, 1.5 s each, one after the other
    release.set()
    await asyncio.gather(*tasks)


async def test_queue_seconds_are_the_wait_of_a_new_visit() -> None:
    of, release = slots(size=2, per_host=1), asyncio.Event()
    assert of.queue_s() == 0
    same_host = [asyncio.create_task(hold(of, [], "", "a", "x", release)) for _ in range(3)]
    await turns()
    assert of.queue_s() == 0  # a slot is free: callers wait only for the host
    other_host = asyncio.create_task(hold(of, [], "", "a", "y", release))
    await turns()
    assert of.queue_s() == of.expected_wait_s() > 0
    release.set()
    await asyncio.gather(*same_host, other_host)
    assert of.queue_s() == 0


async def test_longest_wait_is_that_of_the_oldest_turn(clock: Clock) -> None:
    of, release = slots(), asyncio.Event()
    first = asyncio.create_task(hold(of, [], "", "a", "x", release))
    await turns()
    assert of.longest_wait_s() == 0
    leaver = asyncio.create_task(hold(of, [], "", "a", "x", release))
    await turns()
    clock.now += 3
    last = asyncio.create_task(hold(of, [], "", "b", "y", release))
    await turns()
    clock.now += 2
    assert of.longest_wait_s() == 5
    leaver.cancel()
    await turns()
    assert of.longest_wait_s() == 2
    release.set()
    await asyncio.gather(first, last)
    assert of.longest_wait_s() == 0


async def test_a_wait_that_would_outlast_the_deadline_is_refused_at_once() -> None:
    of, release = slots(), asyncio.Event()
    task = asyncio.create_task(hold(of, [], "first", "a", "x", release))
    await turns()
    with pytest.raises(errors.BusyError):
        async with of.acquire("a", "x", url="", wait_s=0.01):
            pass
    release.set()
    await task


async def test_canceled_caller_leaves_the_queue() -> None:
    of, log, release = slots(), list[str](), asyncio.Event()
    first = asyncio.create_task(hold(of, log, "first", "a", "x", release))
    leaver = asyncio.create_task(hold(of, log, "leaver", "a", "x", release))
    last = asyncio.create_task(hold(of, log, "last", "b", "y", release))
    await turns()
    leaver.cancel()
    release.set()
    await asyncio.gather(first, last)
    with suppress(asyncio.CancelledError):
        await leaver
    assert log == ["first", "last"]
    assert (of.in_use, of.queued) == (0, 0)


async def test_turn_of_a_canceled_caller_goes_to_the_next() -> None:
    of, log, release, opened = slots(), list[str](), asyncio.Event(), asyncio.Event()
    opened.set()
    first = asyncio.create_task(hold(of, log, "first", "a", "x", release))
    leaver = asyncio.create_task(hold(of, log, "leaver", "a", "x", opened))
    last = asyncio.create_task(hold(of, log, "last", "b", "y", opened))
    await turns()
    release.set()
    # The release grants the leaver's turn in this very step, before the cancellation reaches it.
    await asyncio.sleep(0)
    leaver.cancel()
    await asyncio.gather(first, last)
    with suppress(asyncio.CancelledError):
        await leaver
    assert "last" in log
    assert (of.in_use, of.queued) == (0, 0)


async def test_unbounded_callers_wait_in_a_full_queue() -> None:
    of, release = slots(queue_limit=0), asyncio.Event()
    first = asyncio.create_task(hold(of, [], "first", "a", "x", release))
    await turns()

    async def patient() -> str:
        async with of.acquire("a", "y", url="", wait_s=30, bounded=False):
            return "served"

    waiting = asyncio.create_task(patient())
    await turns()
    release.set()
    assert await waiting == "served"
    await first


async def test_full_queue_of_one_caller_does_not_exclude_others() -> None:
    of, log, release = slots(queue_limit=4), list[str](), asyncio.Event()
    greedy = [asyncio.create_task(hold(of, log, "a", "a", "x", release)) for _ in range(5)]
    await turns()
    with pytest.raises(errors.BusyError):
        async with of.acquire("a", "x", url="", wait_s=30):
            pass
    others = [asyncio.create_task(hold(of, log, "b", "b", "y", release)) for _ in range(2)]
    await turns()
    with pytest.raises(errors.BusyError):
        async with of.acquire("b", "y", url="", wait_s=30):
            pass
    release.set()
    await asyncio.gather(*greedy, *others)
    assert log[:3] == ["a", "a", "b"] or log[:2] == ["a", "b"]
    assert (of.in_use, of.queued) == (0, 0)
