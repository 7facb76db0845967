"""Pending writes are written in order, retried and bounded, and a flush always ends."""

from __future__ import annotations

import asyncio

import pytest

from scraper.store import base_page_store as write_behind
from scraper.store.base_page_store import WriteBehindQueue
from scraper.store.protocols import DatabaseUnavailableError


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_behind, "RETRY_S", 0.01)


async def test_batches_keep_the_order_and_hold_no_more_than_they_may() -> None:
    batches: list[list[int]] = []

    async def write(batch: list[int]) -> None:
        batches.append(batch)

    waiting: WriteBehindQueue[int] = WriteBehindQueue(write, batch=3)
    for number in range(7):
        assert waiting.put(number, 1)
    await waiting.flush()
    assert batches == [[0, 1, 2], [3, 4, 5], [6]] and len(waiting) == 0


async def test_failed_writes_are_retried_and_flush_returns() -> None:
    written: list[int] = []
    is_away = True

    async def write(batch: list[int]) -> None:
        if is_away:
            raise DatabaseUnavailableError
        written.extend(batch)

    waiting: WriteBehindQueue[int] = WriteBehindQueue(write, batch=2)
    for number in range(3):
        waiting.put(number, 1)
    async with asyncio.timeout(20):
        await waiting.flush()
        assert written == [] and len(waiting) == 3
        is_away = False
        while len(waiting):
            await waiting.flush()
    assert written == [0, 1, 2]


async def test_items_beyond_the_size_limit_are_counted_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_behind, "QUEUE_BYTES", 100)

    async def write(batch: list[int]) -> None:
        raise DatabaseUnavailableError

    waiting: WriteBehindQueue[int] = WriteBehindQueue(write, batch=2)
    assert waiting.put(1, 90) and not waiting.put(2, 20)
    await waiting.close()
    assert waiting.lost == 2


async def test_flush_returns_after_an_unexpected_exception(caplog: pytest.LogCaptureFixture) -> None:
    faults = [RuntimeError("surprise")]
    written: list[int] = []

    async def write(batch: list[int]) -> None:
        if faults:
            raise faults.pop()
        written.extend(batch)

    waiting: WriteBehindQueue[int] = WriteBehindQueue(write, batch=1)
    waiting.put(1, 1)
    async with asyncio.timeout(20):
        await waiting.flush()
        assert written == [] and "surprise" in caplog.text
        await waiting.flush()
    assert written == [1]
