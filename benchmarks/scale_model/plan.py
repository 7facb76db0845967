"""Many machines and more hosts than can be counted: a simulation whose events are of groups of hosts. Pure.

Pages are treated as a fluid, and hosts of about the same size as one group. Whose turn it is, is as in the
runner: the hosts with the most pages left first, each at no more than its own pace. Events are the moments
when a group is read, or has come down to the size of the next and goes on together with it. For a fluid this
is exact, and ends when the longer of two things is over: all pages at the machines' pace, or the largest host
at its own (McNaughton 1959: work that can be interrupted leaves no machine idle before the last minute).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_GROUPS_A_DECADE = 24
"""Of ranks: hosts of one group then differ in size by a tenth."""
_EVEN = 1e-9


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts that are alike."""

    hosts: float
    pages: float
    """Of each."""


@dataclass(frozen=True, slots=True)
class Fluid:
    """How it went."""

    seconds: float
    idle: float
    """Share of the machines' time in which no host might be asked."""


@dataclass(slots=True)
class _Level:
    hosts: float
    left: float


def groups(pages: float, hosts: int, skew: float) -> list[Group]:
    """Hosts by size, the largest first: as rank to the power of `-skew`."""
    edges = sorted({*range(1, min(hosts, _GROUPS_A_DECADE) + 1), *_edges(hosts), hosts + 1})
    weights = [_weight(begin, end, skew) for begin, end in itertools.pairwise(edges)]
    total = sum(weights)
    return [
        Group(end - begin, pages * weight / total / (end - begin))
        for weight, begin, end in zip(weights, edges, edges[1:], strict=False)
    ]


def read_by(capacity: float, host_pace: float, found: Sequence[Group]) -> Fluid:
    """Read all groups at `capacity` pages a second in all and `host_pace` of each host."""
    levels = [_Level(group.hosts, group.pages) for group in sorted(found, key=lambda one: -one.pages)]
    now = used = 0.0
    while levels:
        rates = _rates(levels, capacity, host_pace)
        step_s = min(_events(levels, rates))
        now += step_s
        for level, rate in zip(levels, rates, strict=True):
            level.left -= rate * step_s
            used += rate * step_s * level.hosts
        levels = _merged(levels)
    return Fluid(now, 1 - used / (now * capacity) if now else 0.0)


def _edges(hosts: int) -> Iterator[int]:
    for step in range(math.ceil(math.log10(max(2, hosts)) * _GROUPS_A_DECADE) + 1):
        edge = round(10 ** (step / _GROUPS_A_DECADE))
        if edge <= hosts:
            yield edge


def _weight(begin: int, end: int, skew: float) -> float:
    """Sum of rank to the power of `-skew` from `begin` up to `end`, the latter not included."""
    if end - begin == 1:
        return math.pow(begin, -skew)
    low, high = begin - 0.5, end - 0.5
    if skew == 1:
        return math.log(high / low)
    return (math.pow(high, 1 - skew) - math.pow(low, 1 - skew)) / (1 - skew)


def _rates(levels: Sequence[_Level], capacity: float, host_pace: float) -> list[float]:
    """Pages a second of each host of a level: the largest hosts take what they may."""
    rates = []
    for level in levels:
        rate = min(host_pace, capacity / level.hosts)
        rates.append(rate)
        capacity = max(0.0, capacity - rate * level.hosts)
    return rates


def _events(levels: Sequence[_Level], rates: Sequence[float]) -> Iterator[float]:
    """When a level is read, or comes down to the next."""
    for place, level in enumerate(levels):
        below = levels[place + 1].left if place + 1 < len(levels) else 0.0
        faster = rates[place] - (rates[place + 1] if place + 1 < len(levels) else 0.0)
        if faster > 0:
            yield max(0.0, level.left - below) / faster
        if rates[place] > 0:
            yield level.left / rates[place]


def _merged(levels: Sequence[_Level]) -> list[_Level]:
    """Without those that are read; levels that have become even are one."""
    largest = max(level.left for level in levels)
    merged: list[_Level] = []
    for level in levels:
        if level.left <= _EVEN * max(1.0, largest):
            continue
        if merged and merged[-1].left - level.left <= _EVEN * max(1.0, largest):
            merged[-1].hosts += level.hosts
        else:
            merged.append(level)
    return merged
