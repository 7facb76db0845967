"""A call ends when its time does, whatever its tool makes of that."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import anyio
import pytest
from mcp import MCPError

from scraper.server.calls import dispatcher as server_calls
from scraper.server.calls.dispatcher import CallDispatcher, ToolCaller
from scraper.server.calls.limits import CallLimiter
from scraper.server.lifecycle import hold_services
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from tests.scraper.process import LIMIT_S
from tests.scraper.server.stand_in import App

SHORT_S = 0.2


class Deaf:
    """A tool that knows of no deadline, and once told to end does so when it may."""

    def __init__(self) -> None:
        self.has_ended = asyncio.Event()
        self.may_end = asyncio.Event()

    async def run(self, _app: Any, _arguments: Mapping[str, Any], _call: ToolCall) -> ToolAnswer:
        try:
            await asyncio.sleep(2 * LIMIT_S)
        finally:
            await self.may_end.wait()
            self.has_ended.set()
        return ToolAnswer("late")


@contextlib.asynccontextmanager
async def calls_of(tool: Deaf, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[CallDispatcher]:
    """Build a dispatcher with short limits."""
    monkeypatch.setattr(server_calls, "_GRACE_S", SHORT_S)
    async with hold_services(cast(Any, App.open)) as holder:
        await holder.services()
        deaf = Tool("deaf", "Deaf", "Hears nothing.", {"type": "object"}, cast(Any, tool.run))
        yield CallDispatcher((deaf,), holder, deadline_s=SHORT_S)


async def test_a_tool_beyond_its_deadline_is_canceled_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = Deaf()
    tool.may_end.set()
    async with calls_of(tool, monkeypatch) as calls, asyncio.timeout(LIMIT_S):
        answer = await calls.answer("deaf", {}, ToolCaller())
        assert tool.has_ended.is_set() and calls.running == 0
    assert answer.is_error
    assert answer.text == "Nothing could be read within 0.2 s. Try again later, or ask for less."


async def test_a_tool_that_ignores_cancellation_is_abandoned(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server_calls, "_CLEANUP_S", SHORT_S)
    tool = Deaf()
    async with calls_of(tool, monkeypatch) as calls, asyncio.timeout(LIMIT_S):
        assert (await calls.answer("deaf", {}, ToolCaller())).is_error
        assert not tool.has_ended.is_set() and calls.running == 0
        tool.may_end.set()
        await tool.has_ended.wait()
    assert "a canceled call has not ended after 0.2 s" in caplog.messages


async def test_a_call_that_the_library_cancels_over_and_over_cleans_up_before_it_returns() -> None:
    begun, cleaned = asyncio.Event(), asyncio.Event()

    async def run(_app: Any, _arguments: Mapping[str, Any], _call: ToolCall) -> ToolAnswer:
        try:
            begun.set()
            await asyncio.sleep(2 * LIMIT_S)
        finally:
            await asyncio.sleep(SHORT_S)
            cleaned.set()
        return ToolAnswer("late")

    async with hold_services(cast(Any, App.open)) as holder, asyncio.timeout(LIMIT_S):
        tool = Tool("slow", "Slow", "Cleans up for a while.", {"type": "object"}, run)
        calls = CallDispatcher((tool,), holder, deadline_s=2 * LIMIT_S)
        async with anyio.create_task_group() as group:
            group.start_soon(calls.answer, "slow", {}, ToolCaller())
            await begun.wait()
            group.cancel_scope.cancel()
        assert cleaned.is_set() and calls.running == 0


async def test_a_store_that_does_not_respond_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(_app: object) -> None:
        await asyncio.sleep(2 * LIMIT_S)

    async with calls_of(Deaf(), monkeypatch) as calls, asyncio.timeout(LIMIT_S):
        with pytest.raises(MCPError, match="could not be read in time"):
            await calls.query("resources/list", ToolCaller(), work, limit_s=SHORT_S)


@pytest.mark.parametrize("end", ["client", "server"])
async def test_a_look_ends_with_its_client_and_with_the_server(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    begun, ended, at_once = asyncio.Event(), asyncio.Event(), asyncio.Event()
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work(_app: object) -> None:
        try:
            begun.set()
            await asyncio.sleep(2 * LIMIT_S)
        finally:
            ended.set()

    async with calls_of(Deaf(), monkeypatch) as calls, asyncio.timeout(LIMIT_S):
        looking = asyncio.create_task(calls.query("page/try", ToolCaller(disconnected=gone), work, limit_s=2 * LIMIT_S))
        await begun.wait()
        if end == "client":
            gone.set_result(None)
        else:
            at_once.set()
            await calls.drain(2 * LIMIT_S, at_once)
        with pytest.raises(MCPError) as output:
            await looking
        assert output.value.error.code == {"client": -32800, "server": -32000}[end]
        assert ended.is_set() and calls.running == 0


async def test_a_look_is_refused_while_the_server_stops_and_where_all_turns_are_taken() -> None:
    async def work(_app: object) -> str:
        return "seen"

    async with hold_services(cast(Any, App.open)) as holder:
        turns, at_once = CallLimiter(limit=1), asyncio.Event()
        calls = CallDispatcher((), holder, deadline_s=LIMIT_S, limiter=turns)
        async with turns.admit("local"):
            with pytest.raises(MCPError, match="The server is busy") as output:
                await calls.query("resources/read", ToolCaller(), work)
            assert await calls.query("resources/list", ToolCaller(), work) == "seen"
        assert output.value.error.data == {"retryAfter": 2}
        assert await calls.query("resources/list", ToolCaller(), work) == "seen"
        at_once.set()
        await calls.drain(LIMIT_S, at_once)
        with pytest.raises(MCPError, match="shutting down"):
            await calls.query("resources/list", ToolCaller(), work)


async def test_the_time_that_the_services_take_to_open_is_part_of_the_call() -> None:
    left: list[float] = []

    @contextlib.asynccontextmanager
    async def slow_to_open() -> AsyncIterator[App]:
        await asyncio.sleep(SHORT_S)
        yield App()

    async def run(_app: Any, _arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        left.append(call.deadline_s)
        return ToolAnswer("done")

    async with hold_services(cast(Any, slow_to_open)) as holder:
        tool = Tool("quick", "Quick", "Is told how long it has.", {"type": "object"}, run)
        await CallDispatcher((tool,), holder, deadline_s=LIMIT_S).answer("quick", {}, ToolCaller())
    assert 0 < left[0] <= LIMIT_S - SHORT_S / 2
