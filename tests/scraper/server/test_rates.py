"""Each caller may search so often, and no more."""

from __future__ import annotations

import pytest

from scraper.server import rates
from scraper.server.rates import Rate, TooMany


class Clock:
    """Time that passes when told."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_fine_and_then_the_caller_waits_as_long_as_told() -> None:
    clock = Clock()
    rate = Rate(burst=3, per_second=0.5, clock=clock)
    for _ in range(3):
        rate.take("ann")
    with pytest.raises(TooMany) as refused:
        rate.take("ann")
    assert refused.value.error.code == -32000
    assert refused.value.error.data == {"retryAfter": 2} and "2 s" in refused.value.error.message
    clock.now += 2
    rate.take("ann")
    with pytest.raises(TooMany):
        rate.take("ann")


def test_one_callers_haste_is_not_anothers() -> None:
    rate = Rate(burst=1, per_second=1, clock=Clock())
    rate.take("ann")
    rate.take("bob")
    with pytest.raises(TooMany):
        rate.take("ann")


def test_rest_gives_no_more_than_a_burst() -> None:
    clock = Clock()
    rate = Rate(burst=2, per_second=1, clock=clock)
    rate.take("ann")
    clock.now += 1_000
    rate.take("ann")
    rate.take("ann")
    with pytest.raises(TooMany):
        rate.take("ann")


def test_callers_that_were_not_seen_for_long_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "CALLERS_KEPT", 2)
    rate = Rate(burst=1, per_second=1, clock=Clock())
    for name in ("ann", "bob", "cat", "ann"):
        rate.take(name)
