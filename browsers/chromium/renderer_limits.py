"""Limit the memory and the priority of renderer processes, so that a page does not affect other pages.

Chromium does not limit the memory: canvases, WebAssembly and buffers are outside the heap of the script engine. The
kernel cannot limit it either: each renderer reserves many gigabytes of addresses, and with a limit of its writable
memory (`RLIMIT_DATA`) young renderers died in tests. So a thread reads the resident size of the renderers from /proc
while pages are read, and kills those above the limit.

A page may also fill the processes that all pages share, with a flood of messages to them, which delays all pages. Then
the renderer that used the most CPU time since their growth began is killed, because a flood keeps its renderer busy.

Each worker of a page is a thread of its renderer, and the kernel shares CPU time by threads. So a renderer with more
than `_MAX_THREADS` gets the lowest priority, and other pages are delayed less.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

PROC = Path("/proc")
_READ_BYTES = 4_096


def read_proc_entry(path: str) -> bytes:
    """Return the first 4 kB of an entry of /proc, within microseconds; nothing if the process has ended."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, _READ_BYTES)
        finally:
            os.close(descriptor)
    return b""


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
    return read_proc_entry(f"{PROC}/{pid}/cmdline")


_POLL_S = 0.03
"""Seconds between two checks. A check of eight renderers takes .2 ms."""
_FAST_POLL_S = 0.005
"""Seconds, while any renderer uses half its limit: a page fills 1 to 2 GB per second."""
_SHARED_POLL_S = 0.5
"""Seconds after which the processes that pages share are listed again, and the CPU time of renderers is noted.

The CPU time of renderers is compared over one to two such periods: a page that loads is busier for a moment than one
that floods."""
_FLOOD_BYTES = 20_000_000
_MAX_FLOODS = 3
"""Growth of a shared process in such a period, and the number of such periods in a row, after which a page is ended.
Console messages, those of workers and cookies added 20 to 115 MB in each period. Eight usual pages at once added 5, and
six of the largest pages 68, but not in a row."""
_SHARED_STEP_BYTES = 200_000_000
"""Further growth of a shared process until another page is ended: not all memory of a page is freed with it."""
_MAX_THREADS = 20 + (os.cpu_count() or 1)
"""Threads of one renderer with normal priority. A page without workers has 10 on two processors."""
_LOWEST_PRIORITY = 19
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class RendererGuard:
    """Watch the processes of one browser in a thread during visits."""

    def __init__(self, limit_bytes: int, on_kill: Callable[[], None]) -> None:
        """Limit the resident memory of each renderer. The thread calls `on_kill` before it kills one."""
        self._browser_pid = 0
        self._limit_bytes = limit_bytes
        self._on_kill = on_kill
        self._visits = 0
        self._busy = threading.Event()
        self._closed = False
        self._zygotes: list[int] = []
        self._renderers: dict[int, int] = {}
        """Resident bytes of each renderer at the last check."""
        self._killed: set[int] = set()
        """Killed renderers that have not ended yet."""
        self._slowed: set[int] = set()
        """Renderers with the lowest priority."""
        self._shared: dict[int, int] = {}
        """Resident bytes of each shared process at the last listing."""
        self._floods = 0
        """Listings in a row at which a shared process had grown as by a flood of messages."""
        self._listed_at = float("-inf")
        self._ticks: dict[int, int] = {}
        self._ticks_before: dict[int, int] = {}
        """CPU ticks of each renderer at the last listing and the one before."""
        self._shared_limit_bytes = limit_bytes
        """Bytes of a shared process above which the busiest renderer is killed."""

    @property
    def is_shared_memory_high(self) -> bool:
        """True if a page was ended because it filled a shared process, so that the browser should be replaced."""
        return self._shared_limit_bytes > self._limit_bytes

    def start(self, browser_pid: int) -> None:
        """Start the thread for a browser, on Linux only."""
        self._browser_pid = browser_pid
        if sys.platform == "linux":
            threading.Thread(target=self._run, name="renderer-limits", daemon=True).start()

    def watch(self, visits: int) -> None:
        """Count visits that begin, or that end if `visits` is negative, and watch while there are any."""
        self._visits += visits
        if self._visits:
            self._busy.set()
        else:
            self._busy.clear()

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._busy.set()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            # Ahead of the pages, if this user may.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
        while not self._closed:
            self._busy.wait()
            time.sleep(_FAST_POLL_S if self._check() > self._limit_bytes // 2 else _POLL_S)

    def _check(self) -> int:
        """End renderers that are, or by their growth soon will be, above the limit; return the bytes of the largest."""
        now, largest = time.monotonic(), 0
        if now - self._listed_at >= _SHARED_POLL_S:
            self._listed_at = now
            lines = {pid: command_line(pid) for pid in list_tree_pids(self._browser_pid)}
            self._zygotes = [pid for pid, line in lines.items() if b"--type=zygote" in line]
            # A young renderer has the command line of its zygote.
            pages = (b"--type=renderer", b"--type=zygote")
            shared = [pid for pid, line in lines.items() if not any(kind in line for kind in pages)]
            self._check_shared({pid: _resident_bytes(pid) for pid in shared})
            self._ticks_before, self._ticks = self._ticks, {pid: _cpu_ticks(pid) for pid in self._list_renderers()}
        for pid in self._list_renderers():
            size, before = _resident_bytes(pid), self._renderers[pid]
            self._renderers[pid] = size
            # On a busy machine a check comes late, and the next one would, too.
            expected = size + max(0, size - before) if size > self._limit_bytes // 2 else size
            if expected > self._limit_bytes:
                self._kill(pid)
            else:
                largest = max(largest, size)
                if _count_threads(pid) > _MAX_THREADS and pid not in self._slowed:
                    self._slowed.add(pid)
                    _lower_priority(pid)
        return largest

    def _check_shared(self, sizes: dict[int, int]) -> None:
        """End the busiest renderer if a shared process is above its limit, or grows as by a flood of messages."""
        growth = max((size - self._shared.get(pid, size) for pid, size in sizes.items()), default=0)
        self._shared, self._floods = sizes, self._floods + 1 if growth > _FLOOD_BYTES else 0
        is_high = (largest := max(sizes.values(), default=0)) > self._shared_limit_bytes
        if is_high:
            self._shared_limit_bytes = largest + _SHARED_STEP_BYTES
        if is_high or self._floods >= _MAX_FLOODS:
            self._floods = 0
            used = {pid: _cpu_ticks(pid) - self._ticks_before.get(pid, 0) for pid in self._list_renderers()}
            for busiest in sorted(used, key=lambda pid: used[pid])[-1:]:
                self._kill(busiest)

    def _list_renderers(self) -> list[int]:
        children: set[int] = set()
        for zygote in self._zygotes:
            with contextlib.suppress(ValueError):
                children.update(map(int, read_proc_entry(f"/proc/{zygote}/task/{zygote}/children").split()))
        # A new process has the command line of its zygote for a moment.
        new = [pid for pid in children - self._renderers.keys() if b"--type=renderer" in command_line(pid)]
        self._renderers = {pid: size for pid, size in self._renderers.items() if pid in children}
        self._renderers |= {pid: _resident_bytes(pid) for pid in new}
        self._killed &= children
        self._slowed &= children
        return list(self._renderers.keys() - self._killed)

    def _kill(self, pid: int) -> None:
        self._on_kill()
        self._killed.add(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _resident_bytes(pid: int) -> int:
    fields = read_proc_entry(f"/proc/{pid}/statm").split()
    return int(fields[1]) * _PAGE_BYTES if len(fields) > 1 else 0


def _count_threads(pid: int) -> int:
    try:
        # The links of a folder are its subfolders and two more.
        return os.stat(f"/proc/{pid}/task").st_nlink - 2
    except OSError:
        return 0


def _lower_priority(pid: int) -> None:
    """Give all threads of a process the lowest priority, which threads that they start inherit."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.setpriority(os.PRIO_PROCESS, int(thread), _LOWEST_PRIORITY)


def _cpu_ticks(pid: int) -> int:
    # The name in parentheses may contain spaces.
    fields = read_proc_entry(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0
