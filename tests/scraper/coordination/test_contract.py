"""The contract of the state of one process and of the shared state."""

from __future__ import annotations

import asyncio
import time

from scraper.coordination.state import Lease, RateLimit, RetryLater, SharedState, ThrottleTerms
from tests.scraper.coordination.waiting import granted, refused

FEW = RateLimit("few", burst=3, per_second=5)
SCARCE = RateLimit("scarce", burst=3, per_second=0.01)
"""No token is refilled during a test, however slow the machine is."""


class TestLimits:
    async def test_a_burst_is_granted_and_then_a_wait_is_named(self, state: SharedState) -> None:
        waits = [await state.limits.take(SCARCE, "ann") for _ in range(4)]
        assert waits[:3] == [0, 0, 0]
        assert 0 < waits[3] <= 1 / SCARCE.per_second

    async def test_a_limit_allows_a_call_after_the_returned_wait(self, state: SharedState) -> None:
        while not (wait_s := await state.limits.take(FEW, "ann")):
            pass
        await asyncio.sleep(wait_s + 0.002)
        assert not await state.limits.take(FEW, "ann")

    async def test_one_key_does_not_count_for_another_nor_one_limit_for_another(self, state: SharedState) -> None:
        other = RateLimit("other", burst=1, per_second=0.01)
        assert not await state.limits.take(other, "ann")
        assert await state.limits.take(other, "ann") > 1
        assert not await state.limits.take(other, "ben")
        assert not await state.limits.take(FEW, "ann")

    async def test_a_refused_call_is_not_counted(self, state: SharedState) -> None:
        slow = RateLimit("slow", burst=1, per_second=0.01)
        assert not await state.limits.take(slow, "ann")
        waits = [await state.limits.take(slow, "ann") for _ in range(20)]
        assert min(waits) > 0 and max(waits) <= 100 and waits == sorted(waits, reverse=True)


class TestLeases:
    async def test_a_returned_lease_allows_another(self, state: SharedState) -> None:
        terms = ThrottleTerms(at_once=2)
        first, second = [await granted(state.leases, "host", terms) for _ in range(2)]
        wait = await state.leases.take("host", terms)
        assert isinstance(wait, RetryLater) and not wait.known
        state.leases.give_back(first)
        await granted(state.leases, "host", terms)
        state.leases.give_back(second)
        await granted(state.leases, "host", terms)

    async def test_a_lease_returned_twice_counts_once(self, state: SharedState) -> None:
        terms = ThrottleTerms(at_once=2)
        first, _ = [await granted(state.leases, "host", terms) for _ in range(2)]
        state.leases.give_back(first)
        state.leases.give_back(first)
        await granted(state.leases, "host", terms)
        await asyncio.sleep(0.05)
        assert isinstance(await state.leases.take("host", terms), RetryLater)

    async def test_the_gap_lies_between_two_starts(self, state: SharedState) -> None:
        state.leases.give_back(await granted(state.leases, "host", ThrottleTerms(gap_s=100)))
        wait = await state.leases.take("host", ThrottleTerms(gap_s=100))
        assert isinstance(wait, RetryLater) and wait.known and 0 < wait.seconds <= 100
        begun = time.monotonic()
        for _ in range(2):
            state.leases.give_back(await granted(state.leases, "other", ThrottleTerms(gap_s=0.2)))
        assert time.monotonic() - begun >= 0.19

    async def test_a_cooldown_allows_no_lease(self, state: SharedState) -> None:
        await state.leases.start_cooldown("host", 200)
        await state.leases.start_cooldown("host", 0.01)
        wait = await refused(state.leases, "host", ThrottleTerms())
        assert wait.is_cooldown and wait.known and 100 < wait.seconds <= 200
        await granted(state.leases, "other", ThrottleTerms(at_once=1))

    async def test_a_lease_is_available_after_the_cooldown(self, state: SharedState) -> None:
        await state.leases.start_cooldown("host", 0.2)
        await granted(state.leases, "host", ThrottleTerms())

    async def test_empty_terms_never_wait(self, state: SharedState) -> None:
        for _ in range(50):
            assert isinstance(await state.leases.take("host", ThrottleTerms()), Lease)
