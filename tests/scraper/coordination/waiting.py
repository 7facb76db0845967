"""Helpers that poll a shared state; their time limit distinguishes a hang from a slow machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from scraper.coordination.state import Lease, Leases, RetryLater, ThrottleTerms, WorkClaim, WorkCompleted
from scraper.coordination.valkey_state import ValkeyState

SOON_S = 60.0


async def until(ready: Callable[[], Awaitable[object]]) -> None:
    """Wait until a condition holds; raise TimeoutError after SOON_S."""
    async with asyncio.timeout(SOON_S):
        while True:
            if await ready():
                return
            await asyncio.sleep(0.01)


async def granted(leases: Leases, key: str, terms: ThrottleTerms) -> Lease:
    """Wait for a lease."""
    async with asyncio.timeout(SOON_S):
        while True:
            got = await leases.take(key, terms)
            if isinstance(got, Lease):
                return got
            await asyncio.sleep(min(got.seconds, 0.02))


async def refused(leases: Leases, key: str, terms: ThrottleTerms) -> RetryLater:
    """Wait for a refusal: the message of another server takes time to arrive."""
    async with asyncio.timeout(SOON_S):
        while True:
            got = await leases.take(key, terms)
            if isinstance(got, RetryLater):
                return got
            leases.give_back(got)
            await asyncio.sleep(0.01)


async def outcome(server: ValkeyState, *, waited: bool) -> WorkClaim | WorkCompleted:
    """Claim the page for a server, as soon as no other server holds it."""
    async with asyncio.timeout(SOON_S):
        while True:
            got = await server.claims.begin("page", waited=waited)
            if got is not None:
                return got
            await asyncio.sleep(0.02)
