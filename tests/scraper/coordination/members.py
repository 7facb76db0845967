"""Clients of the shared state, and a service that answers something else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from scraper.coordination.state import RateLimit, ThrottleTerms, WorkClaim
from scraper.coordination.valkey_state import ValkeyState
from tests.scraper.coordination.waiting import SOON_S, granted, outcome
from tests.scraper.store.memory_search_cache import MemorySearchCache

SECRET = "hush-hush"
LIMIT = RateLimit("calls", burst=10, per_second=0.01)


@contextlib.asynccontextmanager
async def member(url: str) -> AsyncIterator[ValkeyState]:
    """Open a client of the shared state at a URL, after its first attempt to connect."""
    together = ValkeyState(url)
    try:
        await together.wait_connected(SOON_S)
        yield together
    finally:
        async with asyncio.timeout(SOON_S):
            await together.close()


async def does_everything(together: ValkeyState) -> None:
    """Assert that every operation of the state answers within SOON_S."""
    async with asyncio.timeout(SOON_S):
        assert not await together.limits.take(LIMIT, "fresh")
        # Earlier releases and results are sent without waiting for an answer, and may still be in flight.
        together.leases.give_back(await granted(together.leases, "host", ThrottleTerms(at_once=1)))
        claim = await outcome(together, waited=False)
        assert isinstance(claim, WorkClaim)
        together.claims.complete(claim, b"text")
        assert await together.blobs.get("nothing") is None
        together.blobs.put("something", b"text", 5)
        assert await together.cooldowns(MemorySearchCache()).get_cooldown("bing", "direct") is None


def said_of(together: ValkeyState) -> str:
    """Return the problem that the operator sees; assert that it holds no password."""
    problem = together.status().problem
    assert problem is not None and SECRET not in problem
    return problem


@contextlib.asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[int]:
    """Run a server that sends the same answer to every command."""

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                # Each command is a list, which begins with a star; several may come together.
                writer.write(answer * max(1, data.count(b"*")))
        writer.close()

    server = await asyncio.start_server(say, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
