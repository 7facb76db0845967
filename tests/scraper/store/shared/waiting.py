"""For what arrives soon: looked at again and again, within a time that tells hanging from slow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from scraper.store.shared.protocols import Claim, Landed, Lease, Leases, Taken, Terms, Wait
from scraper.store.shared.together import Together

__all__ = ["SOON_S", "granted", "outcome", "refused", "until"]

SOON_S = 60.0


async def until(ready: Callable[[], Awaitable[object]]) -> None:
    """Return once this is so; TimeoutError when it is not."""
    async with asyncio.timeout(SOON_S):
        while True:
            if await ready():
                return
            await asyncio.sleep(0.01)


async def granted(leases: Leases, key: str, terms: Terms) -> Lease:
    """A lease, as soon as there is one."""
    async with asyncio.timeout(SOON_S):
        while True:
            got = await leases.take(key, terms)
            if isinstance(got, Lease):
                return got
            await asyncio.sleep(min(got.seconds, 0.02))


async def refused(leases: Leases, key: str, terms: Terms) -> Wait:
    """A refusal, as soon as what was told has arrived."""
    async with asyncio.timeout(SOON_S):
        while True:
            got = await leases.take(key, terms)
            if isinstance(got, Wait):
                return got
            leases.give_back(got)
            await asyncio.sleep(0.01)


async def outcome(server: Together, *, waited: bool) -> Claim | Landed:
    """What a server gets that comes for the page, once no other has it."""
    async with asyncio.timeout(SOON_S):
        while True:
            got = await server.claims.begin("page", waited=waited)
            if not isinstance(got, Taken):
                return got
            await asyncio.sleep(0.02)
