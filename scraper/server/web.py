"""Serves the tools over HTTP: one protocol endpoint for both eras, and the probes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from scraper.server import protocol
from scraper.server.access import AccessRules, Gate, is_loopback, read_keys, rules_for
from scraper.server.calls import Calls
from scraper.server.health import OPEN_PATHS, Health
from scraper.server.household import Opening, household
from scraper.server.listen import listen
from scraper.server.revival import Revival
from scraper.server.signals import first_of, stop_signals
from scraper.server.streams import Streams
from scraper.settings import Settings

if TYPE_CHECKING:
    from scraper.app import App
    from scraper.tools.model import Tool

__all__ = ["serve"]

_LOG = logging.getLogger(__name__)

_PATH = "/mcp"
_BODY_BYTES = 4 * 1024 * 1024
_MAX_SESSIONS = 2_000
"""37 KiB each; beyond, a new client is told to wait."""
_SESSION_IDLE_S = 600.0
"""Some clients open a session for each call and never end it; one that comes back later is revived."""
_KEEP_ALIVE_S = 75
"""Longer than clients keep an idle connection, so that none sends a call on one that we are closing."""
_LINGER_S = 0.3
"""The Python SDK's client lists the tools before it hands over the first answer; it must still be able to."""
_LAST_BYTES_S = 2
"""How long connections may take to take their last bytes when the server stops."""


async def serve(settings: Settings, tools: Sequence[Tool], opening: Opening[App], *, version: str) -> None:
    """Serve until told to stop, then finish what runs.

    Raises:
        CannotStart: the port is taken, or the address would be open to everyone.
    """
    rules = _rules(settings)
    sockets = listen(settings.host, settings.port)
    with stop_signals() as stops:
        async with household(opening) as house:
            house.open()
            calls = Calls(tools, house, deadline_s=settings.tool_timeout_s)
            server = protocol.build(tools, calls, version=version, on_settled=house.open)
            async with _endpoint(server) as endpoint:
                health = Health(house, calls, queue_limit=settings.queue_limit, version=version)
                streams = Streams(_routes(endpoint, health))
                async with _listening(Gate(streams, rules), sockets) as serving:
                    _LOG.info("serving MCP at %s", _address(sockets[0]))
                    await first_of(serving, stops.asked.wait())
                    await calls.drain(settings.drain_s, stops.at_once)
                    await asyncio.sleep(_LINGER_S)
                    await streams.answered(_LAST_BYTES_S)
                    streams.stop()


def _rules(settings: Settings) -> AccessRules:
    keys = read_keys(settings.token, settings.tokens_file)
    rules = rules_for(
        settings.host,
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
        keys=keys,
        allow_unauthenticated=settings.allow_unauthenticated,
        open_paths=OPEN_PATHS,
    )
    if not keys and not is_loopback(settings.host):
        _LOG.warning("listening on %s without a token: whoever reaches it can use it", settings.host)
    return rules


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
    async with stateful.run(), stateless.run():
        yield Revival(stateful, stateless)


def _routes(endpoint: ASGIApp, health: Health) -> ASGIApp:
    return Starlette(routes=[Route(_PATH, endpoint), *health.routes()])


@contextlib.asynccontextmanager
async def _listening(app: ASGIApp, sockets: list[socket.socket]) -> AsyncIterator[asyncio.Task[None]]:
    """Serve `app` while the block runs; the task ends early only when serving fails."""
    site = _Site(app)
    serving = asyncio.create_task(site.serve(sockets))
    try:
        yield serving
    finally:
        site.should_exit = True
        await serving


class _Site(uvicorn.Server):
    """uvicorn without its signal handlers, which would cut running answers."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_LAST_BYTES_S,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to us."""
        yield


def _address(opened: socket.socket) -> str:
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}{_PATH}" if ":" in host else f"http://{host}:{port}{_PATH}"
