"""The check of growth passes linear work and fails quadratic work."""

from __future__ import annotations

import time

import pytest

from tests import growth
from tests.growth import Hostile, assert_cpu, assert_linear
from tests.scraper.soon import soon


class Clock:
    """CPU time that only `spend` advances, so that no load of the machine changes it."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def spend(self, steps: int) -> int:
        self.now_s += steps / 100
        return steps


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "process_time", lambda: clock.now_s)
    return clock


def test_linear_work_passes(clock: Clock) -> None:
    assert Hostile(lambda size: size * 2, 20, is_full=False).run(clock.spend, limit_s=60) == 40


def test_quadratic_work_fails(clock: Clock) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"20 took 4\.00 s of CPU, 10 only 1\.00 s"):
        assert_linear(clock.spend, lambda size: size * size, 20)


def test_work_below_the_minimum_time_passes(clock: Clock) -> None:
    assert_linear(clock.spend, lambda size: size**3 // 1_000, 20)


def test_a_limit_holds_at_full_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "_UNIT_S", 1_000.0)
    with pytest.raises(AssertionError):
        Hostile(lambda size: size, 400_000, is_full=True).run(lambda size: sum(range(size)), limit_s=1e-6)


def test_a_limit_is_longer_on_a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for unit_s, is_slow in ((0.16, True), (0.04, False)):
        monkeypatch.setattr(growth, "_unit_s", lambda unit_s=unit_s: unit_s)
        if is_slow:
            assert_cpu(7.5, 2.0)
        else:
            with pytest.raises(AssertionError):
                assert_cpu(7.5, 2.0)


def test_a_block_within_its_limit_passes(clock: Clock) -> None:
    with soon():
        clock.spend(199)
    with pytest.raises(AssertionError), soon(limit_s=1e-9):
        clock.spend(1_000)
