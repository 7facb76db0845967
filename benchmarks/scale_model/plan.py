"""Fluid simulation of many machines and very many hosts, whose events concern groups of hosts. Pure.

Pages are treated as a fluid, and hosts of about the same size as one group. The order is that of the runner:
hosts with the most remaining pages first, each limited to its own rate. Events are the moments when a group is
finished, or has shrunk to the size of the next group and merges with it. For a fluid this is exact. The total
time is the longer of two: all pages at the rate of the machines, or the largest host at its own rate (McNaughton
1959: with preemptible work no machine idles before the end).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_GROUPS_PER_DECADE = 24
"""Groups per factor of ten in rank: hosts of one group then differ in size by a tenth."""
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts of about the same size."""

    hosts: float
    pages: float
    """Pages of each host."""


@dataclass(frozen=True, slots=True)
class Fluid:
    """Result of a simulation."""

    seconds: float
    idle: float
    """Share of the machines' time in which no host may be requested."""


@dataclass(slots=True)
class _Level:
    hosts: float
    left: float


def groups(pages: float, hosts: int, skew: float) -> list[Group]:
    """Return hosts grouped by size, the largest first; sizes are proportional to rank to the power of `-skew`."""
    edges = sorted({*range(1, min(hosts, _GROUPS_PER_DECADE) + 1), *_edges(hosts), hosts + 1})
    weights = [_weight(begin, end, skew) for begin, end in itertools.pairwise(edges)]
    total = sum(weights)
    return [
        Group(end - begin, pages * weight / total / (end - begin))
        for weight, begin, end in zip(weights, edges, edges[1:], strict=False)
    ]


def read_by(capacity: float, host_pace: float, found: Sequence[Group]) -> Fluid:
    """Simulate reading all groups at `capacity` pages per second in total and `host_pace` per host."""
    levels = [_Level(group.hosts, group.pages) for group in sorted(found, key=lambda one: -one.pages)]
    now = used = 0.0
    while levels:
        rates = _rates(levels, capacity, host_pace)
        step_s = min(_events(levels, rates))
        now += step_s
        for level, rate in zip(levels, rates, strict=True):
            level.left -= rate * step_s
            used += rate * step_s * level.hosts
        levels = _merge(levels)
    return Fluid(now, 1 - used / (now * capacity) if now else 0.0)


def _edges(hosts: int) -> Iterator[int]:
    for step in range(math.ceil(math.log10(max(2, hosts)) * _GROUPS_PER_DECADE) + 1):
        edge = round(10 ** (step / _GROUPS_PER_DECADE))
        if edge <= hosts:
            yield edge


def _weight(begin: int, end: int, skew: float) -> float:
    """Return the approximate sum of rank to the power of `-skew` from `begin` to `end`, exclusive."""
    if end - begin == 1:
        return math.pow(begin, -skew)
    low, high = begin - 0.5, end - 0.5
    if skew == 1:
        return math.log(high / low)
    return (math.pow(high, 1 - skew) - math.pow(low, 1 - skew)) / (1 - skew)


def _rates(levels: Sequence[_Level], capacity: float, host_pace: float) -> list[float]:
    """Return the pages per second of each host of a level; the largest hosts are served first."""
    rates = []
    for level in levels:
        rate = min(host_pace, capacity / level.hosts)
        rates.append(rate)
        capacity = max(0.0, capacity - rate * level.hosts)
    return rates


def _events(levels: Sequence[_Level], rates: Sequence[float]) -> Iterator[float]:
    """Yield the seconds until a level is finished or reaches the next one."""
    for index, level in enumerate(levels):
        below = levels[index + 1].left if index + 1 < len(levels) else 0.0
        faster = rates[index] - (rates[index + 1] if index + 1 < len(levels) else 0.0)
        if faster > 0:
            yield max(0.0, level.left - below) / faster
        if rates[index] > 0:
            yield level.left / rates[index]


def _merge(levels: Sequence[_Level]) -> list[_Level]:
    """Remove finished levels and merge levels of equal size."""
    largest = max(level.left for level in levels)
    merged: list[_Level] = []
    for level in levels:
        if level.left <= _EQUAL * max(1.0, largest):
            continue
        if merged and merged[-1].left - level.left <= _EQUAL * max(1.0, largest):
            merged[-1].hosts += level.hosts
        else:
            merged.append(level)
    return merged
