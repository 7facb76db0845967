"""Run a task in the background while a block runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable


@contextlib.asynccontextmanager
async def run_in_background(work: Awaitable[object]) -> AsyncIterator[None]:
    """Run a coroutine while the block runs, then cancel it and wait until it has ended. Its errors are not raised."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
