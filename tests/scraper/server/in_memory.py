"""A client of a server over kept texts, without a wire and without a browser."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

from mcp import Client

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.limits import RateLimiter
from scraper.server.lifecycle import hold_services
from scraper.server.protocol import mcp_server as protocol
from scraper.tools import registry
from scraper.tools.model import Tool
from tests.scraper.stored_texts import KeptApp

TOOLS = registry.tools()


@contextlib.asynccontextmanager
async def talking(
    texts: KeptApp,
    era: str,
    tools: tuple[Tool, ...] = TOOLS,
    *,
    rate: RateLimiter | None = None,
    fault: Exception | None = None,
) -> AsyncIterator[Client]:
    """`fault`: what keeps the services from opening."""

    @contextlib.asynccontextmanager
    async def opening() -> AsyncIterator[Any]:
        if fault is not None:
            raise fault
        yield texts

    async with hold_services(cast(Any, opening)) as holder:
        calls = CallDispatcher(tools, holder, deadline_s=55)
        server = protocol.build(tools, calls, version="1.2.3", on_handshake=holder.open, rate=rate)
        async with Client(server, mode=era) as client:
            yield client
