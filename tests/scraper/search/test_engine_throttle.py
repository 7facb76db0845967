"""Requests to one engine never overlap, and there is a pause between them."""

from __future__ import annotations

import asyncio
import time

from scraper.coordination.state import Leases
from scraper.search.engine_throttle import EngineThrottle


async def test_one_request_per_engine_runs_at_a_time() -> None:
    spacing, inside, most = EngineThrottle(), 0, 0

    async def ask() -> None:
        nonlocal inside, most
        async with spacing.turn("mojeek"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.01)
            inside -= 1

    await asyncio.gather(*(ask() for _ in range(5)))
    assert most == 1


async def test_engines_do_not_wait_for_each_other() -> None:
    spacing = EngineThrottle()
    begun = []
    async with spacing.turn("mojeek"), asyncio.timeout(30), spacing.turn("bing"):
        begun.append("bing")
    assert begun == ["bing"]


async def test_a_request_waits_for_the_pause_after_the_last() -> None:
    spacing = EngineThrottle()
    begun = time.monotonic()
    spacing.note_request("mojeek", 0.2)
    await spacing.pause("mojeek")
    assert time.monotonic() - begun >= 0.19
    spacing.note_request("mojeek", 3_600)
    async with asyncio.timeout(30):
        await spacing.pause("bing")


async def test_a_cancelled_query_releases_its_turn() -> None:
    spacing = EngineThrottle()

    async def hold() -> None:
        async with spacing.turn("mojeek"):
            await asyncio.Event().wait()

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    holder.cancel()
    async with asyncio.timeout(30), spacing.turn("mojeek"):
        pass


async def test_servers_with_one_address_take_turns() -> None:
    leases, at_once, most = Leases(), 0, 0

    async def ask(spacing: EngineThrottle) -> None:
        nonlocal at_once, most
        async with spacing.turn("mojeek", 0.02):
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.01)
            spacing.note_request("mojeek", 0.02)
            at_once -= 1

    begun = time.monotonic()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(ask(EngineThrottle(leases, "direct")))
    assert most == 1
    assert time.monotonic() - begun >= 3 * 0.02


async def test_servers_with_different_addresses_do_not_wait_for_each_other() -> None:
    leases = Leases()
    async with (
        EngineThrottle(leases, "direct").turn("mojeek", 60),
        asyncio.timeout(30),
        EngineThrottle(leases, "by proxy").turn("mojeek", 60),
    ):
        pass
