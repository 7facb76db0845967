"""Tells a waiting client that its call is alive: many give up after 60 s of silence."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

_PACE_S = 0.5
"""At most two messages a second; a call that ends sooner than this sends none and stays plain JSON."""
_SILENCE_S = 4.0
"""How long after that nothing new may happen before the last state is sent again: below 5 s in all."""

Send = Callable[[float, float | None, str | None], Awaitable[None]]
"""Progress so far, total, and words."""


class ProgressNotifier:
    """The last known state of one call."""

    def __init__(self) -> None:
        self._done = 0.0
        self._total: float | None = None
        self._message: str | None = None
        self._beats = 0
        self._news = asyncio.Event()

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Note where the call stands; it is sent when its time comes."""
        if done > self._done:
            self._beats = 0
        self._done = max(done, self._done)
        self._total = total
        self._message = message
        self._news.set()

    async def send_forever(self, send: Send, *, pace_s: float, silence_s: float) -> None:
        """Send what is new, and repeat the last state in silence, until cancelled."""
        while True:
            await asyncio.sleep(pace_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(silence_s):
                    await self._news.wait()
            self._news.clear()
            await send(self._value(), self._total, self._message)
            self._beats += 1

    def _value(self) -> float:
        # Each value must exceed the one before (specification), and none may claim the next step early.
        return self._done + self._beats / (self._beats + 1)


@contextlib.asynccontextmanager
async def reporting(
    send: Send | None, *, pace_s: float = _PACE_S, silence_s: float = _SILENCE_S
) -> AsyncIterator[ProgressNotifier]:
    """The progress of one call, sent with `send` while the block runs; None sends nothing."""
    progress = ProgressNotifier()
    if send is None:
        yield progress
        return
    sending = asyncio.create_task(progress.send_forever(send, pace_s=pace_s, silence_s=silence_s))
    try:
        yield progress
    finally:
        sending.cancel()
        await asyncio.wait({sending})
