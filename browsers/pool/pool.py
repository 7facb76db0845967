"""The browsers: one a tier, started when needed, replaced when worn or dead, ended when idle."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path

from browsers import errors
from browsers.chromium import locate
from browsers.chromium.driver import Driver
from browsers.chromium.process import LaunchRequest, RunningChromium, launch
from browsers.chromium.profile_dir import ProfileDir
from browsers.chromium.switches import plan_launch
from browsers.egress import EgressProxy
from browsers.identity.fingerprint import BrowserIdentity
from browsers.model import Tier
from browsers.pool.browser_handle import BrowserHandle
from browsers.settings import BrowserSettings

log = logging.getLogger(__name__)

DRAIN_LIMIT_S = 20.0
MEMORY_SAMPLE_VISITS = 50
"""Reading the memory of a browser's processes costs milliseconds of kernel time: not after every visit."""
PEEKS_LIKE_A_RENDER = 10
"""In what they leave behind in a browser, which is little."""


_CORRECT = "Correct the path in the settings, then run `search-mcp doctor`."
_SCARCE = "This machine may be out of processes, open files or disk: free some, then try again."
_STARTED_AGAIN = "Try again when this server has been started again."


@dataclass(frozen=True, slots=True)
class BrowserState:
    """One browser, as `status` shows it."""

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


