"""Each caller may search so often, and no more."""

from __future__ import annotations

import pytest

from scraper.coordination.state import RateLimits
from scraper.server.calls.limits import RateLimitedError, RateLimiter


class Clock:
    """Time that passes when told."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_after_a_burst_the_caller_waits_for_the_returned_time() -> None:
    clock = Clock()
    rate = RateLimiter(RateLimits(clock), name="searches", burst=3, per_second=0.5)
    for _ in range(3):
        await rate.take("ann")
    with pytest.raises(RateLimitedError) as refused:
        await rate.take("ann")
    assert refused.value.error.code == -32000
    assert refused.value.error.data == {"retryAfter": 2} and "2 s" in refused.value.error.message
    clock.now += 2
    await rate.take("ann")
    with pytest.raises(RateLimitedError):
        await rate.take("ann")


async def test_one_callers_haste_is_not_anothers() -> None:
    rate = RateLimiter(RateLimits(Clock()), name="searches", burst=1, per_second=1)
    await rate.take("ann")
    await rate.take("bob")
    with pytest.raises(RateLimitedError):
        await rate.take("ann")


async def test_rest_gives_no_more_than_a_burst() -> None:
    clock = Clock()
    rate = RateLimiter(RateLimits(clock), name="searches", burst=2, per_second=1)
    await rate.take("ann")
    clock.now += 1_000
    await rate.take("ann")
    await rate.take("ann")
    with pytest.raises(RateLimitedError):
        await rate.take("ann")
