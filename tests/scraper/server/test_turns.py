"""Calls are admitted up to a limit, fairly, and as often as the operator allows."""

from __future__ import annotations

import contextlib

import pytest

from scraper.errors import Overloaded
from scraper.server.turns import Turns
from tests.scraper.server.test_rates import Clock


async def test_beyond_the_limit_a_caller_is_told_when_to_come_back() -> None:
    turns = Turns(limit=2)
    async with turns.taken("ann"), turns.taken("ann"):
        assert turns.full
        with pytest.raises(Overloaded) as refused:
            async with turns.taken("ann"):
                pass
        assert refused.value.sentence() == "The server is busy: 2 calls are under way. Try again in 2 s."
        assert refused.value.retry_after_s == 2
    assert not turns.full
    async with turns.taken("ann"):
        pass


async def test_a_caller_with_a_thousand_calls_keeps_no_one_out() -> None:
    turns = Turns(limit=10)
    async with contextlib.AsyncExitStack() as held:
        for _ in range(10):
            await held.enter_async_context(turns.taken("ann"))
        for _ in range(5):
            await held.enter_async_context(turns.taken("ben"))
        for name in ("ann", "ben"):
            with pytest.raises(Overloaded):
                async with turns.taken(name):
                    pass
        for _ in range(3):
            await held.enter_async_context(turns.taken("cat"))
        with pytest.raises(Overloaded):
            async with turns.taken("cat"):
                pass


async def test_all_callers_together_never_have_more_than_twice_the_limit() -> None:
    turns, taken = Turns(limit=12), 0
    async with contextlib.AsyncExitStack() as held:
        for name in "abcdefghijklmnop":
            with contextlib.suppress(Overloaded):
                for _ in range(100):
                    await held.enter_async_context(turns.taken(name))
                    taken += 1
        assert 12 < taken <= 24


async def test_a_call_that_fails_gives_its_turn_back() -> None:
    turns = Turns(limit=1)
    for _ in range(3):
        with pytest.raises(ValueError, match="of the tool"):
            async with turns.taken("ann"):
                raise ValueError("of the tool")


async def test_the_wait_follows_how_long_calls_take() -> None:
    clock = Clock()
    turns = Turns(limit=1, clock=clock)
    for _ in range(50):
        async with turns.taken("ann"):
            clock.now += 20
    async with turns.taken("ann"):
        with pytest.raises(Overloaded) as refused:
            async with turns.taken("ann"):
                pass
    assert 18 <= refused.value.retry_after_s <= 20


async def test_each_caller_may_call_so_often_a_minute() -> None:
    clock = Clock()
    turns = Turns(limit=100, per_minute=2, clock=clock)
    for name in ("ann", "ann", "ben"):
        async with turns.taken(name):
            pass
    with pytest.raises(Overloaded, match="it takes 2 calls a minute") as refused:
        async with turns.taken("ann"):
            pass
    assert refused.value.retry_after_s == 30
    clock.now += 30
    async with turns.taken("ann"):
        pass
