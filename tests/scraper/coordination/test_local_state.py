"""The state of one process about callers and hosts is bounded; the oldest entries are evicted first."""

from __future__ import annotations

import pytest

from scraper.coordination.state import Lease, Leases, RateLimit, RateLimits, RetryLater, ThrottleTerms

ONCE = RateLimit("calls", burst=1, per_second=0.01)


async def test_the_least_recently_used_key_of_a_limit_is_evicted() -> None:
    limits = RateLimits(clock=lambda: 5.0, max_keys=2)
    for caller in ("first", "second", "third"):
        assert not await limits.take(ONCE, caller)
    assert await limits.take(ONCE, "third") == pytest.approx(100)
    assert await limits.take(ONCE, "second") == pytest.approx(100)
    assert not await limits.take(ONCE, "first")


async def test_a_used_key_of_a_limit_is_not_evicted() -> None:
    now = [0.0]
    limits = RateLimits(clock=lambda: now[0], max_keys=2)
    assert not await limits.take(ONCE, "first")
    assert not await limits.take(ONCE, "second")
    now[0] = 100.0
    assert not await limits.take(ONCE, "first")
    assert not await limits.take(ONCE, "third")
    assert await limits.take(ONCE, "first") == pytest.approx(100)


async def test_keys_without_leases_are_evicted() -> None:
    now = [0.0]
    leases = Leases(clock=lambda: now[0], max_keys=2)
    await leases.start_cooldown("tired", 60)
    held = await leases.take("busy", ThrottleTerms(at_once=1))
    assert isinstance(held, Lease)
    await leases.start_cooldown("late", 30)
    assert set(leases.cooldowns()) == {"late"}
    now[0] = 31.0
    await leases.start_cooldown("last", 30)
    assert set(leases.cooldowns()) == {"last"} and leases.list_leases() == [held]
    assert isinstance(await leases.take("busy", ThrottleTerms(at_once=1)), RetryLater)


async def test_of_running_cooldowns_only_as_many_as_needed_are_evicted() -> None:
    now = [0.0]
    leases = Leases(clock=lambda: now[0], max_keys=40)
    for number in range(40):
        await leases.start_cooldown(f"host{number}", 60 + number)
    await leases.start_cooldown("new", 300)
    assert "host0" not in leases.cooldowns() and len(leases.cooldowns()) == 40
    now[0] = 62.5
    await leases.start_cooldown("newer", 300)
    assert set(leases.cooldowns()) == {"new", "newer", *(f"host{number}" for number in range(3, 40))}
