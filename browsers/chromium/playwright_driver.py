"""Playwright's driver, a Node process that launches the browsers, and the temporary folder of their profiles."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from browsers.errors import NoBrowserError

if TYPE_CHECKING:
    from playwright.async_api import Playwright


PREFIX = "search-mcp-run-"
_LOCK = "owner.lock"
_REMOVE_ATTEMPTS = 40
_REMOVE_PAUSE_S = 0.05

_MAX_PARENT_BYTES = 34
"""Bytes. Chromium's full tier creates a socket in `org.chromium.Chromium.XXXXXX/SingletonSocket` and exits if its path
exceeds 107 bytes (Linux) or 103 (macOS, whose own temporary folder has 49)."""
_SHORT_PARENT = Path("/tmp")


class ProfileDir:
    """A temporary folder with a lock. While its owner runs, no other process removes it."""

    def __init__(self) -> None:
        """Start without a folder; entering creates it."""
        self.path = Path()
        self._lock: int | None = None

    def __enter__(self) -> ProfileDir:
        """Create and lock the folder."""
        remove_abandoned_dirs()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_find_parent()))
        # Locked before it gets its name: a concurrent cleanup finds no lock, or a locked one.
        unnamed = self.path / (_LOCK + ".new")
        self._lock = os.open(unnamed, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unnamed.rename(self.path / _LOCK)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        if self._lock is not None:
            _remove(self.path)
            os.close(self._lock)
            self._lock = None


def _find_parent() -> Path:
    usual = Path(tempfile.gettempdir())
    if len(os.fsencode(usual)) > _MAX_PARENT_BYTES and os.access(_SHORT_PARENT, os.W_OK | os.X_OK):
        return _SHORT_PARENT
    return usual


def _remove(folder: Path) -> None:
    """Remove a folder, with retries: a closing browser may still write, and a folder without its lock would remain."""
    for _ in range(_REMOVE_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_REMOVE_PAUSE_S)


def remove_abandoned_dirs() -> int:
    """Remove the folders whose owners no longer run, and return their number."""
    abandoned = [folder for folder in _find_parent().glob(PREFIX + "*") if _is_abandoned(folder)]
    for folder in abandoned:
        shutil.rmtree(folder, ignore_errors=True)
    return len(abandoned)


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # it is being created or removed, or belongs to another user
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


_START_LIMIT_S = 30.0
"""Seconds for the driver's start. It needs 0.5 s on an idle machine and took ten times as long on a loaded one."""
STOP_LIMIT_S = 3.0
_POLL_S = 0.02
_STARTING = threading.Lock()


class PlaywrightDriver:
    """Own Playwright's driver process. The profile folders of all browsers are created in `folder`."""

    def __init__(self, folder: ProfileDir) -> None:
        """Create profile folders in `folder`; start the driver on first use."""
        self._folder = folder
        self._playwright: Playwright | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def playwright(self) -> Playwright:
        """Return the driver, started if necessary. Raises NoBrowserError if it does not start or was closed."""
        async with self._starting:
            if self._closed:
                raise NoBrowserError("Playwright's driver was closed.")
            if self._playwright is None:
                self._playwright = await self._start()
            return self._playwright

    async def _start(self) -> Playwright:
        # With this variable Playwright prints all messages to stdout, which carries the protocol.
        os.environ.pop("DEBUGP", None)
        # Importing Playwright costs 0.3-0.5 s of CPU: only on demand and in a thread.
        module = await asyncio.to_thread(__import__, "playwright.async_api")
        try:
            async with _start_lock(), asyncio.timeout(_START_LIMIT_S):
                with _environment(self._folder.path):
                    manager = module.async_api.async_playwright()
                    playwright = await _wait_started(asyncio.ensure_future(manager.start()))
                    # Retrieve the error that Playwright sets when the driver ends. Python would log it otherwise.
                    transport = getattr(getattr(manager, "_client", None), "_transport", None)
                    ended: asyncio.Future[object] | None = getattr(transport, "on_error_future", None)
                    if ended is not None:
                        ended.add_done_callback(lambda future: future.cancelled() or future.exception())
        except Exception as error:  # Playwright has no error class for it
            first = (str(error) or type(error).__name__).strip().splitlines()[0]
            raise NoBrowserError(f"Playwright's driver does not start: {first.rstrip('.')}.") from error
        return playwright

    async def restart(self, dead: Playwright) -> None:
        """Discard a driver that no longer answers. The next call of `playwright` starts another."""
        async with self._starting:
            if self._playwright is dead:
                self._playwright = None
                await _stop(dead)

    async def close(self) -> None:
        """Stop the driver permanently. The browsers that it launched end with it."""
        async with self._starting:
            self._closed = True
            if self._playwright is not None:
                await _stop(self._playwright)
                self._playwright = None


async def _wait_started(starting: asyncio.Future[Playwright]) -> Playwright:
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception, asyncio.CancelledError):
            async with asyncio.timeout(_START_LIMIT_S):
                playwright = await starting
            await _stop(playwright)
        raise


async def _stop(playwright: Playwright) -> None:
    # A killed driver cannot be stopped, and Playwright's error varies.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(STOP_LIMIT_S):
            await playwright.stop()


@contextlib.asynccontextmanager
async def _start_lock() -> AsyncIterator[None]:
    """Start one driver at a time, also in other event loops, because each changes the environment of the process."""
    while not _STARTING.acquire(blocking=False):  # noqa: ASYNC110 - an Event belongs to one loop
        await asyncio.sleep(_POLL_S)
    try:
        yield
    finally:
        _STARTING.release()


@contextlib.contextmanager
def _environment(folder: Path) -> Iterator[None]:
    """Set TMPDIR for the driver, which creates browser profiles there, and HOME, without which it does not start."""
    tempfile.gettempdir()  # Python caches its own value before the change
    has_home = os.path.isabs(os.path.expanduser("~"))
    changes = {"TMPDIR": str(folder)} | ({} if has_home else {"HOME": str(folder)})
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
