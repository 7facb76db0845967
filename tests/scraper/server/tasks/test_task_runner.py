"""Tests for tasks of two servers over one store: results, cancellation, questions, and the end of a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from scraper.server import tasks
from scraper.server.calls.dispatcher import ShuttingDownError
from scraper.server.tasks import MAX_ATTEMPTS, MAX_TASKS, RunningTask, TaskRunner, TaskState, TaskStore
from scraper.store.sqlite.record_logs import open_record_logs
from tests.scraper.process import until

ANN = "ann"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[TaskStore]:
    """Open an empty store."""
    records = open_record_logs(tmp_path)
    yield TaskStore(records)
    await records.close()


@pytest.fixture(autouse=True)
def _short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "POLL_S", 0.02)


class Server:
    """A server that runs tasks, and counts how they end."""

    def __init__(self) -> None:
        """Start without tasks."""
        self.runner = TaskRunner(self.work, nullcontext)
        self.cancelled = 0
        self.begun: list[str] = []

    async def work(self, task: RunningTask) -> Mapping[str, Any]:
        """Run one of some tools."""
        self.begun.append(task.id)
        await task.report(1, 3, "reading")
        match task.tool:
            case "quick":
                return {"content": [{"type": "text", "text": f"done {task.arguments['a']}"}]}
            case "asks":
                answers = await task.ask({"one": {"method": "x"}, "two": {"method": "x"}})
                return {"content": [], "answers": dict(answers)}
            case "stops":
                raise ShuttingDownError
            case "fails":
                raise MCPError(-32005, "No.")
            case "long":
                return {"text": "x" * 3_000_000}
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return {}

    async def start(self, store: TaskStore, tool: str, **arguments: object) -> TaskState:
        """Start a task."""
        state = await self.runner.start(store, ANN, tool, arguments)
        assert state is not None and state.status == "working"
        return state

    async def wait(self, store: TaskStore, task_id: str, *statuses: str) -> TaskState:
        """Return the state of a task as soon as it has one of the statuses."""
        async with asyncio.timeout(10):
            while True:
                state = await self.runner.read(store, ANN, task_id)
                assert state is not None
                if state.status in statuses:
                    return state
                await asyncio.sleep(0.01)


@pytest.mark.parametrize(("tool", "status"), [("quick", "completed"), ("fails", "failed"), ("long", "failed")])
async def test_any_server_answers_for_a_task(store: TaskStore, tool: str, status: str) -> None:
    one, other = Server(), Server()
    task = await one.start(store, tool, a=7)
    state = await other.wait(store, task.id, "completed", "failed")
    assert state.status == status and other.begun == []
    if tool == "quick":
        assert state.result == {"content": [{"type": "text", "text": "done 7"}]}
    else:
        assert state.error is not None and state.error["message"]
    assert await other.runner.read(store, "ben", task.id) is None
    assert not await other.runner.cancel(store, "ben", task.id)


async def test_a_task_is_cancelled_through_any_server(store: TaskStore) -> None:
    one, other = Server(), Server()
    for server in (one, other):
        task = await one.start(store, "slow")
        assert (await server.wait(store, task.id, "working")).id == task.id
        assert await server.runner.cancel(store, ANN, task.id)
        assert (await one.wait(store, task.id, "cancelled")).result is None
        await until(lambda: not one.runner._runs)
        assert await server.runner.cancel(store, ANN, task.id), "a task that has ended may be cancelled again"
    assert one.cancelled == 2


async def test_a_task_asks_and_receives_its_answers_one_by_one(store: TaskStore) -> None:
    one, other = Server(), Server()
    task = await one.start(store, "asks")
    assert set((await other.wait(store, task.id, "input_required")).input_requests) == {"one", "two"}
    assert await other.runner.respond(store, ANN, task.id, {"one": 1, "unknown": 0})
    asked = await other.runner.read(store, ANN, task.id)
    assert asked is not None and asked.status == "input_required" and set(asked.input_requests) == {"two"}
    assert await other.runner.respond(store, ANN, task.id, {"two": 2})
    state = await other.wait(store, task.id, "completed")
    assert state.result == {"content": [], "answers": {"one": 1, "two": 2}}


async def test_the_progress_of_a_task_is_its_message(store: TaskStore) -> None:
    one = Server()
    task = await one.start(store, "slow")
    while not (state := await one.wait(store, task.id, "working")).message:
        assert time.time() - state.created_at < 10
    assert state.message == "1 of 3: reading"
    await one.runner.cancel(store, ANN, task.id)


async def test_another_server_takes_over_the_task_of_a_server_that_stops(store: TaskStore) -> None:
    one, other = Server(), Server()
    task = await one.start(store, "stops")
    await until(lambda: not one.runner._runs)
    assert other.begun == []
    await other.runner.read(store, ANN, task.id)
    await until(lambda: other.begun == [task.id] and not other.runner._runs)


async def test_a_task_that_ends_its_servers_fails(store: TaskStore) -> None:
    created = await store.create(ANN, "slow", {})
    assert created is not None
    worn = replace(created.state, attempts=MAX_ATTEMPTS, updated_at=0.0)
    assert await store.replace(ANN, created, worn)
    server = Server()
    assert await server.runner.read(store, ANN, created.state.id) is not None
    assert server.begun == []
    state = await store.read(ANN, created.state.id)
    assert state is not None and state.state.status == "failed"
    assert "Call the tool again" in str(state.state.error)


async def test_the_tasks_of_a_caller_are_bounded(store: TaskStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(MAX_TASKS):
        assert await store.create(ANN, "slow", {}) is not None
    assert await store.create(ANN, "slow", {}) is None
    assert await store.create("ben", "slow", {}) is not None
    monkeypatch.setattr(tasks, "TTL_S", -1)
    created = await store.create(ANN, "slow", {})
    assert created is not None, "expired tasks are deleted"
    assert await store.read(ANN, created.state.id) is None


async def test_a_server_that_is_behind_changes_nothing(store: TaskStore) -> None:
    first = await store.create(ANN, "slow", {})
    assert first is not None
    now = time.time()
    latest = first
    for _ in range(3):
        assert await store.replace(ANN, latest, replace(latest.state, updated_at=now))
        read = await store.read(ANN, first.state.id)
        assert read is not None
        latest = read
    assert not await store.replace(ANN, first, replace(first.state, status="cancelled"))
    read = await store.read(ANN, first.state.id)
    assert read is not None and read.state.status == "working"
