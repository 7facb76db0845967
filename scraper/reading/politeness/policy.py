"""What stands before and after each visit to a page: its site's robots.txt, and a turn at its host."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from browsers.model import Snapshot
from scraper.coordination.protocols import SharedState
from scraper.deadline import Deadline
from scraper.reading.politeness.host_throttle import HostThrottle
from scraper.reading.visiting.browser_protocol import BrowserClient
from scraper.settings import Settings
from scraper.urls import host_of, parse_target

if TYPE_CHECKING:
    from scraper.reading.politeness.robots import Robots, RobotsDecision


class PolitenessPolicy:
    """Lets visits happen when they may."""

    def __init__(self, politeness: HostThrottle, robots: Robots | None, *, obeys: bool) -> None:
        """`robots`: None where nobody asks it; `obeys`: what it forbids is not visited, else only told."""
        self._politeness = politeness
        self._robots = robots
        self._obeys = obeys

    async def close(self) -> None:
        """End what is being fetched."""
        if self._robots is not None:
            await self._robots.close()

    def gap_s(self, url: str) -> float | None:
        """The pause between two visits to the host of a canonical URL; None: that is not known yet."""
        asked_s = 0.0 if self._robots is None else self._robots.gap_s(url)
        return None if asked_s is None else self._politeness.gap_s(asked_s)

    def hosts_were_asked(self) -> None:
        """Somebody who was cut off may have asked any host just now: every gap counts from now on."""
        self._politeness.hosts_were_asked()

    @asynccontextmanager
    async def visiting(self, url: str, principal: str, deadline: Deadline) -> AsyncIterator[tuple[str, ...]]:
        """Be allowed to visit a canonical URL while the block runs; yields what is to be told of it.

        Raises:
            RobotsRefused: its site does not want it.
            HostBusy: there is no turn before the deadline.
        """
        gap_s: float | None = None
        notes: tuple[str, ...] = ()
        if self._robots is not None:
            said = await self._said(self._robots, url, principal, deadline)
            gap_s, notes = self._politeness.gap_s(said.gap_s), _notes(said)
        async with self._politeness.turn(host_of(url), principal, deadline, gap_s=gap_s):
            yield notes

    async def visited(
        self, url: str, snapshot: Snapshot, principal: str, deadline: Deadline
    ) -> tuple[str, ...]:
        """Take in what a site answered; what is to be told of the address at which the visit ended.

        Raises:
            RobotsRefused: the visit was led to where its site does not want it.
        """
        await self.heard(snapshot)
        if self._robots is None or not snapshot.hops:
            return ()
        return _notes(await self._said(self._robots, parse_target(snapshot.url), principal, deadline))

    async def heard(self, snapshot: Snapshot) -> None:
        """Leave a host alone for as long as its answer asks."""
        await self._politeness.heard(snapshot)

    async def _said(self, robots: Robots, url: str, principal: str, deadline: Deadline) -> RobotsDecision:
        said = await robots.said(url, principal, deadline)
        if self._obeys and not said.allowed:
            from scraper.reading.politeness.robots import refused

            raise refused(said, url)
        return said


def manners_of(settings: Settings, door: BrowserClient, shared: SharedState) -> PolitenessPolicy:
    """The manners that an operator has chosen."""
    politeness = HostThrottle(shared.leases, settings)
    if settings.robots == "off":
        return PolitenessPolicy(politeness, None, obeys=False)
    # Imported where it is asked for: the rules of robots.txt are a library of their own.
    from scraper.reading.politeness.robots import Robots

    return PolitenessPolicy(
        politeness, Robots(door, politeness, shared.texts), obeys=settings.robots == "obey"
    )


def _notes(said: RobotsDecision) -> tuple[str, ...]:
    return () if said.allowed else (said.why,)
