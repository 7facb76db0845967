"""Serve the tools over HTTP: two protocol endpoints, probes, metrics, REST interface and playground."""

import asyncio
import contextlib
import dataclasses
import logging
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from browsers.request_signing import DIRECTORY_PATH
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
from scraper.settings import Settings
from scraper.workers import sandbox

if TYPE_CHECKING:
    from scraper.services import Services


@dataclasses.dataclass(frozen=True)
class Health:
    """The two probes of a server."""

    holder: "ServicesHolder[Services]"
    calls: CallDispatcher
    queue_limit: int
    version: str

    def routes(self) -> list[Route]:
        """Return the routes of the probes."""
        return [Route("/health", self._health), Route("/ready", self._ready)]

    async def _health(self, request: Request) -> Response:
        services = self.holder.present()
        shows_versions = not is_anonymous(request.scope)
        answer: dict[str, Any] = {
            "status": "ok",
            **({"version": self.version} if shows_versions else {}),
            "draining": self.calls.draining,
            "calls": self.calls.running,
            **dict.fromkeys(("browsers", "shared", "database")),
            "documents": {"confinement_lacks": list(sandbox.find_missing_protections())},
        }
        if services is not None:
            browsers, shared, store = services.browsers.status(), services.shared.status(), services.store
            # Without errors, which contain paths; addresses and problems are only in the log.
            processes = [dataclasses.asdict(browser) for browser in browsers.browsers]
            for process in () if shows_versions else processes:
                del process["version"]
            states = {name: getattr(browsers, name) for name in ("ready", "active", "queued", "rendering", "restarts")}
            answer["browsers"] = {**states, "processes": processes}
            if shared.configured:
                answer["shared"] = {"away": shared.away, "slow": shared.slow, "servers": shared.servers}
            if store.server is not None:
                answer["database"] = {"away": store.problem is not None}
        return JSONResponse(answer)

    async def _ready(self, _request: Request) -> Response:
        services = self.holder.present()
        # The expected wait of a new visit.
        queue = {"queue_seconds": 0.0 if services is None else round(services.browsers.status().queue_s, 3)}
        reason = None
        if self.calls.draining:
            reason = "shutting down"
        elif services is None or not services.browsers.status().ready:
            reason = "no browser answers"
        elif self.calls.full or services.browsers.status().queued >= max(1, self.queue_limit):
            reason = "full"
        if reason is not None or services is None:
            answer = {"ready": False, "reason": reason, **queue}
            return JSONResponse(answer, status_code=503, headers={"Retry-After": "1"})
        # Problems that do not prevent work.
        problems = ["shared state away"] if services.shared.status().away else []
        problems += ["database away"] if services.store.problem is not None else []
        return JSONResponse({"ready": True, **queue, **({"note": ", ".join(problems)} if problems else {})})


_LOG = logging.getLogger(__name__)

_PATH = "/mcp"
_MAX_SESSIONS = 2_000
"""Sessions, of 37 KiB each. With more, new clients are served without a session."""
_SESSION_IDLE_S = 600.0
"""Seconds until an idle session is closed. Some clients open one for each call; later requests are recovered."""
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
        servers["/openai/mcp"] = protocol.build_openai(service, calls)
    health = Health(holder, calls, queue_limit=settings.queue_limit, version=service.version)
    names = [tool.name for tool in (*service.tools, *service.openai_tools)]
    metrics = Metrics(holder, calls, names, version=service.version)
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(attach_handler("scraper", metrics))
        endpoints = {
            path: JsonRpcMiddleware(await stack.enter_async_context(_session_endpoint(server)), calls)
            for path, server in servers.items()
        }
        playground = Playground(holder, calls, version=service.version, requires_token=rules.requires_token)
        routes = [*health.routes(), metrics.route(), *playground.routes(), *key_directory(settings)]
        if settings.rest:
            # Imported late, because most servers do without it.
            from scraper.server.rest import RestInterface

            rest = RestInterface(service.tools, calls, version=service.version, requires_token=rules.requires_token)
            routes += rest.routes()
        routes += service.issuer.routes(servers) if service.issuer else []
        connections = DisconnectMiddleware(_routes(endpoints, routes))
        uvicorn_server = GracefulServer(AccessMiddleware(connections, rules))
        serving = asyncio.create_task(uvicorn_server.serve(sockets))
        try:
            host, port = sockets[0].getsockname()[:2]
            _LOG.info("serving MCP at http://%s:%s%s", f"[{host}]" if ":" in host else host, port, _PATH)
            await wait_for_first(serving, stops.requested.wait())
            connections.close_after_response()
            start = time.monotonic()
            await calls.drain(settings.drain_s, stops.at_once)
            limit_s = last_bytes_s(time.monotonic() - start)
            # Answer the requests of open connections, and accept further ones for a moment.
            await asyncio.sleep(_LINGER_S)
            start = time.monotonic()
            await uvicorn_server.drain(sockets, limit_s)
            await connections.wait_until_answered(max(_MIN_ANSWER_S, limit_s - (time.monotonic() - start)))
            connections.stop()
        finally:
            uvicorn_server.should_exit = True
            await serving


def key_directory(settings: Settings) -> list[Route]:
    """Return the route of the keys with which requests are signed, if they are."""

    async def answer(_request: Request) -> Response:
        # Read anew, because a rotation changes the keys. The proof is for the host that is published.
        signer = settings.signer()
        assert signer is not None
        body, headers = signer.directory(urlsplit(signer.agent).netloc)
        return Response(body, headers=headers)

    return [Route(DIRECTORY_PATH, answer)] if settings.identity == "signed" else []


@contextlib.asynccontextmanager
async def _session_endpoint(server: Server[Any]) -> AsyncIterator[ASGIApp]:
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
    routes = Starlette(routes=[*(Route(path, endpoint) for path, endpoint in endpoints.items()), *others])

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        # Direct for protocol endpoints, because Starlette's routing calls nine functions.
        await endpoints.get(scope["path"], routes)(scope, receive, send)

    return dispatch
