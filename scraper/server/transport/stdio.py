"""Serves the tools to the one client that started this process, over its standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from typing import Any, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from scraper.server.calls.call_limiter import CallLimiter
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.shared_limits import AppLimits
from scraper.server.context import ServerContext
from scraper.server.lifecycle.shutdown_budget import LAST_BYTES_S, last_bytes_s
from scraper.server.lifecycle.signals import first_of
from scraper.server.protocol import server as protocol
from scraper.server.transport.jsonrpc_validation import JsonRpcValidator
from scraper.server.transport.pending_responses import PendingResponses
from scraper.server.transport.stdio_reader import StdinReader

_LOG = logging.getLogger(__name__)

_LAST_BYTES_S = LAST_BYTES_S
"""How long a client that is told to stop may take to read its last answer."""


async def serve(service: ServerContext, descriptor: int) -> bool:
    """Serve until the client hangs up or the process is told to stop; whether the conversation has ended."""
    settings, house, stops = service.settings, service.house, service.stops
    limits = AppLimits(house)
    turns = CallLimiter(limit=settings.call_limit, per_minute=settings.calls_per_minute, limits=limits)
    calls = CallDispatcher(
        service.tools, house, deadline_s=settings.tool_timeout_s, turns=turns, limits=limits
    )
    build, tools = (protocol.build_pair, service.pair) if service.pair else (protocol.build, service.tools)
    server = build(tools, calls, version=service.version, on_settled=house.open)
    lines, outbox = StdinReader(descriptor), PendingResponses()
    server.middleware.append(outbox.middleware)
    talking = asyncio.create_task(_talk(server, lines, outbox))
    await first_of(talking, lines.ended.wait(), stops.asked.wait())
    begun = time.monotonic()
    await calls.drain(settings.drain_s, stops.at_once)
    left_s = last_bytes_s(time.monotonic() - begun, _LAST_BYTES_S)
    await outbox.emptied(left_s)
    lines.end()
    await _hang_up(talking, left_s)
    return talking.done()


async def _talk(server: Server[Any], lines: StdinReader, outbox: PendingResponses) -> None:
    # The SDK iterates over the lines and does nothing else with them.
    messages = JsonRpcValidator(lines, outbox.refuse)
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", messages)) as (read, write):
        try:
            await server.run(read, outbox.to(write), server.create_initialization_options())
        finally:
            # What anybody printed meanwhile goes where the SDK has led it, as long as it does.
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()


async def _hang_up(talking: asyncio.Task[None], limit_s: float) -> None:
    """Let what was handed over reach the client, then end the conversation."""
    _, left = await asyncio.wait({talking}, timeout=limit_s)
    if left:
        talking.cancel()
        await asyncio.wait({talking}, timeout=limit_s)
    if talking.done() and not talking.cancelled() and (error := talking.exception()):
        _LOG.warning("the conversation broke off: %r", error)
