"""Serves the tools over HTTP: two protocol endpoints, each for both eras, and the probes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from scraper.server import protocol
from scraper.server.access import AccessRules
from scraper.server.calls import Calls
from scraper.server.doorway import Doorway
from scraper.server.ending import last_bytes_s
from scraper.server.gate import Gate
from scraper.server.handover import Handover
from scraper.server.health import Health
from scraper.server.logs import listening_to
from scraper.server.metrics import Metrics
from scraper.server.one_piece import OnePiece
from scraper.server.people.routes import People
from scraper.server.posts import Posts
from scraper.server.revival import Revival
from scraper.server.service import Service
from scraper.server.shared_limits import HouseLimits
from scraper.server.signals import first_of
from scraper.server.streams import Streams
from scraper.server.turns import Turns

__all__ = ["serve"]

_LOG = logging.getLogger(__name__)

_PATH = "/mcp"
_PAIR_PATH = "/openai/mcp"
_BODY_BYTES = 4 * 1024 * 1024
_MAX_SESSIONS = 2_000
"""37 KiB each; beyond, a new client is told to wait."""
_SESSION_IDLE_S = 600.0
"""Some clients open a session for each call and never end it; one that comes back later is revived."""
_LINGER_S = 0.3
"""The Python SDK's client lists the tools before it hands over the first answer; it must still be able to."""
_ANSWER_S = 0.1
"""For what was heard at the last moment: it is told to go elsewhere, which takes no work."""


async def serve(service: Service, rules: AccessRules, sockets: list[socket.socket]) -> None:
    """Serve until told to stop, then finish what runs."""
    settings, house, stops = service.settings, service.house, service.stops
    limits = HouseLimits(house)
    turns = Turns(limit=settings.call_limit, per_minute=settings.calls_per_minute, limits=limits)
    calls = Calls(service.tools, house, deadline_s=settings.tool_timeout_s, turns=turns, limits=limits)
    how: Any = {"version": service.version, "on_settled": house.open}
    servers = {_PATH: protocol.build(service.tools, calls, **how)}
    if service.pair:
        servers[_PAIR_PATH] = protocol.build_pair(service.pair, calls, **how)
    health = Health(house, calls, queue_limit=settings.queue_limit, version=service.version)
    metrics = Metrics(house, calls, [tool.name for tool in (*service.tools, *service.pair)])
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(listening_to("scraper", metrics))
        endpoints = {
            path: Posts(
                Handover(await stack.enter_async_context(_endpoint(server)), calls, _BODY_BYTES), _BODY_BYTES
            )
            for path, server in servers.items()
        }
        people = People(house, calls, version=service.version, deadline_s=settings.tool_timeout_s)
        documents = service.issuer.routes(servers) if service.issuer else []
        streams = Streams(
            _routes(endpoints, [*health.routes(), metrics.route(), *people.routes(), *documents])
        )
        async with _listening(Gate(streams, rules), sockets) as (doorway, serving):
            _LOG.info("serving MCP at %s", _address(sockets[0]))
            await first_of(serving, stops.asked.wait())
            streams.close_behind()
            begun = time.monotonic()
            await calls.drain(settings.drain_s, stops.at_once)
            await _hear_out(doorway, streams, sockets, last_bytes_s(time.monotonic() - begun))


async def _hear_out(doorway: Doorway, streams: Streams, sockets: list[socket.socket], limit_s: float) -> None:
    """Answer those who are connected, and be open for a moment to those who come back for something."""
    await asyncio.sleep(_LINGER_S)
    begun = time.monotonic()
    await doorway.shut(sockets, limit_s)
    await streams.answered(max(_ANSWER_S, limit_s - (time.monotonic() - begun)))
    streams.stop()


@contextlib.asynccontextmanager
async def _endpoint(server: Server[Any]) -> AsyncIterator[ASGIApp]:
    """The protocol endpoint: stateful with server-sent events, so that progress and cancelling work."""
    # Host and Origin are checked by the gate, for every route and not only this one.
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    stateful = StreamableHTTPSessionManager(
        server,
        security_settings=checked,
        session_idle_timeout=_SESSION_IDLE_S,
        max_sessions=_MAX_SESSIONS,
        max_request_body_size=_BODY_BYTES,
    )
    stateless = StreamableHTTPSessionManager(
        server, stateless=True, security_settings=checked, max_request_body_size=_BODY_BYTES
    )
    plain = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        security_settings=checked,
        max_request_body_size=_BODY_BYTES,
    )
    async with stateful.run(), stateless.run(), plain.run():
        yield OnePiece(plain.asgi_app, Revival(stateful, stateless), _BODY_BYTES)


def _routes(endpoints: Mapping[str, ASGIApp], others: Sequence[Route]) -> ASGIApp:
    protocol_routes = [Route(path, endpoint) for path, endpoint in endpoints.items()]
    routes = Starlette(routes=[*protocol_routes, *others])

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        # At once where the path says it all: the way through Starlette is nine functions long.
        await endpoints.get(scope["path"], routes)(scope, receive, send)

    return routed


@contextlib.asynccontextmanager
async def _listening(
    app: ASGIApp, sockets: list[socket.socket]
) -> AsyncIterator[tuple[Doorway, asyncio.Task[None]]]:
    """Serve `app` while the block runs; the task ends early only when serving fails."""
    doorway = Doorway(app)
    serving = asyncio.create_task(doorway.serve(sockets))
    try:
        yield doorway, serving
    finally:
        doorway.should_exit = True
        await serving


def _address(opened: socket.socket) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}{_PATH}" if ":" in host else f"http://{host}:{port}{_PATH}"
