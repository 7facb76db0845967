"""Queues, limits and slots that principals (callers) share fairly.

The queue serves one principal after the other, and for each principal one key (a host) after the other. So neither a
principal with 1,000 requests nor a host with 1,000 pages delays the others.
"""

import asyncio
import statistics
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from browsers import errors


class FairShare:
    """Count items by principal, with a limit that no principal can use up alone.

    Beyond the limit, up to twice the limit, only principals with less than an equal share of it may add an item.
    Callers check `is_full_for`; `add` does not.
    """

    def __init__(self, limit: int) -> None:
        """Limit the number of items."""
        self.limit = limit
        self.total = 0
        self._counts: Counter[str] = Counter()

    def is_full_for(self, principal: str) -> bool:
        """Return True if the principal may not add an item now."""
        if self.total < self.limit:
            return False
        share = self.limit // (len(self._counts) + (principal not in self._counts))
        return self.total >= 2 * self.limit or self._counts[principal] >= share

    @contextmanager
    def holding(self, principal: str) -> Iterator[None]:
        """Count one item of the principal during the block."""
        self.add(principal)
        try:
            yield
        finally:
            self.remove(principal)

    def add(self, principal: str) -> None:
        """Count one more item of the principal."""
        self.total += 1
        self._counts[principal] += 1

    def remove(self, principal: str) -> None:
        """Count one item fewer of the principal."""
        self.total -= 1
        self._counts[principal] -= 1
        if not self._counts[principal]:
            del self._counts[principal]


@dataclass(eq=False, slots=True)
class Turn:
    """A request for one slot of a `FairQueue`."""

    principal: str
    key: str
    granted: asyncio.Future[None]
    """Done when the turn holds its slot."""
    queued_at: float
    """Seconds of the monotonic clock."""
    is_bulk: bool = False
    """True if all other turns go first."""

    @property
    def is_granted(self) -> bool:
        """Return True if the turn holds its slot."""
        return self.granted.done() and not self.granted.cancelled()


_Lane = OrderedDict[str, OrderedDict[str, deque[Turn]]]


class FairQueue:
    """Grant a limited number of slots to turns. Turns of bulk visits wait until no other turn can be granted."""

    def __init__(self, size: int = 1, *, per_key: int = sys.maxsize, limit: int = sys.maxsize) -> None:
        """Create `size` slots, of which one key may hold `per_key`. Beyond `limit` turns, `waiting` is full."""
        self.size = size
        self.in_use = 0
        self.waiting = FairShare(limit)
        self._per_key = per_key
        self._keys_in_use: Counter[str] = Counter()
        self._lanes: dict[bool, _Lane] = {False: OrderedDict(), True: OrderedDict()}
        self._turns: dict[Turn, None] = {}
        """Waiting turns, oldest first."""

    @property
    def pending(self) -> int:
        """Number of turns that hold a slot or wait for one."""
        return self.in_use + self.waiting.total

    @asynccontextmanager
    async def slot(self, principal: str) -> AsyncIterator[None]:
        """Wait for a slot without a time limit, and hold it during the block."""
        turn = self.enqueue(principal)
        try:
            await turn.granted
        except BaseException:
            self.withdraw(turn)
            raise
        try:
            yield
        finally:
            self.release()

    def enqueue(self, principal: str, key: str = "", *, is_bulk: bool = False) -> Turn:
        """Return a new turn; it is granted at once if a slot is free for its key."""
        turn = Turn(principal, key, asyncio.get_running_loop().create_future(), time.monotonic(), is_bulk)
        keys = self._lanes[is_bulk].setdefault(principal, OrderedDict())
        keys.setdefault(key, deque()).append(turn)
        self._turns[turn] = None
        self.waiting.add(principal)
        self._grant_free_slots()
        return turn

    def withdraw(self, turn: Turn) -> None:
        """Remove a turn from the queue, or release its slot if it was just granted."""
        if turn.is_granted:
            self.release(turn.key)
        elif turn in self._turns:
            self._lanes[turn.is_bulk][turn.principal][turn.key].remove(turn)
            self._forget(turn)

    def release(self, key: str = "") -> None:
        """Return the slot and grant it to the next turn, if any waits."""
        self.in_use -= 1
        self._keys_in_use[key] -= 1
        if not self._keys_in_use[key]:
            del self._keys_in_use[key]
        self._grant_free_slots()

    def resize(self, size: int) -> None:
        """Change the number of slots. Slots in use are kept until they are released."""
        self.size = size
        self._grant_free_slots()

    def longest_wait_s(self) -> float:
        """Return the seconds that the oldest waiting turn has waited, or 0 if none waits."""
        first = next(iter(self._turns), None)
        return 0.0 if first is None else time.monotonic() - first.queued_at

    def _grant_free_slots(self) -> None:
        while (turn := self._next_turn()) is not None:
            lane = self._lanes[turn.is_bulk]
            lane[turn.principal][turn.key].popleft()
            lane[turn.principal].move_to_end(turn.key)
            lane.move_to_end(turn.principal)
            self._forget(turn)
            if turn.granted.cancelled():
                continue
            self.in_use += 1
            self._keys_in_use[turn.key] += 1
            turn.granted.set_result(None)

    def _next_turn(self) -> Turn | None:
        lanes = self._lanes.values() if self.in_use < self.size else ()
        queues = (item for lane in lanes for keys in lane.values() for item in keys.items())
        return next((turns[0] for key, turns in queues if self._keys_in_use[key] < self._per_key), None)

    def _forget(self, turn: Turn) -> None:
        del self._turns[turn]
        self.waiting.remove(turn.principal)
        lane = self._lanes[turn.is_bulk]
        keys = lane[turn.principal]
        if not keys[turn.key]:
            del keys[turn.key]
        if not keys:
            del lane[turn.principal]


