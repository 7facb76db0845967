"""The server: all pages in one application, with and without TLS."""

from __future__ import annotations

import asyncio
import contextlib
import html as entities
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence

from aiohttp import web

from tests.site import (
    acting,
    acting_choices,
    acting_fields,
    acting_hostile,
    acting_late,
    acting_lists,
    acting_regions,
    acting_requests,
    acting_tools,
    agents,
    apps,
    articles,
    assets,
    block_pages,
    bodies,
    caching,
    charsets,
    colored_pages,
    consent,
    documents,
    frames,
    guides,
    hidden,
    hoards,
    lazy,
    memory,
    readiness,
    redirects,
    request_log,
    runaway_scripts,
    services,
    shadow,
    shops,
    slow,
    spoofed_content,
    third_parties,
    wire,
)
from tests.site.catalogue import Page
from tests.site.certificate import server_context
from tests.site.markup import html, page

_MODULES = (
    articles, apps, readiness, lazy, shadow, frames, guides, slow, redirects,
    block_pages, hidden, spoofed_content, runaway_scripts, hoards, bodies, wire, documents,
    charsets, memory, caching, request_log, services, shops, assets, third_parties, colored_pages, consent, acting,
    acting_choices, acting_fields, acting_hostile, acting_late, acting_lists, acting_regions, acting_requests,
    acting_tools,
    agents,
)  # fmt: skip

_BACKLOG = 1024
# Handlers end with their client, so this only limits a shutdown during a response.
_SHUTDOWN_S = 0.2


def all_pages() -> list[Page]:
    """Return every page of the site."""
    return [one for module in _MODULES for one in module.PAGES]


def application() -> web.Application:
    """Create the application of the whole site."""
    app = web.Application(middlewares=[request_log.count], client_max_size=16 * 1024 * 1024)
    app[request_log.HITS], app[request_log.OPEN] = Counter(), Counter()
    app[memory.VISITS], app[caching.SERVED] = Counter(), Counter()
    pages = all_pages()
    for one in (*pages, _index(pages), _manifest(pages)):
        for method in one.methods:
            app.router.add_route(method, one.path, one.handler)
    return app


def _index(pages: Sequence[Page]) -> Page:
    rows = "".join(
        f'<li><a href="{entities.escape(one.url)}">{entities.escape(one.path)}</a> {entities.escape(one.about)}</li>'
        for one in pages
    )
    text = page("Index", f"<h1>Every page of this site</h1><ul>{rows}</ul>")

    async def answer(request: web.Request) -> web.Response:
        return html(text)

    return Page("/", "this list", answer)


def _manifest(pages: Sequence[Page]) -> Page:
    wanted = {one.url: {"name": one.name, "marks": one.marks} for one in pages if one.marks}

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(wanted)

    return Page("/manifest.json", "marker words that a complete reading must show, by path", answer)


async def serve(port: int, tls_port: int, tls_names: Sequence[str], *, until_stdin_closes: bool) -> None:
    """Serve on loopback until SIGTERM, SIGINT or, when asked, the end of standard input.

    Prints one line of JSON with the ports when ready.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # Cancel handlers when their client disconnects, because some responses never end.
    runner = web.AppRunner(application(), access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    try:
        plain = web.TCPSite(runner, "127.0.0.1", port, backlog=_BACKLOG)
        tls = web.TCPSite(runner, "127.0.0.1", tls_port, backlog=_BACKLOG, ssl_context=server_context(tls_names))
        await plain.start()
        await tls.start()
        ports = [address[1] for address in runner.addresses]
        print(json.dumps({"port": ports[0], "tls_port": ports[1]}), flush=True)
        if until_stdin_closes:
            loop.add_reader(sys.stdin.fileno(), _stop_at_end, stop)
        await stop.wait()
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(runner.cleanup(), 5)


def _stop_at_end(stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        stop.set()
