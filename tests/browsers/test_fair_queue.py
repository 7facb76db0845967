"""A queue for one slot: callers take turns, and no turn is lost."""

from __future__ import annotations

import asyncio

from browsers.fair_queue import FairQueue


async def test_callers_take_turns_regardless_of_their_queue_length() -> None:
    queue, order = FairQueue(), list[str]()

    async def pass_through(principal: str) -> None:
        async with queue.slot(principal):
            order.append(principal)
            await asyncio.sleep(0)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for principal in "aaaaaabbc":
            group.create_task(pass_through(principal))
    assert order == list("aabcabaaa") and queue.pending == 0


async def test_canceled_turns_do_not_block_the_queue() -> None:
    queue = FairQueue()
    entered = asyncio.Event()

    async def stay(principal: str) -> None:
        async with queue.slot(principal):
            entered.set()
            await asyncio.Event().wait()

    inside, waiting, last = (asyncio.create_task(stay(name)) for name in "abc")
    await entered.wait()
    await asyncio.sleep(0)
    assert queue.pending == 3
    waiting.cancel()
    inside.cancel()
    entered.clear()
    async with asyncio.timeout(60):
        await entered.wait()
    last.cancel()
    await asyncio.wait({inside, waiting, last})
    assert queue.pending == 0


async def test_refused_turn_goes_to_the_next() -> None:
    queue, order = FairQueue(), list[str]()

    async def pass_through(name: str) -> None:
        async with queue.slot(name):
            order.append(name)

    async with queue.slot("first"):
        tasks = {name: asyncio.create_task(pass_through(name)) for name in "abc"}
        await asyncio.sleep(0)
    # The turn has been handed to "a", who has not yet run.
    tasks["a"].cancel()
    await asyncio.wait(tasks.values())
    assert order == ["b", "c"] and queue.pending == 0
