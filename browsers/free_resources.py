"""Measure the free CPU, free memory and event loop delay of this machine, or of this process's control group."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

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
