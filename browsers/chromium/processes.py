"""A browser's tree of processes, as Linux shows it; elsewhere it is empty."""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc")


def tree_pids(root: int) -> list[int]:
    """The process and all its descendants; empty where there is no /proc."""
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        try:
            threads = list((PROC / str(pid) / "task").iterdir())
        except OSError:
            continue
        found.append(pid)
        for thread in threads:
            try:
                todo.extend(int(child) for child in (thread / "children").read_text().split())
            except OSError:
                continue
    return found


def tree_bytes(root: int) -> int | None:
    """Proportional set size of the tree, shared pages counted once; None where the platform does not tell."""
    total = 0
    for pid in tree_pids(root):
        try:
            rollup = (PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return total * 1024 or None


def zygotes(root: int) -> list[int]:
    """The processes of the tree that all its later renderers are forked from."""
    # Chromium rewrites its command lines: where NULs were, there are spaces a moment later.
    return [pid for pid in tree_pids(root) if b"--type=zygote" in _command_line(pid)]


def _command_line(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""
