"""The state of one process about callers and hosts is bounded; the oldest entries are evicted first."""

from __future__ import annotations

import pytest

from scraper.coordination.local_state import LocalLeases, LocalLimits
from scraper.coordination.protocols import Lease, Limit, RetryLater, ThrottleTerms

ONCE = Limit("calls", burst=1, per_second=0.01)


async def test_of_too_many_callers_the_one_who_called_longest_ago_is_forgotten() -> None:
    limits = LocalLimits(clock=lambda: 5.0, keep=2)
    for caller in ("first", "second", "third"):
        assert not await limits.take(ONCE, caller)
    assert await limits.take(ONCE, "third") == pytest.approx(100)
    assert await limits.take(ONCE, "second") == pytest.approx(100)
    assert not await limits.take(ONCE, "first")


async def test_who_calls_again_is_not_the_oldest() -> None:
    now = [0.0]
    limits = LocalLimits(clock=lambda: now[0], keep=2)
    assert not await limits.take(ONCE, "first")
    assert not await limits.take(ONCE, "second")
    now[0] = 100.0
    assert not await limits.take(ONCE, "first")
    assert not await limits.take(ONCE, "third")
    assert await limits.take(ONCE, "first") == pytest.approx(100)


async def test_of_too_many_hosts_those_that_nobody_asks_are_forgotten() -> None:
    now = [0.0]
    leases = LocalLeases(clock=lambda: now[0], keep=2)
    await leases.start_cooldown("tired", 60)
    held = await leases.take("asked", ThrottleTerms(at_once=1))
    assert isinstance(held, Lease)
    await leases.start_cooldown("late", 30)
    assert set(leases.cooldowns()) == {"late"}
    now[0] = 31.0
    await leases.start_cooldown("last", 30)
    assert set(leases.cooldowns()) == {"last"} and leases.held() == [held]
    assert isinstance(await leases.take("asked", ThrottleTerms(at_once=1)), RetryLater)
