"""Change the number of slots with the free CPU, memory and event loop time of the machine.

A page that waits for the network needs memory but no CPU, so more pages are admitted as long as CPU is idle. The
number changes in steps like that of crawlee's AutoscaledPool, and not faster than pages end: the pages of a step use
CPU only when their sites respond.
"""

import asyncio
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from browsers.fair_queue import FairSemaphore

_STAT = Path("/proc/stat")
_MEMORY = Path("/proc/meminfo")
_LOAD = Path("/proc/loadavg")
_GROUP = Path("/sys/fs/cgroup")
"""Control group of a container (version 2). Its limits may be lower than the machine's."""
_TICK_S = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
MAX_SLOWDOWN = 4.0
"""Largest factor of time limits. A page that runs an endless loop occupies a core this much longer."""


def measure_slowdown() -> float:
    """Return how many times longer than on an idle machine a process waits for its CPU time: 1 to MAX_SLOWDOWN.

    The value is the number of threads that run or wait for a CPU, over the cores. Multiply it with time limits after
    which a process counts as hung.
    """
    fields = _read(_LOAD).split()
    # The mean of the last minute, and the threads that run or wait now.
    runnable = max(float(fields[0]), int(fields[3].partition("/")[0])) if len(fields) > 3 else _read_load()
    cores = min(os.cpu_count() or 1, _read_group_cores() or math.inf)
    return min(max(1.0, runnable / cores), MAX_SLOWDOWN)


@dataclass(frozen=True, slots=True)
class FreeResources:
    """Free resources since the last measurement."""

    cpu: float
    """Share of the CPU time that no process used, 0 to 1: of the machine or the control group, whichever is less."""
    memory_bytes: float
    """Memory that can be used without swapping; infinity if unknown."""
    loop_delay_s: float = 0.0
    """Seconds by which the event loop was late."""


class ResourceMeter:
    """Measure free resources between two calls. One measurement takes about 0.1 ms."""

    def __init__(self) -> None:
        """Start the first interval."""
        self._idle_s, self._total_s = _read_machine()
        self._group_s, self._at = _read_group_usage(), time.monotonic()
        self._group_cores = _read_group_cores()

    def measure(self, loop_delay_s: float) -> FreeResources:
        """Return the free resources since the last call; `loop_delay_s` is passed through."""
        idle_s, total_s = _read_machine()
        spent_s = total_s - self._total_s
        # Without /proc (macOS), by the load of the last minute.
        cpu = (idle_s - self._idle_s) / spent_s if spent_s > 0 else 1 - _read_load() / (os.cpu_count() or 1)
        self._idle_s, self._total_s = idle_s, total_s
        used_s, now = _read_group_usage(), time.monotonic()
        if self._group_cores and now > self._at:
            cpu = min(cpu, 1 - (used_s - self._group_s) / ((now - self._at) * self._group_cores))
        self._group_s, self._at = used_s, now
        return FreeResources(max(0.0, cpu), _free_memory_bytes(), loop_delay_s)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _read_machine() -> tuple[float, float]:
    """Return the idle and the total CPU seconds of all cores; zeros if unknown."""
    fields = [int(ticks) * _TICK_S for ticks in _read(_STAT).partition("\n")[0].split()[1:9]]
    return (fields[3] + fields[4], sum(fields)) if len(fields) == 8 else (0.0, 0.0)


def _read_load() -> float:
    """Return the mean number of busy processes of the last minute; the number of cores if unknown."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else os.cpu_count() or 1


def _read_group_usage() -> float:
    """Return the CPU seconds of the control group; 0 if unknown."""
    fields = _read(_GROUP / "cpu.stat").split()
    return int(fields[1]) / 1e6 if fields[:1] == ["usage_usec"] else 0.0


def _read_group_cores() -> float:
    """Return the cores that the control group may use; 0 without a limit."""
    quota, _, period = _read(_GROUP / "cpu.max").strip().partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else 0.0


def _free_memory_bytes() -> float:
    free = float("inf")
    for line in _read(_MEMORY).splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024.0
    limit, used = _read(_GROUP / "memory.max").strip(), _read(_GROUP / "memory.current").strip()
    if limit.isdigit() and used.isdigit():
        cached = next((int(row.split()[1]) for row in _read(_GROUP / "memory.stat").splitlines()
                       if row.startswith("inactive_file ")), 0)  # fmt: skip
        free = min(free, int(limit) - int(used) + cached)
    return free


_INTERVAL_S = 0.25
"""Seconds between two measurements."""
_MAX_INTERVAL_S = 1.5
"""Maximum seconds between two steps, if visits take long."""
_VISITS_PER_STEP = 0.25
"""Time between two steps, as a share of the median seconds for which a visit holds its slot."""
_GROWTH = 1.3
_SHRINKAGE = 0.85
"""Factors by which the number of slots changes in one step."""
_MIN_FREE_CPU = 0.10
"""Minimum share of idle CPU at which more pages are admitted."""
_NO_FREE_CPU = 0.03
"""Share of idle CPU below which fewer pages are admitted."""
_MAX_LOOP_DELAY_S = 0.1
"""Seconds. A later event loop answers late to every page in progress, so that their limits run out."""
_MIN_FREE_MEMORY_BYTES = 1_000_000_000
"""Bytes of free memory below which fewer pages are admitted. A tab takes 40 MB, a heavy page 600."""


def decide_size(slots: FairSemaphore, free: FreeResources) -> int:
    """Return the number of slots for the next interval, within the limits of `slots`."""
    size = slots.size
    is_overloaded = free.cpu < _NO_FREE_CPU or free.loop_delay_s > _MAX_LOOP_DELAY_S
    if is_overloaded or free.memory_bytes < _MIN_FREE_MEMORY_BYTES:
        size = math.floor(size * _SHRINKAGE)
    elif free.cpu > _MIN_FREE_CPU and slots.queued and slots.in_use >= size:
        size = math.ceil(size * _GROWTH)
    return min(max(size, slots.min_size), slots.max_size)


class SlotScaler:
    """Scale slots from the first visit that waits for one until no visit is left; measure only then."""

    def __init__(self, slots: Sequence[FairSemaphore]) -> None:
        """Scale all of `slots` by the same measurements."""
        self._slots = slots
        self._scaled_at = dict.fromkeys(slots, 0.0)
        self._task: asyncio.Task[None] | None = None
        for one in slots:
            if one.max_size > one.min_size:
                one.on_wait = self._start

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="slot scaling")

    async def close(self) -> None:
        """Stop the measurements."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        meter = ResourceMeter()
        try:
            while any(slots.pending for slots in self._slots):
                expected_at = time.monotonic() + _INTERVAL_S
                await asyncio.sleep(_INTERVAL_S)
                free = meter.measure(time.monotonic() - expected_at)
                for slots in self._slots:
                    now = time.monotonic()
                    if now - self._scaled_at[slots] >= min(_MAX_INTERVAL_S, _VISITS_PER_STEP * slots.median_hold_s()):
                        size = decide_size(slots, free)
                        if size != slots.size:
                            self._scaled_at[slots] = now
                            slots.resize(size)
        finally:
            self._task = None
            for slots in self._slots:
                slots.resize(slots.min_size)
