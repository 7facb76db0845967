"""One at a time, the callers by turns: whoever brings a thousand pages does not keep out who brings one."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairLock:
    """A lock that goes round the principals."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def ahead(self) -> int:
        """Who is inside, and who waits to be."""
        return self._taken + sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def passing(self, principal: str) -> AsyncIterator[None]:
        """Be the one inside while the block runs."""
        await self._enter(principal)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, principal: str) -> None:
        if not self._taken:
            self._taken = True
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(principal, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            else:
                self._drop(principal, turn)
            raise

    def _leave(self) -> None:
        """Let in the next one, of the principal whose turn it is."""
        self._taken = False
        while self._waiting:
            principal, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            self._waiting.move_to_end(principal)
            if not turns:
                del self._waiting[principal]
            if not turn.done():
                self._taken = True
                turn.set_result(None)
                return

    def _drop(self, principal: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(principal)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[principal]
