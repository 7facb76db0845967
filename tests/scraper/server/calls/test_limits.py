"""Calls are admitted up to a limit, fairly, and as often as the operator allows."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import PIPE
from pathlib import Path

import aiohttp
import pytest

from scraper.errors import OverloadedError
from scraper.server.calls.limits import CallLimiter
from tests.scraper.process import LIMIT_S, browsers_say, running, serving
from tests.scraper.server.calls.test_rate_limit import Clock
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.pipe import answer, ask, begin, write
from tests.scraper.server.wire import call, initialize, modern_call, tool_result


async def test_beyond_the_limit_a_caller_gets_a_retry_time() -> None:
    turns = CallLimiter(limit=2)
    async with turns.admit("ann"), turns.admit("ann"):
        assert turns.full
        with pytest.raises(OverloadedError) as refused:
            async with turns.admit("ann"):
                pass
        assert refused.value.sentence() == "The server is busy: 2 calls are under way. Try again in 2 s."
        assert refused.value.retry_after_s == 2
    assert not turns.full
    async with turns.admit("ann"):
        pass


async def test_the_retry_time_is_the_time_until_a_running_call_ends() -> None:
    clock = Clock()
    turns = CallLimiter(limit=2, clock=clock)

    async def refused_for_s(principal: str) -> float:
        with pytest.raises(OverloadedError) as refused:
            async with turns.admit(principal):
                pass
        return refused.value.retry_after_s

    for _ in range(80):
        async with turns.admit("ann"):
            clock.now += 20
    async with turns.admit("ann"):
        clock.now += 15
        async with turns.admit("ann"):
            assert await refused_for_s("ann") == 5
            async with turns.admit("ben"):
                assert await refused_for_s("ben") == 20
                clock.now += 10
                assert await refused_for_s("ann") == 10


async def test_a_caller_with_a_thousand_calls_keeps_no_one_out() -> None:
    turns = CallLimiter(limit=10)
    async with contextlib.AsyncExitStack() as held:
        for _ in range(10):
            await held.enter_async_context(turns.admit("ann"))
        for _ in range(5):
            await held.enter_async_context(turns.admit("ben"))
        for name in ("ann", "ben"):
            with pytest.raises(OverloadedError):
                async with turns.admit(name):
                    pass
        for _ in range(3):
            await held.enter_async_context(turns.admit("cat"))
        with pytest.raises(OverloadedError):
            async with turns.admit("cat"):
                pass


async def test_all_callers_together_never_have_more_than_twice_the_limit() -> None:
    turns, taken = CallLimiter(limit=12), 0
    async with contextlib.AsyncExitStack() as held:
        for name in "abcdefghijklmnop":
            with contextlib.suppress(OverloadedError):
                for _ in range(100):
                    await held.enter_async_context(turns.admit(name))
                    taken += 1
        assert 12 < taken <= 24


async def test_a_call_that_fails_gives_its_turn_back() -> None:
    turns = CallLimiter(limit=1)
    for _ in range(3):
        with pytest.raises(ValueError, match="of the tool"):
            async with turns.admit("ann"):
                raise ValueError("of the tool")


async def test_the_wait_follows_how_long_calls_take() -> None:
    clock = Clock()
    turns = CallLimiter(limit=1, clock=clock)
    for _ in range(50):
        async with turns.admit("ann"):
            clock.now += 20
    async with turns.admit("ann"):
        with pytest.raises(OverloadedError) as refused:
            async with turns.admit("ann"):
                pass
    assert 18 <= refused.value.retry_after_s <= 20


async def test_each_caller_may_call_so_often_a_minute() -> None:
    clock = Clock()
    turns = CallLimiter(limit=100, per_minute=2, clock=clock)
    for name in ("ann", "ann", "ben"):
        async with turns.admit(name):
            pass
    with pytest.raises(OverloadedError, match="it takes 2 calls a minute") as refused:
        async with turns.admit("ann"):
            pass
    assert refused.value.retry_after_s == 30
    clock.now += 30
    async with turns.admit("ann"):
        pass


BUSY = "The server is busy: "
OFTEN = BUSY + "it takes 2 calls a minute from one caller."


async def test_callers_over_http_are_held_to_both_bounds(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ann:one\nben:two\n")
    bounds = ("--call_limit=1", "--calls_per_minute=2", f"--tokens_file={tokens}")

    async def answer_to(name: str, token: str) -> str:
        headers, message = modern_call(name, {"seconds": 60})
        headers["Authorization"] = f"Bearer {token}"
        async with http.post(program.url, headers=headers, json=message) as answer:
            return await tool_result(answer)

    async with serving(*STAND_IN, "http", *bounds) as program:
        slow = asyncio.create_task(answer_to("slow", "one"))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        assert (await answer_to("echo", "one")).startswith(BUSY + "1 calls are under way.")
        slow.cancel()
        await browsers_say(program.base, "active", 0, limit_s=LIMIT_S)
        for token in ("one", "two", "two"):
            assert "principal" in await answer_to("echo", token)
        assert (await answer_to("echo", "one")).startswith(OFTEN)


async def test_the_caller_over_stdio_is_held_to_both_bounds() -> None:
    bounds = ("--call_limit=1", "--calls_per_minute=2")
    async with running(*STAND_IN, "stdio", *bounds, stdin=PIPE, stdout=PIPE) as program:

        async def answer_to(number: int) -> str:
            await write(program, call("echo", number=number))
            text: str = (await answer(program))["result"]["content"][0]["text"]
            return text

        await ask(program, initialize())
        await begin(program, call("slow", {"seconds": 60}, number=2))
        assert (await answer_to(3)).startswith(BUSY + "1 calls are under way.")
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        await write(program, cancelled)
        await program.until("outcome=cancelled")
        # The first of them are counted by the process itself, as long as its services are not open.
        output = [await answer_to(number) for number in range(4, 10)]
        assert any(text.startswith(OFTEN) for text in output)
