"""One visit's slot: a peek slot to begin with, a render slot once it goes on to render."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from browsers.model import Mode, Request
from browsers.pool.concurrency import FairSemaphore


class Admission:
    """`async with` waits for the first slot; `to_render` exchanges it."""

    def __init__(
        self, peeks: FairSemaphore, renders: FairSemaphore, request: Request, deadline_at: float
    ) -> None:
        self._peeks = peeks
        self._renders = renders
        self._request = request
        self._host = urlsplit(request.url).hostname or ""
        self._deadline_at = deadline_at
        self._held = AsyncExitStack()

    async def __aenter__(self) -> Admission:
        """Raises Busy."""
        first = self._renders if self._request.mode is Mode.RENDER else self._peeks
        await self._take(first, self._held, bounded=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._held.aclose()

    async def to_render(self) -> None:
        """Take a render slot, then let the peek slot go: who holds one may wait past the queue's bound.

        Raises:
            Busy: none became free before the deadline.
        """
        if self._request.mode is Mode.RENDER:
            return
        held = AsyncExitStack()
        await self._take(self._renders, held, bounded=False)
        peek, self._held = self._held, held
        await peek.aclose()

    async def _take(self, slots: FairSemaphore, into: AsyncExitStack, *, bounded: bool) -> None:
        wait_s = max(0.0, self._deadline_at - time.monotonic())
        turn = slots.taken(
            self._request.principal, self._host, url=self._request.url, wait_s=wait_s, bounded=bounded
        )
        await into.enter_async_context(turn)
