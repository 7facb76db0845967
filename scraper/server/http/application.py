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

from scraper.server.access.rules import AccessRules
from scraper.server.calls.call_limiter import CallLimiter
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.shared_limits import AppLimits
from scraper.server.context import ServerContext
from scraper.server.http.auth_middleware import AuthMiddleware
from scraper.server.http.disconnect_middleware import DisconnectMiddleware
from scraper.server.http.health import Health
from scraper.server.http.uvicorn_server import GracefulServer
from scraper.server.lifecycle.shutdown_budget import last_bytes_s
from scraper.server.lifecycle.signals import first_of
from scraper.server.playground.routes import Playground
from scraper.server.protocol import server as protocol
from scraper.server.telemetry.logs import listening_to
from scraper.server.telemetry.metrics import Metrics
from scraper.server.transport.json_fast_path import JsonFastPath
from scraper.server.transport.jsonrpc_batches import JsonRpcBatches
from scraper.server.transport.session_recovery import SessionRecovery
from scraper.server.transport.shutdown_middleware import ShutdownMiddleware

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


async def serve(service: ServerContext, rules: AccessRules, sockets: list[socket.socket]) -> None:
    """Serve until told to stop, then finish what runs."""
    settings, house, stops = service.settings, service.house, service.stops
    limits = AppLimits(house)
    turns = CallLimiter(limit=settings.call_limit, per_minute=settings.calls_per_minute, limits=limits)
    calls = CallDispatcher(
        service.tools, house, deadline_s=settings.tool_timeout_s, turns=turns, limits=limits
    )
    how: Any = {"version": service.version, "on_settled": house.open}
    servers = {_PATH: protocol.build(service.tools, calls, **how)}
    if service.pair:
        servers[_PAIR_PATH] = protocol.build_pair(service.pair, calls, **how)
    health = Health(house, calls, queue_limit=settings.queue_limit, version=service.version)
    metrics = Metrics(house, calls, [tool.name for tool in (*service.tools, *service.pair)])
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(listening_to("scraper", metrics))
        endpoints = {
            path: JsonRpcBatches(
                ShutdownMiddleware(await stack.enter_async_context(_endpoint(server)), calls, _BODY_BYTES),
                _BODY_BYTES,
            )
            for path, server in servers.items()
        }
        people = Playground(house, calls, version=service.version, deadline_s=settings.tool_timeout_s)
        documents = service.issuer.routes(servers) if service.issuer else []
        streams = DisconnectMiddleware(
            _routes(endpoints, [*health.routes(), metrics.route(), *people.routes(), *documents])
        )
        async with _listening(AuthMiddleware(streams, rules), sockets) as (doorway, serving):
            _LOG.info("serving MCP at %s", _address(sockets[0]))
            await first_of(serving, stops.asked.wait())
            streams.close_behind()
            begun = time.monotonic()
            await calls.drain(settings.drain_s, stops.at_once)
            await _hear_out(doorway, streams, sockets, last_bytes_s(time.monotonic() - begun))


async def _hear_out(
    doorway: GracefulServer, streams: DisconnectMiddleware, sockets: list[socket.socket], limit_s: float
) -> None:
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
        yield JsonFastPath(plain.asgi_app, SessionRecovery(stateful, stateless), _BODY_BYTES)


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
) -> AsyncIterator[tuple[GracefulServer, asyncio.Task[None]]]:
    """Serve `app` while the block runs; the task ends early only when serving fails."""
    doorway = GracefulServer(app)
    serving = asyncio.create_task(doorway.serve(sockets))
    try:
        yield doorway, serving
    finally:
        doorway.should_exit = True
        await serving


def _address(opened: socket.socket) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}{_PATH}" if ":" in host else f"http://{host}:{port}{_PATH}"
