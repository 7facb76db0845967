"""A task that runs while a block runs."""

from __future__ import annotations

import asyncio

import pytest

from scraper.background_tasks import run_in_background


async def test_the_task_runs_during_the_block_and_has_ended_after_it() -> None:
    events: list[str] = []

    async def work() -> None:
        events.append("begins")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            events.append("ends")

    with pytest.raises(ValueError, match="of the block"):
        async with run_in_background(work()):
            await asyncio.sleep(0)
            assert events == ["begins"]
            raise ValueError("of the block")
    assert events == ["begins", "ends"]


async def test_an_error_of_the_task_does_not_reach_the_block() -> None:
    async def fail() -> None:
        raise ValueError

    async with run_in_background(fail()):
        await asyncio.sleep(0)