class Pool:
    """Owner of driver, browsers and tabs."""

    def __init__(self, settings: BrowserSettings, egress: EgressProxy) -> None:
        self.restarts = 0
        self.last_error: str | None = None
        self._settings = settings
        self._egress = egress
        self._folder = ProfileDir()
        self._driver = Driver(self._folder)
        self._supplies: dict[Tier, BrowserHandle] = {}
        self._found: dict[Tier, locate.ChromiumInstall] = {}
        self._memory: dict[Tier, int | None] = {}
        self._sampled_at: dict[Tier, int] = {}
        self._launching = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._was_sandboxed = False

    async def __aenter__(self) -> Pool:
        self._folder.__enter__()
        self._spawn(self._keep_house())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(supply.close() for supply in self._supplies.values()))
        await self._driver.close()
        await asyncio.to_thread(self._folder.__exit__, None, None, None)

    @property
    def folder(self) -> Path:
        """Where the browsers' profiles lie."""
        return self._folder.path

    def start_soon(self, tier: Tier = Tier.LIGHT) -> None:
        """Start that tier's browser in the background."""
        self._spawn(self._start_quietly(tier))

    def ready(self, tier: Tier = Tier.LIGHT) -> bool:
        """Whether that tier's browser answers now."""
        supply = self._supplies.get(self._served_by(tier))
        return supply is not None and supply.alive and supply.pulse.beats

    def states(self) -> tuple[BrowserState, ...]:
        """The running browsers."""
        return tuple(
            BrowserState(
                tier=tier.value,
                version=supply.chromium.version,
                sandboxed=supply.chromium.sandboxed,
                lent=supply.lent,
                peeks=supply.peeks,
                renders=supply.renders,
                tabs_opened=supply.tabs_opened,
                tabs_renewed=supply.tabs_renewed,
                age_s=time.monotonic() - supply.chromium.started_at,
                memory_bytes=self._memory.get(tier),
            )
            for tier, supply in self._supplies.items()
            if supply.alive
        )

    def forget(self, principal: str, site_profile: str) -> None:
        """Close what is kept open for a profile."""
        for supply in self._supplies.values():
            supply.forget(principal, site_profile)

    async def supply(self, tier: Tier) -> BrowserHandle:
        """A living browser of the tier, started when there is none.

        Raises:
            NoBrowser: none is installed, or it does not start.
            BrowserGone: all of them are being closed.
        """
        tier = self._served_by(tier)
        supply = self._supplies.get(tier)
        if supply is not None and supply.alive:
            return supply
        async with self._launching:
            supply = self._supplies.get(tier)
            if supply is None or not supply.alive:
                supply = await self._launch(tier)
            return supply

    def _served_by(self, tier: Tier) -> Tier:
        """Where only one tier is installed, it serves both."""
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
                f"{found.executable} does not tell its version: it is no Chromium that can be started.",
                next_step=_CORRECT if found.source == "setting" else None,
            ) from error
        order = LaunchRequest(tier, found.executable, plan_launch(tier, identity, self._settings))
        chromium = await self._launched(order)
        supply = self._supplies[tier] = BrowserHandle(chromium, identity, self._egress, self._settings)
        self._spawn(self._watch(tier, supply))
        supply.warm()
        return supply

    async def _launched(self, order: LaunchRequest) -> RunningChromium:
        self._refuse_when_closing()
        try:
            # Where the sandbox was seen to work, a browser that does not start has some other trouble.
            chromium = await launch(self._driver, order, self._folder.path, may_bare=not self._was_sandboxed)
        except errors.NoBrowserError as error:
            self._refuse_when_closing()
            self.last_error = str(error)
            raise
        except (OSError, RuntimeError) as error:  # Python's word for no more threads is the latter
            reason = getattr(error, "strerror", None) or error
            self.last_error = f"Chromium at {order.executable} cannot be started: {reason}."
            raise errors.NoBrowserError(self.last_error, next_step=_SCARCE) from error
        if self._closing:
            await chromium.close()
        self._refuse_when_closing()
        self._was_sandboxed |= chromium.sandboxed
        return chromium

    def _refuse_when_closing(self) -> None:
        if self._closing:
            raise errors.BrowserGoneError("The browsers are being closed.", next_step=_STARTED_AGAIN)

    async def _start_quietly(self, tier: Tier) -> None:
        try:
            await self.supply(tier)
        except errors.BrowsersError as error:
            log.error("no browser: %s %s", error, error.next_step)

    async def _watch(self, tier: Tier, supply: BrowserHandle) -> None:
        """Replace a browser that died, at once: the next visit should not wait for it."""
        await supply.chromium.connection.closed.wait()
        was_retired = supply.retired
        await supply.close()
        if self._closing or was_retired:
            return
        self.restarts += 1
        self.last_error = "The browser died and was replaced."
        log.warning("browser died tier=%s restarts=%s", tier, self.restarts)
        if self._supplies.get(tier) is supply:
            del self._supplies[tier]
        await self._start_quietly(tier)

    async def _keep_house(self) -> None:
        while True:
            await asyncio.sleep(self._settings.housekeeping_s)
            for tier, supply in list(self._supplies.items()):
                try:
                    await self._look_after(tier, supply)
                except errors.BrowsersError:
                    continue
                except (OSError, RuntimeError) as error:  # out of threads or files; it may pass
                    log.warning("browser not looked after: %s", error)

    async def _look_after(self, tier: Tier, supply: BrowserHandle) -> None:
        if not supply.alive:
            return
        supply.pulse.feel()
        if supply.pulse.is_lost:
            log.warning("browser stands still and is ended tier=%s", tier)
            supply.chromium.kill()
            return
        supply.end_overdue()
        idle_s = 0.0 if supply.lent else time.monotonic() - supply.idle_since
        if tier is Tier.FULL and idle_s > self._settings.full_idle_s:
            del self._supplies[tier]
            self._spawn(self._retire(supply))
        elif supply.worn or await self._is_fat(tier, supply):
            await self._replace(tier, supply)

    async def _is_fat(self, tier: Tier, supply: BrowserHandle) -> bool:
        visits = supply.renders + supply.peeks // PEEKS_LIKE_A_RENDER
        if visits - self._sampled_at.get(tier, -MEMORY_SAMPLE_VISITS) >= MEMORY_SAMPLE_VISITS:
            self._sampled_at[tier] = visits
            self._memory[tier] = await supply.chromium.memory_bytes()
        return (self._memory.get(tier) or 0) > self._settings.browser_memory_bytes

    async def _replace(self, tier: Tier, worn: BrowserHandle) -> None:
        """Make before break: the new browser takes the visits, the old one ends what it has begun."""
        async with self._launching:
            if self._supplies.get(tier) is not worn:
                return
            await self._launch(tier)
            self._sampled_at.pop(tier, None)
            self._memory.pop(tier, None)
        self._spawn(self._retire(worn))

    async def _retire(self, supply: BrowserHandle) -> None:
        await supply.drain(DRAIN_LIMIT_S)
        await supply.close()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("work on the browsers broke off: %s", error, exc_info=error)
