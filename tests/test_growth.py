"""The check of growth passes linear work and fails quadratic work."""

from __future__ import annotations

import pytest

from tests import growth
from tests.growth import Hostile, assert_linear

STEPS = 400_000


def spend(steps: int) -> int:
    total = 0
    for step in range(steps):
        total += step
    return total


def test_linear_work_passes() -> None:
    hostile = Hostile(lambda size: size * STEPS, 20, is_full=False)
    assert hostile.run(spend, limit_s=60) == spend(20 * STEPS)


def test_quadratic_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "_ROUNDS", 2)
    with pytest.raises(pytest.fail.Exception, match="20 took"):
        assert_linear(spend, lambda size: size * size * STEPS // 20, 20)


def test_work_below_the_minimum_time_passes() -> None:
    assert_linear(spend, lambda size: size**3, 20)


def test_a_limit_holds_at_full_size() -> None:
    with pytest.raises(AssertionError):
        Hostile(lambda size: size * STEPS, 20, is_full=True).run(spend, limit_s=0.001)
