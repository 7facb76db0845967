"""Starts the server of a process, over HTTP or over standard input and output, and ends it in order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from scraper.server.access.rules import AccessRules, ServerStartError, is_loopback, read_keys, rules_for
from scraper.server.context import ServerContext
from scraper.server.http.sockets import listening
from scraper.server.lifecycle.app_holder import AppHolder, AppOpenError, Opening, household
from scraper.server.lifecycle.signals import stop_signals
from scraper.server.telemetry import logs
from scraper.server.transport.stdio_reader import private_stdin
from scraper.settings import Settings
from scraper.settings.optional_dependencies import install_command
from scraper.tools import registry
from scraper.tools.model import Tool

if TYPE_CHECKING:
    from scraper.app import App
    from scraper.server.access.oauth_issuer import OAuthIssuer

_LOG = logging.getLogger(__name__)

TOOLSETS = ("full", "openai")
"""`openai`: `search` and `fetch` alone, in the form that ChatGPT's connectors ask for."""

_OPEN_PATHS = frozenset({"/health", "/ready"})
"""Probes carry no token, and learn nothing about pages or callers."""


def run_http(settings: Settings, *, version: str) -> None:
    """Serve all tools over HTTP until told to stop.

    Raises:
        CannotStart: the port is taken, the address would be open to everyone, or the services do not start.
        SettingsError: the settings name a tool that does not exist.
    """
    logs.configure(settings.log_level, settings.log_format)
    tools, pair = registry.tools(settings), registry.openai_tools(settings)
    with _quick_end(), _traced(settings, version):
        asyncio.run(serve_http(settings, tools, _opening(settings), version=version, pair=pair))


def run_stdio(settings: Settings, *, version: str, toolset: str = TOOLSETS[0]) -> None:
    """Serve a toolset to the client at standard input and output until it hangs up.

    Raises:
        SettingsError: the settings name a tool that does not exist.
    """
    logs.configure(settings.log_level, settings.log_format)
    pair = registry.openai_tools(settings) if toolset == "openai" else ()
    tools = registry.tools(settings)
    with _quick_end(), _traced(settings, version):
        asyncio.run(serve_stdio(settings, tools, _opening(settings), version=version, pair=pair))


async def serve_http(
    settings: Settings,
    tools: Sequence[Tool],
    opening: Opening[App],
    *,
    version: str,
    pair: Sequence[Tool] = (),
) -> None:
    """Serve these tools over HTTP until told to stop, and `pair` alone at an endpoint of its own.

    Raises:
        CannotStart: the port is taken, the address would be open to everyone, or the services do not start.
    """
    issuer = issuer_of(settings)
    rules = access_rules(settings, issuer)
    if not rules.asks_for_token and not is_loopback(settings.host):
        _LOG.warning("listening on %s without a token: whoever reaches it can use it", settings.host)
    with listening(settings.host, settings.port) as sockets, stop_signals() as stops:
        async with household(opening) as house:
            await _begun(house)
            # In a thread: the browser starts while the protocol library is loaded, which takes half a second.
            serve = await asyncio.to_thread(_http_server)
            service = ServerContext(settings, tools, house, stops, version, pair, issuer)
            await serve(service, rules, sockets)


async def serve_stdio(
    settings: Settings,
    tools: Sequence[Tool],
    opening: Opening[App],
    *,
    version: str,
    pair: Sequence[Tool] = (),
) -> None:
    """Serve these tools, or `pair` alone, to one client; the App opens once its handshake is answered."""
    _let_clients_leave()
    with stop_signals() as stops, private_stdin() as descriptor:
        async with household(opening) as house:
            serve = _stdio_server()
            ended = await serve(ServerContext(settings, tools, house, stops, version, pair), descriptor)
    if not ended:
        # A client that has stopped reading holds the SDK's writing thread, which nothing else can end.
        os._exit(0)


def _let_clients_leave() -> None:
    """Python 3.13 calls it a fault, at the end, that a client who has left did not take the last bytes."""
    tell = sys.unraisablehook

    def told(fault: sys.UnraisableHookArgs) -> None:
        if not isinstance(fault.exc_value, BrokenPipeError):
            tell(fault)

    sys.unraisablehook = told


@contextlib.contextmanager
def _quick_end() -> Iterator[None]:
    """Let the process end without looking for garbage in all that it has loaded: 0.4 s of CPU for nothing."""
    try:
        yield
    finally:
        gc.freeze()


@contextlib.contextmanager
def _traced(settings: Settings, version: str) -> Iterator[None]:
    """Send spans while the block runs, where the operator asks for them."""
    if not settings.traces:
        yield
        return
    try:
        from scraper.server.telemetry.tracing import sent
    except ImportError:
        raise ServerStartError(
            f"SEARCH_MCP_TRACES needs OpenTelemetry. Run: {install_command('otel')}"
        ) from None
    with sent(version):
        yield


async def _begun(house: AppHolder[App]) -> None:
    """Open the App, whose browser starts in the background."""
    try:
        await house.app()
    except AppOpenError as error:
        raise ServerStartError(str(error)) from None


def issuer_of(settings: Settings) -> OAuthIssuer | None:
    """The issuer whose tokens are taken, where the settings name one.

    Raises:
        CannotStart: they name one, and not all that it takes.
    """
    if settings.issuer is None:
        return None
    from scraper.server.access.oauth_issuer import issuer_for

    return issuer_for(settings)


def access_rules(settings: Settings, issuer: OAuthIssuer | None) -> AccessRules:
    """Who may call.

    Raises:
        CannotStart: the address would be open to everyone, or a token could not be told from another.
    """
    return rules_for(
        settings.host,
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
        keys=read_keys(settings.token, settings.tokens_file),
        allow_unauthenticated=settings.allow_unauthenticated,
        open_paths=_OPEN_PATHS,
        issuer=issuer,
    )


def _opening(settings: Settings) -> Opening[App]:
    def opening() -> AbstractAsyncContextManager[App]:
        from scraper.app import App

        return App.open(settings)

    return opening


def _http_server() -> Callable[[ServerContext, AccessRules, list[socket.socket]], Awaitable[None]]:
    with _without_collecting():
        from scraper.server.http.application import serve

    return serve


def _stdio_server() -> Callable[[ServerContext, int], Awaitable[bool]]:
    with _without_collecting():
        from scraper.server.transport.stdio import serve

    return serve


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Load what stays without looking for garbage in it, which takes a seventh of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
