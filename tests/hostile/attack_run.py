"""Open all hostile pages in one browser and report which reached their canary."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from tests.hostile.canary import Canary
from tests.hostile.site import HostileSite
from tests.hostile.spellings import QUICK_SPELLINGS, spelled, spellings
from tests.hostile.target import Target
from tests.hostile.vectors import QUICK_VECTORS, vectors

AT_ONCE = 6
LATE_S = 0.5
"""Seconds after the last page, for delayed connections."""
LONGER = (4, 16)
"""Factor for pages that were too slow on a busy machine."""
SPELLED = "spelled:"


class PageOpener(Protocol):
    """A browser that opens pages."""

    @property
    def refused(self) -> set[int]:
        """Ports to which connections were refused."""
        ...

    async def open(self, url: str, hold_s: float) -> str:
        """Open the page, keep it open for some seconds, and return the error if there was one."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """One page, its URL, and for address spellings the address itself."""

    name: str
    url: str
    hold_s: float
    direct_url: str | None = None

    @property
    def key(self) -> str:
        """Key of the case at the site."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one page."""

    name: str
    contacts: int
    refused: bool
    """True if it tried and the proxy refused."""
    served: bool
    note: str


def case_names(quick: bool = False) -> list[str]:
    """Return all cases, or one of each kind."""
    if quick:
        return [*QUICK_VECTORS, *(SPELLED + name for name in QUICK_SPELLINGS)]
    anywhere = Target("http://a.example", "127.0.0.1", 1, 1)
    return [*vectors(anywhere), *(SPELLED + name for name in spellings())]


def host_of(number: int) -> str:
    """Return the host of a case: browsers open few pages of one host at a time."""
    return f"c{number}.hostile.example"


async def run_attacks(opener: PageOpener, site: HostileSite, names: Sequence[str], *, tried: int = 0) -> list[Outcome]:
    """Open every page, several at once, each with a canary of its own.

    `tried` is the number of cases that are known to try. They get more time until that many have tried.
    """
    async with AsyncExitStack() as stack:
        canaries = [await stack.enter_async_context(Canary()) for _ in names]
        cases = [
            _prepare(site, number, name, canary)
            for number, (name, canary) in enumerate(zip(names, canaries, strict=True))
        ]
        slots = asyncio.Semaphore(AT_ONCE)
        notes = list(await asyncio.gather(*(_open(opener, case, slots) for case in cases)))
        for number, case in enumerate(cases):
            # Retry a page that was not served because another page crashed the browser.
            if case.key not in site.served:
                notes[number] = await _open(opener, case, slots)
        await asyncio.sleep(LATE_S)
        for longer in LONGER:
            idle = [case for case, canary in zip(cases, canaries, strict=True) if not _tried(opener, canary)]
            if len(cases) - len(idle) < tried:
                again = (replace(case, hold_s=case.hold_s * longer) for case in idle)
                await asyncio.gather(*(_open(opener, case, slots) for case in again))
        return [
            Outcome(
                case.name,
                contacts=len(canary.contacts),
                refused=_refused(opener, canary),
                served=case.key in site.served,
                note=note,
            )
            for case, canary, note in zip(cases, canaries, notes, strict=True)
        ]


def _refused(opener: PageOpener, canary: Canary) -> bool:
    return canary.port in opener.refused or canary.udp_port in opener.refused


def _tried(opener: PageOpener, canary: Canary) -> bool:
    return bool(canary.contacts) or _refused(opener, canary)


def reached(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the names of the cases that reached their canary."""
    return [outcome.name for outcome in outcomes if outcome.contacts]


def _prepare(site: HostileSite, number: int, name: str, canary: Canary) -> Case:
    origin = f"{site.scheme}://{host_of(number)}"
    target = Target(origin, "127.0.0.1", canary.port, canary.udp_port)
    direct = None
    if name.startswith(SPELLED):
        target = replace(target, host=spellings()[name.removeprefix(SPELLED)])
        vector, direct = spelled(target), target.url("direct")
    else:
        vector = vectors(target)[name]
    site.pages[str(number)] = vector
    return Case(name, f"{origin}/v/{number}", vector.hold_s, direct)


async def _open(opener: PageOpener, case: Case, slots: asyncio.Semaphore) -> str:
    async with slots:
        note = await opener.open(case.url, case.hold_s)
        if case.direct_url is not None:
            note = await opener.open(case.direct_url, 0.1) or note
        return note
