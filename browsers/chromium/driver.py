"""Playwright's driver: one node process that launches the browsers; started anew when it has died."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from browsers.chromium.profile_dir import ProfileDir
from browsers.errors import NoBrowserError

if TYPE_CHECKING:
    from playwright.async_api import Playwright

START_LIMIT_S = 30.0
"""The driver needs 0.5 s on a quiet machine; a loaded one was seen to take ten times that."""
STOP_LIMIT_S = 3.0


class Driver:
    """Owner of the driver; all browsers' profile folders lie under `folder`."""

    def __init__(self, folder: ProfileDir) -> None:
        self._folder = folder
        self._playwright: Playwright | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def playwright(self) -> Playwright:
        """The running driver, started when needed.

        Raises:
            NoBrowser: it does not start, as where a library that it needs is not installed; or was closed.
        """
        async with self._starting:
            if self._closed:
                raise NoBrowserError("Playwright's driver was closed.")
            if self._playwright is None:
                self._playwright = await self._start()
            return self._playwright

    async def _start(self) -> Playwright:
        # Importing Playwright costs 0.3-0.5 s of CPU: never before it is needed, never on the loop.
        module = await asyncio.to_thread(__import__, "playwright.async_api")
        try:
            with _folders(self._folder.path):
                async with asyncio.timeout(START_LIMIT_S):
                    manager = module.async_api.async_playwright()
                    playwright = await _started(asyncio.ensure_future(manager.start()))
                    _expect_its_end(manager)
        except Exception as error:  # Playwright has no class of its own for it
            first = (str(error) or type(error).__name__).strip().splitlines()[0]
            raise NoBrowserError(f"Playwright's driver does not start: {first.rstrip('.')}.") from error
        return playwright

    async def restart(self, dead: Playwright) -> None:
        """Let go of a driver that no longer answers; the next call of `playwright` starts another."""
        async with self._starting:
            if self._playwright is dead:
                self._playwright = None
                await _stop(dead)

    async def close(self) -> None:
        """Stop the driver for good; the browsers it launched end with it."""
        async with self._starting:
            self._closed = True
            if self._playwright is not None:
                await _stop(self._playwright)
                self._playwright = None


async def _started(coming: asyncio.Future[Playwright]) -> Playwright:
    """Who gives up waiting leaves no driver behind: one that is on its way is awaited, and stopped."""
    try:
        return await asyncio.shield(coming)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception, asyncio.CancelledError):
            async with asyncio.timeout(STOP_LIMIT_S):
                await _stop(await coming)
        raise


def _expect_its_end(manager: object) -> None:
    """Playwright tells of a driver's death to a future that nobody reads; Python would call that a fault."""
    transport = getattr(getattr(manager, "_client", None), "_transport", None)
    told: asyncio.Future[object] | None = getattr(transport, "on_error_future", None)
    if told is not None:
        told.add_done_callback(lambda future: future.cancelled() or future.exception())


async def _stop(playwright: Playwright) -> None:
    try:
        async with asyncio.timeout(STOP_LIMIT_S):
            await playwright.stop()
    except Exception:  # a driver that was killed cannot be stopped, in whatever words Playwright says so
        return


@contextmanager
def _folders(folder: Path) -> Iterator[None]:
    """The driver makes browser profiles in TMPDIR, which it can only be given by inheritance.

    Profiles of browsers that were killed stay behind: in a folder of our own they can be swept away. And it
    does not start for a user who has no home.
    """
    tempfile.gettempdir()  # Python remembers its own answer from before the change
    given = {"TMPDIR": str(folder)} | ({} if _has_home() else {"HOME": str(folder)})
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _has_home() -> bool:
    """Whether HOME, or the system's list of users, names one."""
    return os.path.isabs(os.path.expanduser("~"))
