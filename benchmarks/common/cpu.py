"""Measure the CPU of a contender and all its descendants, ended ones included, by kind of process.

There are three methods, and the best that this machine allows is used: a control group of version 2
(`cpu.stat`), one of version 1 (`cpuacct.usage`), or the process tree in /proc with the times of reaped
children. The last method needs no privileges. It counts in steps of 10 ms per process, and misses a child whose
parent ended first.
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
    """CPU seconds. The share of neither live Python nor live node processes is counted as browser CPU.

    Without any browser, this remainder is counted as driver CPU: its ended children.
    """

    total_s: float = 0.0
    python_s: float = 0.0
    driver_s: float = 0.0

    @property
    def browser_s(self) -> float:
        """CPU seconds of all browser processes."""
        return max(0.0, self.total_s - self.python_s - self.driver_s)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(self.total_s - other.total_s, self.python_s - other.python_s, self.driver_s - other.driver_s)

    def __truediv__(self, parts: float) -> Usage:
        return Usage(self.total_s / parts, self.python_s / parts, self.driver_s / parts)


class Account(ABC):
    """CPU account of one contender and all its descendants."""

    method: str

    @abstractmethod
    def command(self, command: Sequence[str]) -> list[str]:
        """Return the command that starts the contender inside the account."""

    @abstractmethod
    def members(self) -> list[Process]:
        """Return the live processes of the account."""

    @abstractmethod
    def _total_s(self, members: Sequence[Process]) -> float:
        """Return all CPU seconds spent in the account."""

    @abstractmethod
    def adopt(self, pid: int) -> None:
        """Register the process that was started for this account."""

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
    """A separate control group: exact, and no process can leave it."""

    def __init__(self, folder: Path, method: str) -> None:
        self._folder = folder
        self.method = method

    def command(self, command: Sequence[str]) -> list[str]:
        return ["/bin/sh", "-c", _JOIN, str(self._folder / "cgroup.procs"), *command]

    def adopt(self, pid: int) -> None:
        """Do nothing: the process has joined the group itself."""

    def members(self) -> list[Process]:
        pids = (self._folder / "cgroup.procs").read_text().split()
        return [process for process in map(read_process, map(int, pids)) if process is not None]

    def _total_s(self, members: Sequence[Process]) -> float:
        if self.method == "cpuacct":
            return int((self._folder / "cpuacct.usage").read_text()) / 1e9
        lines = (self._folder / "cpu.stat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("usage_usec")) / 1e6


class _TreeAccount(Account):
    """The process tree in /proc, for users without access to control groups."""

    method = "proc"

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
    for root, method, figure in _groups():
        folder = root / f"benchmark-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / figure).exists():
                yield _GroupAccount(folder, method)
                return
        finally:
            # The group remains while processes outlive their contender; an empty group is harmless.
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
