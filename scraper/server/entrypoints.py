"""Start the server of a process, over HTTP or stdio, and shut it down in order."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import gc
import logging
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from scraper.server import access
from scraper.server.lifecycle import ServerContext, ServicesFactory, ServicesOpenError, hold_services, stop_signals
from scraper.server.protocol.handshake import FirstMessage
from scraper.server.telemetry import logs
from scraper.settings import Settings
from scraper.settings.files import install_command
from scraper.tools import registry, search_tools
from scraper.tools.model import Tool

if TYPE_CHECKING:
    from scraper.services import Services

_LOG = logging.getLogger(__name__)

TOOLSETS = ("full", "openai")
"""Names of toolsets. `openai` has only `search` and `fetch`, in the format of ChatGPT connectors."""


def run_http(settings: Settings, *, version: str) -> None:
    """Serve all tools over HTTP until a stop signal, or raise ServerStartError or SettingsError."""
    _run(serve_http, settings, version, search_tools.openai_tools())


def run_stdio(
    settings: Settings, *, version: str, toolset: str = TOOLSETS[0], first: FirstMessage | None = None
) -> None:
    """Serve a toolset over stdio until the client disconnects; raise SettingsError for an unknown tool.

    `first` was read from standard input before.
    """
    serve = functools.partial(serve_stdio, first=first or FirstMessage())
    # A client starts the server for each of its sessions, and most of them call no tool.
    _run(serve, settings, version, search_tools.openai_tools() if toolset == "openai" else (), is_lazy=True)


def _run(serve: Callable[..., Any], settings: Settings, version: str, others: Any, *, is_lazy: bool = False) -> None:
    """Serve with the log of the settings, and send spans meanwhile if they enable them."""
    logs.configure(settings.log_level, settings.log_format)
    tools = registry.available_tools(settings)
    with contextlib.ExitStack() as stack:
        # Skip the garbage collection at exit, which takes 0.4 s of CPU.
        stack.callback(gc.freeze)
        if settings.traces:
            try:
                from scraper.server.telemetry.tracing import send_spans
            except ImportError:
                text = f"SEARCH_MCP_TRACES needs OpenTelemetry. Run: {install_command('otel')}"
                raise access.ServerStartError(text) from None
            stack.enter_context(send_spans(version))
        factory = services_factory(settings, is_lazy=is_lazy)
        asyncio.run(serve(settings, tools, factory, version=version, openai_tools=others))


async def serve_http(
    settings: Settings,
    tools: Sequence[Tool],
    factory: ServicesFactory[Services],
    *,
    version: str,
    openai_tools: Sequence[Tool] = (),
) -> None:
    """Serve `tools` over HTTP until a stop signal, and `openai_tools` at a separate endpoint."""
    # Imported late, so that help is printed without loading the HTTP server.
    from scraper.server.http.uvicorn_server import open_sockets

    issuer = access.make_resource_server(settings)
    rules = access.make_access_rules(settings, issuer)
    if not rules.requires_token and not access.is_loopback(settings.host):
        _LOG.warning("listening on %s without a token: everyone who reaches it can use it", settings.host)
    for name in rules.short_tokens:
        _LOG.warning("the token of %s has fewer than %d characters, so it may be guessed", name, access.MIN_TOKEN_CHARS)
    with open_sockets(settings.host, settings.port) as sockets, stop_signals() as stops:
        async with hold_services(factory) as holder:
            try:
                await holder.services()
            except ServicesOpenError as error:
                raise access.ServerStartError(str(error)) from None
            # In a thread, so that the browser starts while the SDK is imported, which takes half a second.
            serve = await asyncio.to_thread(_http_server)
            service = ServerContext(settings, tools, holder, stops, version, openai_tools, issuer)
            await serve(service, rules, sockets)


async def serve_stdio(
    settings: Settings,
    tools: Sequence[Tool],
    factory: ServicesFactory[Services],
    *,
    version: str,
    openai_tools: Sequence[Tool] = (),
    first: FirstMessage = FirstMessage(),  # noqa: B008 - immutable
) -> None:
    """Serve `tools`, or only `openai_tools`, to one client; open the services after its handshake."""
    report = sys.unraisablehook

    def report_others(fault: sys.UnraisableHookArgs) -> None:
        """Suppress the error that Python 3.13 prints at exit if a disconnected client did not read the last bytes."""
        if not isinstance(fault.exc_value, BrokenPipeError):
            report(fault)

    sys.unraisablehook = report_others
    with stop_signals() as stops, private_stdin() as descriptor:
        async with hold_services(factory) as holder:
            with _no_collection():
                from scraper.server.transport.stdio import serve_connection
            service = ServerContext(settings, tools, holder, stops, version, openai_tools)
            ended = await serve_connection(service, descriptor, first)
    if not ended:
        # A client that has stopped reading blocks the SDK's writer thread, which cannot be ended otherwise.
        os._exit(0)


@contextlib.contextmanager
def private_stdin() -> Iterator[int]:
    """Move standard input to a private descriptor, so that no child process can read from the client."""
    wire = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        yield wire
    finally:
        os.dup2(wire, 0)
        os.close(wire)


def services_factory(settings: Settings, *, is_lazy: bool = False) -> ServicesFactory[Services]:
    """Return a function that imports and opens the services, which takes half a second; `is_lazy` as they define it."""

    def factory() -> AbstractAsyncContextManager[Services]:
        from scraper.services import Services

        return Services.open(settings, is_lazy=is_lazy)

    return factory


def _http_server() -> Callable[[ServerContext, access.AccessRules, list[socket.socket]], Awaitable[None]]:
    with _no_collection():
        from scraper.server.application import serve_application
    return serve_application


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Import modules without garbage collection, which takes a seventh of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
