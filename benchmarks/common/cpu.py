"""CPU of a contender: everything it ever started, children that have died included, split by who spent it.

Three ways, the best that this machine allows: a control group of version 2 (`cpu.stat`), one of version 1
(`cpuacct.usage`), or the process tree of /proc with the times of reaped children. The last needs no right at
all; it counts in steps of 10 ms a process, and loses a child whose parent died before it.
"""

from __future__ import annotations

import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.processes import Process, read_process, tree

_V2_ROOTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
_V1_ROOT = Path("/sys/fs/cgroup/cpuacct")
_JOIN = 'echo $$ > "$0" && exec "$@"'


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds. What neither live Python nor live node processes account for is the browser's.

    Where there is no browser at all, the rest is the driver's: children that it ran and that are gone.
    """

    total_s: float = 0.0
    python_s: float = 0.0
    driver_s: float = 0.0

    @property
    def browser_s(self) -> float:
        """What the browser spent, all its processes."""
        return max(0.0, self.total_s - self.python_s - self.driver_s)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(self.total_s - other.total_s, self.python_s - other.python_s, self.driver_s - other.driver_s)

    def __truediv__(self, parts: float) -> Usage:
        return Usage(self.total_s / parts, self.python_s / parts, self.driver_s / parts)


class Account(ABC):
    """What one contender and all its descendants spend."""

    way: str

    @abstractmethod
    def command(self, command: Sequence[str]) -> list[str]:
        """Return the command that starts the contender inside the account."""

    @abstractmethod
    def members(self) -> list[Process]:
        """Return the live processes of the account."""

    @abstractmethod
    def _total_s(self, members: Sequence[Process]) -> float:
        """All CPU ever spent in the account."""

    @abstractmethod
    def adopt(self, pid: int) -> None:
        """Tell the account which process was started for it."""

    def pids(self) -> list[int]:
        """Return the process ids of the account."""
        return [process.pid for process in self.members()]

    def usage(self) -> Usage:
        """Return the CPU time since the account was opened."""
        members = self.members()
        total = self._total_s(members)
        python = sum(process.own_s for process in members if process.kind == "python")
        driver = sum(process.own_s for process in members if process.kind == "node")
        if not any(process.kind == "browser" for process in members):
            driver = max(0.0, total - python)
        return Usage(total, python, driver)


class _GroupAccount(Account):
    """A control group of its own: exact, and nothing escapes it."""

    def __init__(self, folder: Path, way: str) -> None:
        self._folder = folder
        self.way = way

    def command(self, command: Sequence[str]) -> list[str]:
        return ["/bin/sh", "-c", _JOIN, str(self._folder / "cgroup.procs"), *command]

    def adopt(self, pid: int) -> None:
        """Do nothing: the process joined by itself."""

    def members(self) -> list[Process]:
        pids = (self._folder / "cgroup.procs").read_text().split()
        return [process for process in map(read_process, map(int, pids)) if process is not None]

    def _total_s(self, members: Sequence[Process]) -> float:
        if self.way == "cpuacct":
            return int((self._folder / "cpuacct.usage").read_text()) / 1e9
        lines = (self._folder / "cpu.stat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("usage_usec")) / 1e6


class _TreeAccount(Account):
    """The process tree, for an ordinary user."""

    way = "proc"

    def __init__(self) -> None:
        self._root = 0

    def command(self, command: Sequence[str]) -> list[str]:
        return list(command)

    def adopt(self, pid: int) -> None:
        self._root = pid

    def members(self) -> list[Process]:
        return tree(self._root) if self._root else []

    def _total_s(self, members: Sequence[Process]) -> float:
        return sum(process.own_s + process.reaped_s for process in members)


@contextmanager
def open_account() -> Iterator[Account]:
    """Open an account by the best available method; remove its group on exit."""
    for root, way, figure in _groups():
        folder = root / f"benchmark-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / figure).exists():
                yield _GroupAccount(folder, way)
                return
        finally:
            # Processes that outlive their contender keep the group; it is empty and harmless without them.
            with suppress(OSError):
                folder.rmdir()
    yield _TreeAccount()


def _groups() -> Iterator[tuple[Path, str, str]]:
    own = _own_group()
    for root in _V2_ROOTS:
        if (root / "cgroup.controllers").exists():
            yield root / own, "cpu.stat", "cpu.stat"
    yield _V1_ROOT, "cpuacct", "cpuacct.usage"


def _own_group() -> str:
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), "")
