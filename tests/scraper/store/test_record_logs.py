"""Tests for the record logs of each backend."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scraper.store import record_logs
from scraper.store.postgres.database import PostgresPool
from scraper.store.protocols import DatabaseUnavailableError
from scraper.store.record_logs import RecordExistsError, RecordLogs
from scraper.store.sqlite.record_logs import FILE_NAME, open_record_logs


@pytest.fixture(params=["sqlite", "postgres"])
async def logs(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[RecordLogs]:
    """Open empty logs of each backend."""
    if request.param == "sqlite":
        sqlite = open_record_logs(tmp_path)
        yield sqlite
        await sqlite.close()
        return
    server = PostgresPool(await request.getfixturevalue("postgres").database())
    yield RecordLogs(server)
    await server.disconnect()


async def test_records_come_back_in_the_order_of_their_numbers(logs: RecordLogs) -> None:
    before = time.time()
    for number in (1, 0, 2):
        await logs.append("ann", "crawl:a", number, bytes([number, 0, 255]))
    await logs.append("ann", "crawl:ab", 0, b"other")
    await logs.append("bob", "crawl:a", 0, b"bob")
    found = await logs.read("ann", "crawl:a")
    assert [(record.number, record.data) for record in found] == [(n, bytes([n, 0, 255])) for n in range(3)]
    assert all(before - 1 <= record.written_at <= time.time() + 1 for record in found)
    assert await logs.read("ann", "unknown") == []


async def test_a_number_is_written_once(logs: RecordLogs) -> None:
    await logs.append("ann", "log", 0, b"first")
    with pytest.raises(RecordExistsError):
        await logs.append("ann", "log", 0, b"second")
    assert [record.data for record in await logs.read("ann", "log")] == [b"first"]


async def test_names_and_parts_of_a_log(logs: RecordLogs) -> None:
    for name in ("watch:b", "watch:a", "page:a", "watch_x", "WATCH:c"):
        for number in range(3):
            await logs.append("ann", name, number, b"x")
    await logs.append("bob", "watch:z", 0, b"x")
    assert await logs.list_logs("ann", "watch:") == ["watch:a", "watch:b"]
    await logs.delete("ann", "watch:a", below=2)
    assert [record.number for record in await logs.read("ann", "watch:a")] == [2]
    await logs.delete("ann", "watch:b")
    assert await logs.list_logs("ann", "watch:") == ["watch:a"]


async def test_the_oldest_logs_are_deleted_beyond_the_limit(logs: RecordLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_logs, "TOTAL_BYTES", 2_500)
    monkeypatch.setattr(record_logs, "PRUNE_EVERY", 4)
    for name in ("a", "b", "c", "d"):
        await logs.append("ann", name, 0, bytes(1_000))
    assert await logs.list_logs("ann", "") == ["c", "d"]


async def test_a_caller_with_many_bytes_deletes_no_log_of_another(
    logs: RecordLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_logs, "TOTAL_BYTES", 3_500)
    monkeypatch.setattr(record_logs, "PRUNE_EVERY", 2)
    for name in ("a", "b"):
        await logs.append("bob", name, 0, bytes(700))
    for number in range(8):
        await logs.append("ann", f"crawl:{number}", 0, bytes(1_000))
    assert await logs.list_logs("bob", "") == ["a", "b"]
    assert await logs.list_logs("ann", "") == ["crawl:6", "crawl:7"]


async def test_logs_without_recent_records_are_deleted(logs: RecordLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_logs, "KEEP_S", -60.0)
    monkeypatch.setattr(record_logs, "PRUNE_EVERY", 2)
    await logs.append("ann", "a", 0, b"x")
    await logs.append("ann", "b", 0, b"x")
    assert await logs.list_logs("ann", "") == []


async def test_an_unusable_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    logs = open_record_logs(tmp_path)
    with pytest.raises(DatabaseUnavailableError):
        await logs.append("ann", "a", 0, b"x")
    with pytest.raises(DatabaseUnavailableError):
        await logs.read("ann", "a")
    await logs.close()
