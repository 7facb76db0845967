"""Select the next page: of the hosts that may be visited now, the one with the most pages left. The module does no I/O.

Pages of hosts that may not be visited yet wait here, not in the queues of the browsers. The host with the most pages
comes first, because it determines the end of the job. If it takes longer than all others together, they get only as
many slots as let them end with it: more would make its pages slower.
"""

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from scraper.bulk.model import JobPage, JobRate

_LOW_PAGES = 16
"""Pages of a host in the schedule; with fewer, `pop_hosts_needing_pages` returns the host."""
_MARGIN = 1.5
"""Factor by which other hosts get more slots than calculated, because their pages may take longer."""
_RECHECK_AFTER = 32
"""Started pages after which the host with the most pages left is determined again."""


@dataclass(slots=True)
class _Host:
    name: str
    unread: int
    """Pages that were not started, including those that are not in the schedule."""
    pages: deque[JobPage] = field(default_factory=deque)
    gap_s: float | None = None
    """Seconds between two requests; None if the host's requirement is not yet known."""
    in_progress: int = 0
    free_at: float = -math.inf
    """Monotonic time at which it may be visited again; minus infinity if it was never visited."""
    is_queued: bool = False
    """True if it is in one of the two heaps; it is never in both, or twice."""


class Schedule:
    """Queue of the hosts of a job and their next pages. Times are seconds of the monotonic clock."""

    def __init__(
        self,
        rate: JobRate,
        *,
        respects_robots: bool = False,
        count_left: Callable[[], int] | None = None,
        keeps_hosts: bool = False,
    ) -> None:
        """Create an empty schedule.

        `count_left` returns the number of unfinished pages of the job, if it is known. With `respects_robots`, a host
        may require a longer gap, which is known after its first page. With `keeps_hosts`, a host stays after its last
        page, because more pages of it may be added.
        """
        self._rate = rate
        self._keeps_hosts = keeps_hosts
        self._gap_s = None if respects_robots else rate.gap_s
        self._hosts: dict[str, _Host] = {}
        self._free: list[tuple[int, int, _Host]] = []
        """Heap of hosts that may be visited now, most pages first; checked again when a page is taken."""
        self._paused: list[tuple[float, int, _Host]] = []
        self._numbers = itertools.count()
        """Order of hosts with equally many pages."""
        self._needs_pages: dict[str, None] = {}
        self._count_left = count_left
        self._in_progress = 0
        self._largest: _Host | None = None
        self._until_recheck = 0

    def __len__(self) -> int:
        """Return the number of hosts."""
        return len(self._hosts)

    def minimum_s(self) -> float:
        """Return the seconds that the slowest host needs because of its gap."""
        gap_s = self._rate.gap_s
        return max((host.unread * (host.gap_s or gap_s) for host in self._hosts.values()), default=0.0)

    def add_host(self, name: str, unread: int, *, free_at: float = -math.inf) -> None:
        """Add a host with `unread` pages that may not be visited before `free_at`."""
        host = self._hosts[name] = _Host(name, unread, gap_s=self._gap_s, free_at=free_at)
        self._check_supply(host)

    def add_pages(self, name: str, pages: Iterable[JobPage], *, now: float) -> None:
        """Add pages of a host that is in the schedule."""
        host = self._hosts[name]
        host.pages.extend(pages)
        self._enqueue(host, now)

    def add_more_pages(self, name: str, pages: Sequence[JobPage], *, now: float, free_at: float = -math.inf) -> None:
        """Add pages of a host that may be new, and may not be visited before `free_at`."""
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(name, 0, gap_s=self._gap_s)
        host.free_at = max(host.free_at, free_at)
        host.unread += len(pages)
        self.add_pages(name, pages, now=now)

    def pop_hosts_needing_pages(self) -> list[str]:
        """Return the names of the hosts that need more pages, and clear the list."""
        names = list(self._needs_pages)
        self._needs_pages.clear()
        return names

    def take_page(self, now: float) -> JobPage | None:
        """Return the next page to start, or None if no host may be visited now."""
        while self._paused and self._paused[0][0] <= now:
            _, number, host = heapq.heappop(self._paused)
            heapq.heappush(self._free, (-host.unread, number, host))
        while self._free:
            _, _, host = heapq.heappop(self._free)
            host.is_queued = False
            if self._can_start(host) and host.free_at <= now:
                if not self._may_start_beside_largest(host, now):
                    self._enqueue(host, now)
                    return None
                return self._start_page(host, now)
            self._enqueue(host, now)
        return None

    def wait_s(self, now: float) -> float:
        """Return the seconds until a paused host may be visited, or infinity if none is paused."""
        return max(0.0, self._paused[0][0] - now) if self._paused else math.inf

    def finish_page(self, page: JobPage, *, requested_at: float | None, now: float, gap_s: float | None = None) -> None:
        """Remove a finished page.

        Its request had reached the host at `requested_at`; None means that no request was made. `gap_s` is the gap that
        the host requires, if known.
        """
        host = self._hosts[page.host]
        self._end_page(host, requested_at, gap_s)
        if not host.unread and not host.in_progress and not self._keeps_hosts:
            del self._hosts[host.name]
            return
        self._enqueue(host, now)

    def retry_page(
        self, page: JobPage, *, requested_at: float | None, not_before: float, now: float, gap_s: float | None = None
    ) -> None:
        """Add a page again after the other pages of its host, which pauses until `not_before`."""
        host = self._hosts[page.host]
        self._end_page(host, requested_at, gap_s)
        host.unread += 1
        host.pages.append(page)
        host.free_at = max(host.free_at, not_before)
        self._enqueue(host, now)

    def _may_start_beside_largest(self, host: _Host, now: float) -> bool:
        """Return True if a page of this host may start without slowing down the host with the most pages."""
        if self._count_left is None:
            return True
        largest = self._largest_host()
        is_paused = largest.gap_s != 0 or largest.free_at > now
        if host is largest or is_paused or not largest.name:
            return True
        largest_left = max(1, largest.unread + largest.in_progress)
        needed = (self._count_left() - largest_left) * self._rate.per_host / largest_left
        return self._in_progress - largest.in_progress < max(1.0, _MARGIN * needed)

    def _largest_host(self) -> _Host:
        largest = self._largest
        if largest is None or not self._until_recheck or largest.name not in self._hosts:
            largest = self._largest = max(self._hosts.values(), key=lambda host: host.unread)
            self._until_recheck = _RECHECK_AFTER
        return largest

    def _start_page(self, host: _Host, now: float) -> JobPage:
        page = host.pages.popleft()
        # With pauses between pages, nothing of the previous page could be reused.
        if host.gap_s == 0 and (host.unread > 1 or host.in_progress):
            page = replace(page, is_batched=True)
        host.unread -= 1
        host.in_progress += 1
        self._in_progress += 1
        self._until_recheck -= 1
        self._check_supply(host)
        self._enqueue(host, now)
        return page

    def _end_page(self, host: _Host, requested_at: float | None, gap_s: float | None) -> None:
        host.in_progress -= 1
        self._in_progress -= 1
        if gap_s is not None:
            # Several sites with one host name may require different gaps.
            host.gap_s = max(host.gap_s or 0.0, gap_s, self._rate.gap_s)
        if requested_at is not None:
            host.free_at = max(host.free_at, requested_at + (host.gap_s or self._rate.gap_s))

    def _check_supply(self, host: _Host) -> None:
        if len(host.pages) < min(_LOW_PAGES, host.unread):
            self._needs_pages[host.name] = None

    def _can_start(self, host: _Host) -> bool:
        # The time of a request is known only when its page is read, so a gap to it cannot be observed before.
        concurrency = self._rate.per_host if host.gap_s == 0 else 1
        # Lines without a host cause no request.
        return bool(host.pages) and (host.in_progress < concurrency or not host.name)

    def _enqueue(self, host: _Host, now: float) -> None:
        if host.is_queued or not self._can_start(host):
            return
        host.is_queued = True
        if host.free_at > now:
            heapq.heappush(self._paused, (host.free_at, next(self._numbers), host))
        else:
            heapq.heappush(self._free, (-host.unread, next(self._numbers), host))
