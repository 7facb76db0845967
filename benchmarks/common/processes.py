"""What /proc says of a tree of processes: who belongs to it, what it used, what it holds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """One live process; seconds of CPU, its own and those of children that it has reaped."""

    pid: int
    parent: int
    kind: str
    """`python`, `node`, `browser`, or the executable's name."""
    own_s: float
    reaped_s: float


@dataclass(frozen=True, slots=True)
class Held:
    """What a set of processes holds."""

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
    """One process, or None when it is gone."""
    try:
        # The command name stands in parentheses and may itself contain any character.
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
    """Proportional set size of processes together: pages that several share are counted once."""
    total = 0
    for pid in pids:
        try:
            lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024


def held(pids: Iterable[int]) -> Held:
    """How many processes, open files and sockets these are."""
    processes = files = sockets = 0
    for pid in pids:
        try:
            targets = [_target(entry) for entry in (_PROC / str(pid) / "fd").iterdir()]
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        processes += 1
        files += len(targets)
        sockets += sum(target.startswith("socket:") for target in targets)
    return Held(processes, files, sockets)


def _all() -> Iterator[Process]:
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            process = read_process(int(entry.name))
            if process is not None:
                yield process


def _kind(pid: int) -> str:
    # A sandboxed renderer may not be looked at by an ordinary user: only Chromium hides itself so.
    try:
        name = os.readlink(_PROC / str(pid) / "exe").rpartition("/")[2]
    except PermissionError:
        return "browser"
    except (FileNotFoundError, ProcessLookupError):
        return ""
    for sign, kind in (("python", "python"), ("node", "node"), ("chrom", "browser")):
        if name.startswith(sign):
            return kind
    return name


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""
