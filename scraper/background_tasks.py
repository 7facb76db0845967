"""Run a task, or handle signals, while a block runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator


@contextlib.asynccontextmanager
async def run_in_background(work: Awaitable[object]) -> AsyncIterator[None]:
    """Run a coroutine while the block runs, then cancel it and wait until it has ended. Its errors are not raised."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


@contextlib.contextmanager
def on_signals(numbers: Iterable[int], callback: Callable[[], object]) -> Iterator[None]:
    """Call `callback` for each of some signals while the block runs."""
    loop, numbers = asyncio.get_running_loop(), tuple(numbers)
    for number in numbers:
        loop.add_signal_handler(number, callback)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
