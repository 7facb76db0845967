"""Requests that the site received: original headers, counts, and open connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

from aiohttp import web

from tests.site.catalogue import Page
from tests.site.markup import html, page

HITS = web.AppKey("hits", Counter[tuple[str, str]])
"""Number of requests by (host name, path with query)."""
OPEN = web.AppKey("open", Counter[tuple[str, str]])
"""Number of requests in progress."""


@web.middleware
async def count(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Count all requests and those in progress."""
    key = (request.host.partition(":")[0], request.path_qs)
    request.app[HITS][key] += 1
    request.app[OPEN][key] += 1
    try:
        return await handler(request)
    finally:
        request.app[OPEN][key] -= 1


def _total(counter: Counter[tuple[str, str]], request: web.Request) -> int:
    """Return the count for ?path= (with its query if given) and ?host= if given."""
    wanted, host = request.query.get("path", ""), request.query.get("host", "")
    return sum(
        number
        for (name, path), number in counter.items()
        if (path if "?" in wanted else path.partition("?")[0]) == wanted and host in {"", name}
    )


async def _hits(request: web.Request) -> web.Response:
    return web.json_response({"hits": _total(request.app[HITS], request)})


async def _open(request: web.Request) -> web.Response:
    return web.json_response({"open": _total(request.app[OPEN], request)})


async def _headers(request: web.Request) -> web.Response:
    """Return header names and values in their original order and spelling."""
    pairs = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in request.raw_headers]
    return web.json_response({"method": request.method, "headers": pairs})


async def _headers_page(request: web.Request) -> web.Response:
    lines = "".join(f"<li>{name}: {value}</li>" for name, value in request.headers.items())
    return html(page("Headers", f"<h1>Headers</h1><ul>{lines}</ul>"))


PAGES = (
    Page("/hits", "how often ?path= was asked for (&host=)", _hits, example="/hits?path=/static/1"),
    Page("/open", "how many requests for ?path= are being answered (&host=)", _open, example="/open?path=/never"),
    Page("/headers", "the request's headers as JSON, in order", _headers, methods=("GET", "POST")),
    Page("/headers-page", "the request's headers as a page", _headers_page),
)
