"""Start, replace and stop the browsers: one for each tier, started on demand and stopped when idle."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from browsers import errors
from browsers.chromium import locate
from browsers.chromium.locate import ALLOW_SOCKETS, are_sockets_forbidden
from browsers.chromium.playwright_driver import PlaywrightDriver, ProfileDir
from browsers.chromium.process import LaunchRequest, RunningChromium, launch_chromium
from browsers.chromium.switches import plan_launch
from browsers.egress.proxy_server import EgressProxy
from browsers.identity.fingerprint import BrowserIdentity
from browsers.model import Tier
from browsers.pool.browser_handle import BrowserHandle
from browsers.settings import BrowserSettings

log = logging.getLogger(__name__)

DRAIN_LIMIT_S = 20.0
"""Seconds that a browser to be replaced waits for its visits."""
_MEMORY_SAMPLE_VISITS = 50
"""Visits between two memory samples. A sample costs milliseconds of kernel time."""
_TAB_BYTES = 40_000_000
"""Bytes of memory of a tab that waits for its site. They do not count toward the limit of its browser."""
_PEEKS_LIKE_A_RENDER = 10
"""Number of peeks that increase a browser's memory as much as one render."""


_CORRECT_PATH = "Correct the path in the settings, then run `search-mcp doctor`."
_FREE_RESOURCES = "This machine may be out of processes, open files or disk: free some, then try again."
_RETRY_AFTER_RESTART = "Try again when this server has been started again."


@dataclass(frozen=True, slots=True)
class BrowserState:
    """State of one running browser."""

    tier: str
    version: str
    sandboxed: bool
    lent: int
    peeks: int
    renders: int
    tabs_opened: int
    tabs_renewed: int
    age_s: float
    memory_bytes: int | None
    """Proportional set size at the last sample, or None if unknown."""


