"""Processes of a browser and their memory, from /proc."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PROC = Path("/proc")
_READ_BYTES = 4_096


def read_proc_entry(path: str) -> bytes:
    """Return the first 4 kB of an entry of /proc. Unlike `Path.read_text`, it takes microseconds.

    Raises:
        OSError: The process has ended.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _READ_BYTES)
    finally:
        os.close(descriptor)


def list_tree_pids(root: int) -> list[int]:
    """Return the ids of the process and all its descendants, or an empty list without /proc."""
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        try:
            threads = os.listdir(f"{PROC}/{pid}/task")
        except OSError:
            continue
        found.append(pid)
        for thread in threads:
            with contextlib.suppress(OSError):
                todo.extend(map(int, read_proc_entry(f"{PROC}/{pid}/task/{thread}/children").split()))
    return found


def measure_tree_bytes(root: int) -> int | None:
    """Return the proportional set size of the tree in bytes, or None if the platform does not report it."""
    total = 0
    for pid in list_tree_pids(root):
        try:
            rollup = (PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return total * 1024 or None


def find_zygotes(root: int) -> list[int]:
    """Return the zygote processes of the tree, from which new renderers are forked."""
    # Chromium rewrites its command lines: NULs become spaces shortly after the start.
    return [pid for pid in list_tree_pids(root) if b"--type=zygote" in command_line(pid)]


def command_line(pid: int) -> bytes:
    """Return the first 4 kB of the command line of a process, empty if it has ended."""
    try:
        return read_proc_entry(f"{PROC}/{pid}/cmdline")
    except OSError:
        return b""
