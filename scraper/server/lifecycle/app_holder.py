"""Keeps the App of one process: opened in the background, shared by every connection, closed at the end.

A client waits for the answer to `initialize` and may give up after 5 s, so nothing heavy is imported or
started before that; the SDK's own lifespans would open one App for each connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from scraper.errors import plainly

_LOG = logging.getLogger(__name__)

A = TypeVar("A")
Opening = Callable[[], contextlib.AbstractAsyncContextManager[A]]
"""Makes the context of an App; called in a thread, because its imports take half a second."""


class AppOpenError(Exception):
    """The App does not open; the message says what the operator can do."""


class AppHolder(Generic[A]):
    """One App that may not be open yet."""

    def __init__(self, opening: Opening[A]) -> None:
        self._opening = opening
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[A] | None = None
        self._keeper: asyncio.Task[None] | None = None

    def open(self) -> asyncio.Future[A]:
        """Begin to open, unless that has begun; an opening that failed is tried again."""
        if self._opened is None or _failed(self._opened):
            self._opened = asyncio.get_running_loop().create_future()
            # Looks at the outcome, so that a failure nobody waits for is not reported as forgotten.
            self._opened.add_done_callback(_failed)
            self._keeper = asyncio.create_task(self._keep(self._opened), name="app")
        return self._opened

    async def app(self) -> A:
        """The App, once it is open.

        Raises:
            CannotOpen: it does not open.
        """
        return await asyncio.shield(self.open())

    def present(self) -> A | None:
        """The App if it is open now."""
        if self._opened is None or not self._opened.done() or _failed(self._opened):
            return None
        return self._opened.result()

    async def close(self) -> None:
        """Close what was opened; an opening under way is given up."""
        self._closing.set()
        if self._keeper is not None:
            if self.present() is None:
                self._keeper.cancel()
            await asyncio.wait({self._keeper})

    async def _keep(self, opened: asyncio.Future[A]) -> None:
        """Open, hold and close the App in one task, as its task groups require."""
        try:
            context = await asyncio.to_thread(self._opening)
            async with context as app:
                opened.set_result(app)
                await self._closing.wait()
        except Exception as error:
            # A ValueError is a setting that makes no sense, and says so in one line.
            trace = not isinstance(error, ValueError)
            what = "close" if opened.done() else "open"
            _LOG.error("the services do not %s: %s", what, plainly(error), exc_info=trace)
            if not opened.done():
                opened.set_exception(AppOpenError(f"The server cannot start its services: {plainly(error)}"))
        finally:
            opened.cancel()


def _failed(opened: asyncio.Future[A]) -> bool:
    return opened.done() and (opened.cancelled() or opened.exception() is not None)


@contextlib.asynccontextmanager
async def household(opening: Opening[A]) -> AsyncIterator[AppHolder[A]]:
    """A household that is closed when the block ends."""
    house = AppHolder(opening)
    try:
        yield house
    finally:
        await house.close()