_REMEMBERED_DURATIONS = 50
"""Visits whose durations are kept for the estimate of waiting times."""
_FIRST_GUESS_S = 1.0
"""Seconds that a visit is assumed to hold a slot, before any visit has ended."""
_LONGEST_RETRY_S = 120.0
"""Seconds. A longer wait is never suggested, because the load may have changed by then."""


class FairSemaphore(FairQueue):
    """Grant slots to (principal, host) pairs fairly, and estimate the wait for a slot."""

    def __init__(self, size: int, *, per_host: int, queue_limit: int, max_size: int = 0) -> None:
        """Set the minimum and maximum number of slots, the slots per host and the length of the queue."""
        super().__init__(size, per_key=per_host, limit=queue_limit)
        self.min_size, self.max_size = size, max(size, max_size)
        self.on_wait: Callable[[], None] = lambda: None
        """Called when a visit must wait for a slot."""
        self._durations: deque[tuple[str, float]] = deque(maxlen=_REMEMBERED_DURATIONS)
        """Host and seconds of the visits that held a slot last."""

    @property
    def queued(self) -> int:
        """Number of visits that wait for a slot."""
        return self.waiting.total

    @asynccontextmanager
    async def acquire(
        self, principal: str, host: str, *, url: str, wait_s: float, bounded: bool = True, is_bulk: bool = False
    ) -> AsyncIterator[None]:
        """Hold a slot during the block. Wait for it at most `wait_s`.

        A call that is not `bounded` also waits if the queue is full: its visit already holds another slot. Raises
        BusyError for the URL if the queue is full, or if the wait would exceed `wait_s`.
        """
        is_full = self.waiting.is_full_for(principal)
        turn = self.enqueue(principal, host, is_bulk=is_bulk)
        if not turn.is_granted:
            if bounded and (is_full or self.median_hold_s() * self.queued / self.size > wait_s):
                self.withdraw(turn)
                raise self._busy(url)
            self.on_wait()
            try:
                async with asyncio.timeout(wait_s):
                    await turn.granted
            except BaseException as error:
                self.withdraw(turn)
                if isinstance(error, TimeoutError):
                    raise self._busy(url) from None
                raise
        since = time.monotonic()
        try:
            yield
        finally:
            self._durations.append((host, time.monotonic() - since))
            self.release(host)

    def expected_wait_s(self) -> float:
        """Return the estimated wait of a new visit in seconds: median hold, times queued visits and it, per slot."""
        return self.median_hold_s() * (self.queued + 1) / self.size

    def queue_s(self) -> float:
        """Return the estimated seconds that a visit to an idle host would wait for a slot, or 0 if one is free."""
        return self.expected_wait_s() if self.in_use >= self.size else 0.0

    def _busy(self, url: str) -> errors.BusyError:
        # A host has fewer slots than there are, so its part of the queue may be the last.
        pending = Counter(turn.key for turn in self._turns)
        by_host = (self.median_hold_s(host) * count / self._per_key for host, count in pending.items())
        drained_s = max(self.expected_wait_s(), *by_host, 0.0)
        return errors.BusyError(
            f"Too many pages are being read: {self.in_use} at work, {self.queued} waiting.",
            retry_after_s=min(_LONGEST_RETRY_S, max(1.0, round(drained_s))),
            url=url,
        )

    def median_hold_s(self, host: str | None = None) -> float:
        """Return the median seconds for which visits held a slot; only those to `host` if any has ended."""
        durations = [seconds for visited, seconds in self._durations if host in {None, visited}]
        if durations:
            return statistics.median(durations)
        return _FIRST_GUESS_S if host is None else self.median_hold_s()
