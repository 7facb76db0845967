"""Hostile inputs at a tenth of their size with a check of growth, and at full size in `make test-all`.

@hostile_inputs({"nested divs": (200_000, lambda n: "<div>" * n)})
def test_hostile_pages_are_read_soon(hostile: Hostile[str]) -> None:
    document = hostile.run(read, limit_s=20)
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pytest

__all__ = ["SHARE", "Hostile", "assert_cpu", "assert_linear", "full_size", "hostile_inputs", "thorough"]

T = TypeVar("T")
R = TypeVar("R")

SHARE = 10
"""`make test` takes one tenth of each full size."""

_RATIO = 3.0
"""Twice the input may take three times the CPU. Linear work takes twice, quadratic work four times."""

_FLOOR_S = 0.1
"""Seconds of CPU. Smaller times are too noisy; at full size even quadratic work would take only a few seconds."""

_UNIT_S = 0.04
"""Seconds of CPU for a million additions on the machine on which the limits were chosen."""

_ROUNDS = 6
"""Measurements until the check fails. It compares the least of each size, which noise cannot lower."""


def full_size(*values: object, id: str) -> Any:
    """Return a set of parameters that only `make test-all` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.full_size)


def thorough(*values: object, id: str | None = None) -> Any:
    """Return a set of parameters that `make test` leaves out, because it checks the same with others.

    `make test-all` and CI run it.
    """
    return pytest.param(*values, id=id, marks=pytest.mark.thorough)


@dataclass(frozen=True, slots=True)
class Hostile(Generic[T]):
    """One hostile input: `make(size)` builds it."""

    make: Callable[[int], T]
    size: int
    is_full: bool

    @property
    def value(self) -> T:
        """Build the input."""
        return self.make(self.size)

    def run(self, work: Callable[[T], R], *, limit_s: float) -> R:
        """Return the result of `work`; fail if it takes too much CPU or grows faster than the input."""
        took_s, result = _measure(work, self.value)
        assert_cpu(took_s, limit_s)
        if not self.is_full:
            assert_linear(work, self.make, self.size, first_s=took_s)
        return result


def hostile_inputs(
    growing: Mapping[str, tuple[int, Callable[[int], T]]], cheap: Mapping[str, Callable[[], T]] | None = None
) -> pytest.MarkDecorator:
    """Parametrize a test by `hostile`.

    `growing` has the full size of each input and a function that builds it in any size. Inputs that cost less
    than half a second at full size are `cheap`: they have one size.
    """
    tenths = {name: Hostile(make, max(2, full // SHARE), is_full=False) for name, (full, make) in growing.items()}
    fulls = {name: Hostile(make, full, is_full=True) for name, (full, make) in growing.items()}
    once = {name: Hostile(_ignoring_size(make), 1, is_full=True) for name, make in (cheap or {}).items()}
    return pytest.mark.parametrize(
        "hostile",
        [
            *(pytest.param(hostile, id=name) for name, hostile in (tenths | once).items()),
            *(full_size(hostile, id=f"{name}, full size") for name, hostile in fulls.items()),
        ],
    )


def assert_cpu(took_s: float, limit_s: float) -> None:
    """Fail if work took more CPU than a limit that grows with the slowness of this machine.

    `limit_s` is the limit on a machine that takes `_UNIT_S` for a fixed amount of work.
    """
    if took_s >= limit_s:
        assert took_s < limit_s * max(_unit_s() for _ in range(3)) / _UNIT_S


def _unit_s() -> float:
    """Return the seconds of CPU that this machine now takes for a million additions."""
    begun, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return time.process_time() - begun


def _ignoring_size(make: Callable[[], T]) -> Callable[[int], T]:
    return lambda size: make()


def assert_linear(
    work: Callable[[T], object], make: Callable[[int], T], size: int, *, first_s: float | None = None
) -> None:
    """Fail if `work` takes three times the CPU for an input of `size` that it takes for half of it.

    `first_s` is a first measurement of `work` with `size`, which saves a round.
    """
    whole_s = [first_s] if first_s is not None else []
    half_s: list[float] = []
    for _ in range(_ROUNDS):
        if not whole_s or half_s:
            whole_s.append(_measure(work, make(size))[0])
        if min(whole_s) < _FLOOR_S:
            return
        half_s.append(_measure(work, make(size // 2))[0])
        if min(whole_s) < _RATIO * min(half_s):
            return
    pytest.fail(f"{size} took {min(whole_s):.2f} s of CPU, {size // 2} only {min(half_s):.2f} s")


def _measure(work: Callable[[T], R], value: T) -> tuple[float, R]:
    """Return the seconds of CPU and the result of `work`, without garbage collection.

    A collection visits all objects of the test process and costs more than most inputs.
    """
    gc.disable()
    try:
        begun = time.process_time()
        result = work(value)
        return time.process_time() - begun, result
    finally:
        gc.enable()
