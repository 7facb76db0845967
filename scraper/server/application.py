"""Serve the tools over HTTP: two protocol endpoints, probes, metrics, REST interface and playground."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from scraper.server.access import AccessRules
from scraper.server.calls.dispatcher import CallDispatcher, make_dispatcher
from scraper.server.http.middleware import MESSAGE_BYTES, AccessMiddleware, DisconnectMiddleware, is_anonymous
from scraper.server.http.uvicorn_server import GracefulServer
from scraper.server.lifecycle import ServerContext, ServicesHolder, last_bytes_s, wait_for_first
from scraper.server.playground.routes import Playground
from scraper.server.protocol import mcp_server as protocol
from scraper.server.telemetry.logs import attach_handler
from scraper.server.telemetry.metrics import Metrics
from scraper.server.transport.jsonrpc_middleware import JsonRpcMiddleware
from scraper.server.transport.session_recovery import JsonFastPath, SessionRecovery
from scraper.workers import sandbox

if TYPE_CHECKING:
    from scraper.services import Services


class Health:
    """The two probes of a server."""

    def __init__(
        self, holder: ServicesHolder[Services], calls: CallDispatcher, *, queue_limit: int, version: str
    ) -> None:
        """Report the state of the services in `holder` and of `calls`."""
        self._holder = holder
        self._calls = calls
        self._queue_limit = queue_limit
        self._version = version

    def routes(self) -> list[Route]:
        """Return the routes of the probes."""
        return [Route("/health", self._health), Route("/ready", self._ready)]

    async def _health(self, request: Request) -> Response:
        services = self._holder.present()
        shows_versions = not is_anonymous(request.scope)
        version = {"version": self._version} if shows_versions else {}
        return JSONResponse(
            {
                "status": "ok",
                **version,
                "draining": self._calls.draining,
                "calls": self._calls.running,
                "browsers": None if services is None else _browsers(services, shows_versions=shows_versions),
                "shared": None if services is None else _shared(services),
                "database": None if services is None else _database(services),
                "documents": {"confinement_lacks": list(sandbox.detect_capabilities().missing)},
            }
        )

    async def _ready(self, _request: Request) -> Response:
        services = self._holder.present()
        # The expected wait of a new visit.
        queue = {"queue_seconds": 0.0 if services is None else round(services.browsers.status().queue_s, 3)}
        reason = self._not_ready_reason(services)
        if reason is not None or services is None:
            answer = {"ready": False, "reason": reason, **queue}
            return JSONResponse(answer, status_code=503, headers={"Retry-After": "1"})
        # Problems that do not prevent work.
        problems = ["shared state away"] if services.shared.status().away else []
        problems += ["database away"] if services.store.problem is not None else []
        return JSONResponse({"ready": True, **queue, **({"note": ", ".join(problems)} if problems else {})})

    def _not_ready_reason(self, services: Services | None) -> str | None:
        """Return why the server should get no calls now, or None."""
        if self._calls.draining:
            return "shutting down"
        if services is None or not services.browsers.status().ready:
            return "no browser answers"
        if self._calls.full or services.browsers.status().queued >= max(1, self._queue_limit):
            return "full"
        return None


def _shared(services: Services) -> dict[str, Any] | None:
    """Return the status of the shared state, or None without one. Its address is only in the log."""
    status = services.shared.status()
    return {"away": status.away, "slow": status.slow, "servers": status.servers} if status.configured else None


def _database(services: Services) -> dict[str, Any] | None:
    """Return the status of the shared database, or None without one. The problem is only in the log."""
    return None if services.store.server is None else {"away": services.store.problem is not None}


def _browsers(services: Services, *, shows_versions: bool) -> dict[str, Any]:
    """Return the browsers' state without errors, which contain paths."""
    status = services.browsers.status()
    processes = [dataclasses.asdict(browser) for browser in status.browsers]
    if not shows_versions:
        for process in processes:
            del process["version"]
    return {
        "ready": status.ready,
        "active": status.active,
        "queued": status.queued,
        "rendering": status.rendering,
        "restarts": status.restarts,
        "processes": processes,
    }


_LOG = logging.getLogger(__name__)

_PATH = "/mcp"
_OPENAI_PATH = "/openai/mcp"
_MAX_SESSIONS = 2_000
"""Sessions, of 37 KiB each. With more, new clients are served without a session."""
_SESSION_IDLE_S = 600.0
"""Seconds until an idle session is closed. Some clients open a session for each call and never end it; later requests
are recovered."""
_LINGER_S = 0.3
"""Seconds to accept requests after the last call: the Python SDK lists the tools before it returns the first answer."""
_MIN_ANSWER_S = 0.1
"""Seconds to reject requests that arrive at the last moment, which takes no work."""


