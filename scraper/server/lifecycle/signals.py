"""Owns SIGTERM, SIGINT and SIGHUP: uvicorn and sse-starlette would cut every running answer at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Iterator
from typing import Any


class StopSignals:
    """What the operator has asked for: `asked` after one signal, `at_once` after a second."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.at_once = asyncio.Event()

    def note(self) -> None:
        """One more signal."""
        (self.at_once if self.asked.is_set() else self.asked).set()


@contextlib.contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Collect SIGTERM and SIGINT while the block runs, and the hang-up of a terminal that is closed."""
    loop = asyncio.get_running_loop()
    stops = StopSignals()
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # `nohup` asks to outlive the terminal
        numbers.append(signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, stops.note)
    try:
        yield stops
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def first_of(*waits: Awaitable[Any]) -> None:
    """Return when the first of these ends; waits that are tasks already are left running."""
    futures = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future, wait in zip(futures, waits, strict=True):
            if future is not wait:
                future.cancel()
