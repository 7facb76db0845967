"""One at a time, the callers by turns."""

from __future__ import annotations

import asyncio

from scraper.reading.politeness.fair_lock import FairLock


async def test_callers_take_turns_whatever_each_has_brought() -> None:
    turnstile, order = FairLock(), list[str]()

    async def pass_through(principal: str) -> None:
        async with turnstile.passing(principal):
            order.append(principal)
            await asyncio.sleep(0)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for principal in "aaaaaabbc":
            group.create_task(pass_through(principal))
    assert order == list("aabcabaaa") and turnstile.ahead == 0


async def test_who_leaves_the_line_or_is_ended_inside_holds_up_nobody() -> None:
    turnstile = FairLock()
    entered = asyncio.Event()

    async def stay(principal: str) -> None:
        async with turnstile.passing(principal):
            entered.set()
            await asyncio.Event().wait()

    inside, waiting, last = (asyncio.create_task(stay(name)) for name in "abc")
    await entered.wait()
    await asyncio.sleep(0)
    assert turnstile.ahead == 3
    waiting.cancel()
    inside.cancel()
    entered.clear()
    async with asyncio.timeout(60):
        await entered.wait()
    last.cancel()
    await asyncio.wait({inside, waiting, last})
    assert turnstile.ahead == 0


async def test_a_turn_that_is_refused_as_it_comes_goes_to_the_next() -> None:
    turnstile, order = FairLock(), list[str]()

    async def pass_through(name: str) -> None:
        async with turnstile.passing(name):
            order.append(name)

    async with turnstile.passing("first"):
        tasks = {name: asyncio.create_task(pass_through(name)) for name in "abc"}
        await asyncio.sleep(0)
    # The turn has been handed to "a", who has not yet run.
    tasks["a"].cancel()
    await asyncio.wait(tasks.values())
    assert order == ["b", "c"] and turnstile.ahead == 0