async def serve_application(service: ServerContext, rules: AccessRules, sockets: list[socket.socket]) -> None:
    """Serve until a stop signal, then finish the running calls."""
    settings, holder, stops = service.settings, service.holder, service.stops
    calls = make_dispatcher(service)
    servers = {_PATH: protocol.build_for(service, calls)}
    if service.openai_tools:
        servers[_OPENAI_PATH] = protocol.build_openai(service, calls)
    health = Health(holder, calls, queue_limit=settings.queue_limit, version=service.version)
    names = [tool.name for tool in (*service.tools, *service.openai_tools)]
    metrics = Metrics(holder, calls, names, version=service.version)
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(attach_handler("scraper", metrics))
        endpoints = {
            path: JsonRpcMiddleware(await stack.enter_async_context(_session_endpoint(server)), calls, MESSAGE_BYTES)
            for path, server in servers.items()
        }
        playground = Playground(holder, calls, version=service.version, deadline_s=settings.tool_timeout_s)
        rest = _rest_routes(service, calls, requires_token=rules.requires_token)
        metadata = service.issuer.routes(servers) if service.issuer else []
        connections = DisconnectMiddleware(
            _routes(endpoints, [*health.routes(), metrics.route(), *playground.routes(), *rest, *metadata])
        )
        async with _serve_http(AccessMiddleware(connections, rules), sockets) as (uvicorn_server, serving):
            _LOG.info("serving MCP at %s", _address(sockets[0]))
            await wait_for_first(serving, stops.requested.wait())
            connections.close_after_response()
            start = time.monotonic()
            await calls.drain(settings.drain_s, stops.at_once)
            await _finish_connections(uvicorn_server, connections, sockets, last_bytes_s(time.monotonic() - start))


def _rest_routes(service: ServerContext, calls: CallDispatcher, *, requires_token: bool) -> list[Route]:
    """Return the routes of the REST interface, or none if the settings disable it."""
    if not service.settings.rest:
        return []
    # Imported late, because most servers do without it.
    from scraper.server.rest import RestInterface

    return RestInterface(service.tools, calls, version=service.version, requires_token=requires_token).routes()


async def _finish_connections(
    server: GracefulServer, connections: DisconnectMiddleware, sockets: list[socket.socket], limit_s: float
) -> None:
    """Answer the requests of open connections, and accept further requests for a moment."""
    await asyncio.sleep(_LINGER_S)
    start = time.monotonic()
    await server.drain(sockets, limit_s)
    await connections.wait_until_answered(max(_MIN_ANSWER_S, limit_s - (time.monotonic() - start)))
    connections.stop()


@contextlib.asynccontextmanager
async def _session_endpoint(server: Server[Any]) -> AsyncIterator[ASGIApp]:
    """Yield the protocol endpoint, with sessions and event streams for progress and cancellation."""
    # AccessMiddleware checks Host and Origin for every route.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    options: Any = {"security_settings": unchecked, "max_request_body_size": MESSAGE_BYTES}
    stateful = StreamableHTTPSessionManager(
        server, session_idle_timeout=_SESSION_IDLE_S, max_sessions=_MAX_SESSIONS, **options
    )
    stateless = StreamableHTTPSessionManager(server, stateless=True, **options)
    plain = StreamableHTTPSessionManager(server, json_response=True, stateless=True, **options)
    async with stateful.run(), stateless.run(), plain.run():
        yield JsonFastPath(plain.asgi_app, SessionRecovery(stateful, stateless), MESSAGE_BYTES)


def _routes(endpoints: Mapping[str, ASGIApp], others: Sequence[Route]) -> ASGIApp:
    protocol_routes = [Route(path, endpoint) for path, endpoint in endpoints.items()]
    routes = Starlette(routes=[*protocol_routes, *others])

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        # Direct for protocol endpoints, because Starlette's routing calls nine functions.
        await endpoints.get(scope["path"], routes)(scope, receive, send)

    return dispatch


@contextlib.asynccontextmanager
async def _serve_http(
    app: ASGIApp, sockets: list[socket.socket]
) -> AsyncIterator[tuple[GracefulServer, asyncio.Task[None]]]:
    """Serve `app` while the block runs; the task ends early only if serving fails."""
    server = GracefulServer(app)
    serving = asyncio.create_task(server.serve(sockets))
    try:
        yield server, serving
    finally:
        server.should_exit = True
        await serving


def _address(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}{_PATH}" if ":" in host else f"http://{host}:{port}{_PATH}"
