"""Queues and limits that principals (callers) share fairly.

Turns rotate by principal, and for one principal by key (a host). So neither a principal with 1,000 requests
nor a host with 1,000 pages delays the others.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass


class FairShare:
    """Number of items by principal, with a limit that no principal can use up alone.

    Beyond the limit only principals with less than an equal share of it may add an item. The total never
    exceeds twice the limit.
    """

    def __init__(self, limit: int) -> None:
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
        """Count one item less of the principal."""
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

    @property
    def is_granted(self) -> bool:
        """Return True if the turn holds its slot."""
        return self.granted.done() and not self.granted.cancelled()


class FairQueue:
    """A fixed number of slots, and the turns that wait for one."""

    def __init__(self, size: int = 1, *, per_key: int = sys.maxsize, limit: int = sys.maxsize) -> None:
        """Create a queue without waiting turns.

        Args:
            size: Number of slots.
            per_key: Slots that one key may hold.
            limit: Waiting turns beyond which `waiting` is full; `FairQueue` itself refuses none.
        """
        self.size = size
        self.in_use = 0
        self.waiting = FairShare(limit)
        self._per_key = per_key
        self._keys_in_use: Counter[str] = Counter()
        self._by_principal: OrderedDict[str, OrderedDict[str, deque[Turn]]] = OrderedDict()
        self._turns: dict[Turn, None] = {}
        """Waiting turns, oldest first."""

    @property
    def pending(self) -> int:
        """Number of turns that hold a slot or wait for one."""
        return self.in_use + self.waiting.total

    @asynccontextmanager
    async def slot(self, principal: str, key: str = "") -> AsyncIterator[None]:
        """Hold a slot during the block."""
        turn = self.enqueue(principal, key)
        try:
            await turn.granted
        except BaseException:
            self.withdraw(turn)
            raise
        try:
            yield
        finally:
            self.release(key)

    def enqueue(self, principal: str, key: str = "") -> Turn:
        """Return a new turn; it is granted at once if a slot is free for its key."""
        turn = Turn(principal, key, asyncio.get_running_loop().create_future(), time.monotonic())
        keys = self._by_principal.setdefault(principal, OrderedDict())
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
            self._by_principal[turn.principal][turn.key].remove(turn)
            self._forget(turn)

    def release(self, key: str = "") -> None:
        """Give a slot back, to the next turn if one waits."""
        self.in_use -= 1
        self._keys_in_use[key] -= 1
        if not self._keys_in_use[key]:
            del self._keys_in_use[key]
        self._grant_free_slots()

    def longest_wait_s(self) -> float:
        """Return the seconds that the oldest waiting turn has waited; 0 without one."""
        first = next(iter(self._turns), None)
        return 0.0 if first is None else time.monotonic() - first.queued_at

    def waiting_by_key(self) -> Counter[str]:
        """Return the number of waiting turns by key."""
        return Counter(turn.key for turn in self._turns)

    def _grant_free_slots(self) -> None:
        while (turn := self._next_turn()) is not None:
            keys = self._by_principal[turn.principal]
            keys[turn.key].popleft()
            keys.move_to_end(turn.key)
            self._by_principal.move_to_end(turn.principal)
            self._forget(turn)
            if turn.granted.cancelled():
                continue
            self.in_use += 1
            self._keys_in_use[turn.key] += 1
            turn.granted.set_result(None)

    def _next_turn(self) -> Turn | None:
        """Return the next turn with a free slot for its key."""
        if self.in_use >= self.size:
            return None
        for keys in self._by_principal.values():
            for key, turns in keys.items():
                if self._keys_in_use[key] < self._per_key:
                    return turns[0]
        return None

    def _forget(self, turn: Turn) -> None:
        del self._turns[turn]
        self.waiting.remove(turn.principal)
        keys = self._by_principal[turn.principal]
        if not keys[turn.key]:
            del keys[turn.key]
        if not keys:
            del self._by_principal[turn.principal]
