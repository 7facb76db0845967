"""Whose turn it is: of the hosts that may be asked now, the one with the most pages left. Pure.

Nobody waits at a host: what may not be read yet stands in no queue of the browsers. The host with the most
pages goes first because at its own pace it is the one that the job ends with. Where it takes longer than all
others together, they get as many places as let them end with it: more would only make its pages slower.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from scraper.bulk.model import CrawlRate, JobPage

LOW = 16
"""Pages of a host at hand below which more are wanted."""
ROOM = 1.5
"""The others are given so much more than they need, as their pages may take longer."""
LOOK_AFTER = 32
"""Pages after which it is looked anew which host has most left."""


@dataclass(slots=True)
class _Host:
    """One host under work."""

    name: str
    unread: int
    """Its pages that were not begun, at hand or not."""
    pages: deque[JobPage] = field(default_factory=deque)
    gap_s: float | None = None
    """Between two requests to it; None: what it asks for is not known yet."""
    under_way: int = 0
    free_at: float = -math.inf
    """Not asked before."""
    offered: bool = False
    """Whether it stands in one of the heaps; never in both, nor twice."""


class Schedule:
    """The hosts under work, and the next page of them."""

    def __init__(
        self, pace: CrawlRate, *, hosts_are_heard: bool = False, left: Callable[[], int] | None = None
    ) -> None:
        """`hosts_are_heard`: a host may want a longer gap, which is known when its first page was read.
        `left`: pages of the job that have not ended, where that is known.
        """
        self._pace = pace
        self._gap_s = None if hosts_are_heard else pace.gap_s
        self._hosts: dict[str, _Host] = {}
        self._free: list[tuple[int, int, _Host]] = []
        """May be asked now, most pages first; checked again when taken."""
        self._resting: list[tuple[float, int, _Host]] = []
        self._numbers = itertools.count()
        """Of two hosts that are alike, the one that came first."""
        self._wanting: dict[str, None] = {}
        self._left = left
        self._under_way = 0
        self._largest: _Host | None = None
        self._taken_until_look = 0

    def __len__(self) -> int:
        return len(self._hosts)

    def longest_s(self) -> float:
        """How long the host that has most left takes at the least, by its gap alone."""
        gap_s = self._pace.gap_s
        return max((host.unread * (host.gap_s or gap_s) for host in self._hosts.values()), default=0.0)

    def enter(self, name: str, unread: int, *, free_at: float = -math.inf) -> None:
        """Take a host in, which has so many pages left and is not to be asked before `free_at`."""
        host = self._hosts[name] = _Host(name, unread, gap_s=self._gap_s, free_at=free_at)
        self._note_wanting(host)

    def supply(self, name: str, pages: Iterable[JobPage], *, now: float) -> None:
        """Lay pages of a host at hand."""
        host = self._hosts[name]
        host.pages.extend(pages)
        self._offer(host, now)

    def wanting(self) -> list[str]:
        """Hosts of which more pages should be laid at hand; each is named once."""
        names = list(self._wanting)
        self._wanting.clear()
        return names

    def take(self, now: float) -> JobPage | None:
        """The page to begin now; None: nobody may be asked."""
        while self._resting and self._resting[0][0] <= now:
            _, number, host = heapq.heappop(self._resting)
            heapq.heappush(self._free, (-host.unread, number, host))
        while self._free:
            _, _, host = heapq.heappop(self._free)
            host.offered = False
            if self._may_ask(host) and host.free_at <= now:
                if not self._has_room(host, now):
                    self._offer(host, now)
                    return None
                return self._taken(host, now)
            self._offer(host, now)
        return None

    def wait_s(self, now: float) -> float:
        """Until a host that rests may be asked; infinite when there is none."""
        return max(0.0, self._resting[0][0] - now) if self._resting else math.inf

    def done(self, page: JobPage, *, asked_at: float | None, now: float, gap_s: float | None = None) -> None:
        """A page came to its end; `asked_at`: by when its request had arrived, None: none was made.

        `gap_s`: what its host asks for, where that is known.
        """
        host = self._hosts[page.host]
        self._ended(host, asked_at, gap_s)
        if not host.unread and not host.under_way:
            del self._hosts[host.name]
            return
        self._offer(host, now)

    def again(
        self,
        page: JobPage,
        *,
        asked_at: float | None,
        not_before: float,
        now: float,
        gap_s: float | None = None,
    ) -> None:
        """A page is to be read once more, behind its host's others; its host rests until then."""
        host = self._hosts[page.host]
        self._ended(host, asked_at, gap_s)
        host.unread += 1
        host.pages.append(page)
        host.free_at = max(host.free_at, not_before)
        self._offer(host, now)

    def _has_room(self, host: _Host, now: float) -> bool:
        """Whether a page of this host may be begun beside those of the host with most pages."""
        if self._left is None:
            return True
        largest = self._largest_host()
        rests = largest.gap_s != 0 or largest.free_at > now
        if host is largest or rests or not largest.name:
            return True
        its_own = max(1, largest.unread + largest.under_way)
        needed = (self._left() - its_own) * self._pace.per_host / its_own
        return self._under_way - largest.under_way < max(1.0, ROOM * needed)

    def _largest_host(self) -> _Host:
        largest = self._largest
        if largest is None or not self._taken_until_look or largest.name not in self._hosts:
            largest = self._largest = max(self._hosts.values(), key=lambda host: host.unread)
            self._taken_until_look = LOOK_AFTER
        return largest

    def _taken(self, host: _Host, now: float) -> JobPage:
        page = host.pages.popleft()
        # With pauses between them, none would find anything left of the one before.
        if host.gap_s == 0 and (host.unread > 1 or host.under_way):
            page = replace(page, has_company=True)
        host.unread -= 1
        host.under_way += 1
        self._under_way += 1
        self._taken_until_look -= 1
        self._note_wanting(host)
        self._offer(host, now)
        return page

    def _ended(self, host: _Host, asked_at: float | None, gap_s: float | None) -> None:
        host.under_way -= 1
        self._under_way -= 1
        if gap_s is not None:
            # Of several sites of one name each may say something else.
            host.gap_s = max(host.gap_s or 0.0, gap_s, self._pace.gap_s)
        if asked_at is not None:
            host.free_at = max(host.free_at, asked_at + (host.gap_s or self._pace.gap_s))

    def _note_wanting(self, host: _Host) -> None:
        if len(host.pages) < min(LOW, host.unread):
            self._wanting[host.name] = None

    def _may_ask(self, host: _Host) -> bool:
        # Lines that name no host ask nobody.
        return bool(host.pages) and (host.under_way < self._at_once(host) or not host.name)

    def _at_once(self, host: _Host) -> int:
        # When a request arrives is known when its page is read: until then nobody can keep a distance to it.
        return self._pace.per_host if host.gap_s == 0 else 1

    def _offer(self, host: _Host, now: float) -> None:
        if host.offered or not self._may_ask(host):
            return
        host.offered = True
        if host.free_at > now:
            heapq.heappush(self._resting, (host.free_at, next(self._numbers), host))
        else:
            heapq.heappush(self._free, (-host.unread, next(self._numbers), host))
