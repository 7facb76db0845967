"""Send progress notifications, because many clients give up after 60 s of silence."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from scraper.background_tasks import run_in_background

_PACE_S = 0.5
"""Seconds between notifications: at most two per second. A shorter call sends none and stays plain JSON."""
_SILENCE_S = 4.0
"""Seconds without news, after `_PACE_S`, until the last state is sent again: less than 5 s in total."""

SendProgress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Send progress, total and message."""


class ProgressNotifier:
    """Store the progress of one call and send it as notifications."""

    def __init__(self) -> None:
        """Start with no progress."""
        self._done = 0.0
        self._sent = -1.0
        self._base = 0.0
        self._total: float | None = None
        self._message: str | None = None
        self._repeats = 0
        self._has_news = asyncio.Event()

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Record the state of the call; `send_forever` sends it."""
        # The last step is announced by `send_end`: a repeat of it would exceed the total.
        base = done if total is None else min(done, total - 1)
        if base > self._base:
            self._repeats = 0
        self._base = max(base, self._base)
        self._done = max(done, self._done)
        self._total = total
        self._message = message
        self._has_news.set()

    async def send_forever(self, send: SendProgress, *, pace_s: float, silence_s: float) -> None:
        """Send each new state, and repeat the last one during silence, until canceled."""
        while True:
            await asyncio.sleep(pace_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(silence_s):
                    await self._has_news.wait()
            self._has_news.clear()
            self._sent = self._value()
            # A total below the value belongs to a part of the call that counts other steps.
            total = None if self._total is None or self._total <= self._sent else self._total
            await send(self._sent, total, self._message)
            self._repeats += 1

    async def send_end(self, send: SendProgress) -> None:
        """Send that all steps are done, if they are and a notification was sent before."""
        if self._total is not None and self._done >= self._total > self._sent >= 0:
            await send(self._total, self._total, self._message)

    def _value(self) -> float:
        # The specification requires increasing values; repeats stay below the next step.
        return self._base + self._repeats / (self._repeats + 1)


@contextlib.asynccontextmanager
async def report_progress(
    send: SendProgress | None, *, pace_s: float = _PACE_S, silence_s: float = _SILENCE_S
) -> AsyncIterator[ProgressNotifier]:
    """Send the progress of one call while the block runs; without `send`, only record it."""
    progress = ProgressNotifier()
    if send is None:
        yield progress
        return
    async with run_in_background(progress.send_forever(send, pace_s=pace_s, silence_s=silence_s)):
        yield progress
    end = asyncio.create_task(progress.send_end(send))
    # The answer does not wait for a client that does not read.
    await asyncio.wait({end}, timeout=pace_s)
    end.cancel()
