"""Read process trees from /proc: members, CPU time, memory, open files and sockets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One live process with the CPU seconds of itself and of its reaped children."""

    pid: int
    parent: int
    kind: str
    """`python`, `node`, `browser`, or the executable's name."""
    own_s: float
    reaped_s: float


@dataclass(frozen=True, slots=True)
class ResourceCounts:
    """Open resources of a set of processes."""

    processes: int
    files: int
    sockets: int


def tree(root: int) -> list[Process]:
    """Return the process and all its live descendants."""
    children: dict[int, list[Process]] = {}
    found: dict[int, Process] = {}
    for process in _all():
        children.setdefault(process.parent, []).append(process)
        found[process.pid] = process
    members = [found[root]] if root in found else []
    for member in members:
        members.extend(children.get(member.pid, ()))
    return members


def read_process(pid: int) -> Process | None:
    """Read one process; return None if it has ended."""
    try:
        # The command name is in parentheses and may contain any character.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    user, system, reaped_user, reaped_system = (int(ticks) * _TICK_S for ticks in fields[11:15])
    return Process(pid, int(fields[1]), _kind(pid), user + system, reaped_user + reaped_system)


def command_of(pid: int) -> str:
    """Return the command line of a process; empty if the process has ended."""
    try:
        return (_PROC / str(pid) / "cmdline").read_text(errors="replace").replace("\0", " ").strip()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def pss_bytes(pids: Iterable[int]) -> int:
    """Return the total proportional set size: memory pages shared by several processes count once."""
    total = 0
    for pid in pids:
        try:
            lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024


def count_resources(pids: Iterable[int]) -> ResourceCounts:
    """Count the processes, open files and sockets."""
    processes = files = sockets = 0
    for pid in pids:
        try:
            targets = [_target(entry) for entry in (_PROC / str(pid) / "fd").iterdir()]
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        processes += 1
        files += len(targets)
        sockets += sum(target.startswith("socket:") for target in targets)
    return ResourceCounts(processes, files, sockets)


def _all() -> Iterator[Process]:
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            process = read_process(int(entry.name))
            if process is not None:
                yield process


def _kind(pid: int) -> str:
    # An ordinary user may not inspect a sandboxed renderer; only Chromium processes are protected like this.
    try:
        name = os.readlink(_PROC / str(pid) / "exe").rpartition("/")[2]
    except PermissionError:
        return "browser"
    except (FileNotFoundError, ProcessLookupError):
        return ""
    for prefix, kind in (("python", "python"), ("node", "node"), ("chrom", "browser")):
        if name.startswith(prefix):
            return kind
    return name


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""