class BrowserPool:
    """Own Playwright's driver and one browser for each tier."""

    def __init__(self, settings: BrowserSettings, egress: EgressProxy) -> None:
        """Start browsers on first use."""
        self.restarts = 0
        self.last_error: str | None = None
        self._settings = settings
        self._egress = egress
        self._folder = ProfileDir()
        self._driver = PlaywrightDriver(self._folder)
        self.handles: dict[Tier, BrowserHandle] = {}
        self._found: dict[Tier, locate.ChromiumInstall] = {}
        self._launching = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._was_sandboxed = False

    async def __aenter__(self) -> Self:
        """Start the tasks of the pool."""
        self._folder.__enter__()
        self._spawn(self._maintain())
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all browsers and the driver."""
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(handle.close() for handle in self.handles.values()))
        await self._driver.close()
        await asyncio.to_thread(self._folder.__exit__, None, None, None)

    @property
    def folder(self) -> Path:
        """Folder of the browsers' profiles."""
        return self._folder.path

    def start_soon(self, tier: Tier = Tier.LIGHT) -> None:
        """Start the browser of a tier in the background."""
        self._spawn(self._try_start(tier))

    def is_ready(self, tier: Tier = Tier.LIGHT) -> bool:
        """Return True if the browser of a tier runs and responds."""
        handle = self.handles.get(self._find_serving_tier(tier))
        return handle is not None and handle.is_alive and handle.heartbeat.is_responsive

    def states(self) -> tuple[BrowserState, ...]:
        """Return the states of the running browsers."""
        return tuple(
            BrowserState(
                tier=tier.value,
                version=handle.chromium.version,
                sandboxed=handle.chromium.sandboxed,
                lent=handle.lent,
                peeks=handle.peeks,
                renders=handle.renders,
                tabs_opened=handle.tabs_opened,
                tabs_renewed=handle.tabs_renewed,
                age_s=time.monotonic() - handle.chromium.started_at,
                memory_bytes=handle.memory_bytes,
            )
            for tier, handle in self.handles.items()
            if handle.is_alive
        )

    def forget(self, principal: str, site_profile: str) -> None:
        """Close the idle tabs of a site profile."""
        for handle in self.handles.values():
            handle.forget(principal, site_profile)

    async def get_handle(self, tier: Tier) -> BrowserHandle:
        """Return a browser of the tier, started if needed. Raises NoBrowserError, or BrowserGoneError at the end."""
        tier = self._find_serving_tier(tier)
        handle = self.handles.get(tier)
        if handle is not None and handle.is_alive:
            return handle
        start = asyncio.ensure_future(self._start(tier))
        self._tasks.add(start)
        start.add_done_callback(self._on_start_end)
        try:
            # A caller that gives up does not end the start: others wait for the browser, now or later.
            return await asyncio.shield(start)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if start.cancelled() and task is not None and not task.cancelling():
                self._raise_if_closing()
            raise

    async def _start(self, tier: Tier) -> BrowserHandle:
        async with self._launching:
            handle = self.handles.get(tier)
            if handle is None or not handle.is_alive:
                handle = await self._launch(tier)
            return handle

    def _find_serving_tier(self, tier: Tier) -> Tier:
        """Return the tier that serves this one. If only one tier is installed, it serves both."""
        if self._find(tier) is not None:
            return tier
        return Tier.FULL if tier is Tier.LIGHT else Tier.LIGHT

    def _find(self, tier: Tier) -> locate.ChromiumInstall | None:
        if tier not in self._found:
            light = tier is Tier.LIGHT
            explicit = self._settings.light_executable if light else self._settings.full_executable
            found = locate.find_chromium(tier, explicit)
            if found is None:
                return None
            self._found[tier] = found
        return self._found[tier]

    async def _launch(self, tier: Tier) -> BrowserHandle:
        found = self._find(tier)
        if found is None:
            raise errors.NoBrowserError("No Chromium was found on this machine.")
        product = await asyncio.to_thread(locate.read_product, found)
        try:
            identity = BrowserIdentity.of(product, tier, self._settings)
        except ValueError as error:
            raise errors.NoBrowserError(
                f"{found.executable} does not print its version: it is not a Chromium that can be started.",
                next_step=_CORRECT_PATH if found.source == "setting" else None,
            ) from error
        plan = plan_launch(tier, identity, self._settings)
        request = LaunchRequest(tier, found.executable, plan, self._settings.page_memory_bytes)
        chromium = await self._launch_chromium(request)
        handle = self.handles[tier] = BrowserHandle(chromium, identity, self._egress, self._settings)
        self._spawn(self._watch(tier, handle))
        handle.prepare_tabs()
        return handle

    async def _launch_chromium(self, request: LaunchRequest) -> RunningChromium:
        self._raise_if_closing()
        try:
            # The sandbox has worked before, so a failure to start has another cause.
            chromium = await launch_chromium(
                self._driver, request, self._folder.path, may_disable_sandbox=not self._was_sandboxed
            )
        except errors.NoBrowserError as error:
            self._raise_if_closing()
            self.last_error = str(error)
            if are_sockets_forbidden():
                error.next_step = ALLOW_SOCKETS
            raise
        except (OSError, RuntimeError) as error:  # RuntimeError is raised if no thread can be started
            reason = getattr(error, "strerror", None) or error
            self.last_error = f"Chromium at {request.executable} cannot be started: {reason}."
            next_step = ALLOW_SOCKETS if are_sockets_forbidden() else _FREE_RESOURCES
            raise errors.NoBrowserError(self.last_error, next_step=next_step) from error
        if self._closing:
            await chromium.close()
        self._raise_if_closing()
        self._was_sandboxed |= chromium.sandboxed
        return chromium

    def _raise_if_closing(self) -> None:
        if self._closing:
            raise errors.BrowserGoneError("The browsers are being closed.", next_step=_RETRY_AFTER_RESTART)

    async def _try_start(self, tier: Tier) -> None:
        try:
            await self.get_handle(tier)
        except errors.BrowsersError as error:
            log.error("no browser: %s %s", error, error.next_step)

    async def _watch(self, tier: Tier, handle: BrowserHandle) -> None:
        """Replace a browser that crashed at once, so that the next visit does not wait for it."""
        await handle.chromium.connection.closed.wait()
        was_retired = handle.retired
        await handle.close()
        if self._closing or was_retired:
            return
        self.restarts += 1
        self.last_error = "The browser died and was replaced."
        log.warning("browser died tier=%s restarts=%s", tier, self.restarts)
        if self.handles.get(tier) is handle:
            del self.handles[tier]
        await self._try_start(tier)

    async def _maintain(self) -> None:
        while True:
            await asyncio.sleep(self._settings.housekeeping_s)
            for tier, handle in list(self.handles.items()):
                try:
                    await self._maintain_browser(tier, handle)
                except errors.BrowsersError:
                    continue
                except (OSError, RuntimeError) as error:  # out of threads or files, perhaps temporarily
                    log.warning("browser not maintained: %s", error)

    async def _maintain_browser(self, tier: Tier, handle: BrowserHandle) -> None:
        if not handle.is_alive:
            return
        handle.heartbeat.probe()
        if handle.heartbeat.is_lost:
            log.warning("browser does not respond and is killed tier=%s", tier)
            handle.chromium.kill()
            return
        handle.close_expired()
        idle_s = 0.0 if handle.lent else time.monotonic() - handle.idle_since
        if tier is Tier.FULL and idle_s > self._settings.full_idle_s:
            del self.handles[tier]
            self._spawn(self._retire(handle))
        elif handle.needs_replacement or await self._uses_too_much_memory(handle):
            await self._replace(tier, handle)

    async def _uses_too_much_memory(self, handle: BrowserHandle) -> bool:
        visits = handle.renders + handle.peeks // _PEEKS_LIKE_A_RENDER
        if visits - handle.sampled_at_visits >= _MEMORY_SAMPLE_VISITS:
            handle.sampled_at_visits = visits
            handle.memory_bytes = await handle.chromium.memory_bytes()
        more_tabs = max(0, handle.lent - self._settings.render_slots)
        return (handle.memory_bytes or 0) > self._settings.browser_memory_bytes + more_tabs * _TAB_BYTES

    async def _replace(self, tier: Tier, old: BrowserHandle) -> None:
        async with self._launching:
            if self.handles.get(tier) is not old:
                return
            await self._launch(tier)
        self._spawn(self._retire(old))

    async def _retire(self, handle: BrowserHandle) -> None:
        await handle.drain(DRAIN_LIMIT_S)
        await handle.close()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)

    def _on_start_end(self, start: asyncio.Task[BrowserHandle]) -> None:
        self._tasks.discard(start)
        if not start.cancelled():
            start.exception()  # Its callers report it, unless all of them gave up.

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("background task of the browsers failed: %s", error, exc_info=error)
