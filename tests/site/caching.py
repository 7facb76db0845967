"""Pages with validators and lifetimes. Each shows how often it was served."""

from __future__ import annotations

from collections import Counter

from aiohttp import web

from tests.site.catalogue import Page
from tests.site.markup import html, page
from tests.site.prose import paragraphs

SERVED = web.AppKey("served", Counter[str])
"""Number of times that each page was served."""

_MODIFIED = "Mon, 06 May 2024 07:08:09 GMT"


def _served(request: web.Request, headers: dict[str, str]) -> web.Response:
    served = request.app[SERVED]
    served[request.path_qs] += 1
    body = f"<h1>SERVED-{served[request.path_qs]}</h1>" + paragraphs("caching", 0, 5)
    return html(page("Served", body), headers=headers)


async def _fresh(request: web.Request) -> web.Response:
    return _served(request, {"Cache-Control": f"public, max-age={int(request.match_info['seconds'])}"})


async def _etag(request: web.Request) -> web.Response:
    tag = f'"{request.match_info["key"]}"'
    if tag in request.headers.get("If-None-Match", ""):
        return web.Response(status=304, headers={"ETag": tag})
    return _served(request, {"ETag": tag, "Cache-Control": "no-cache"})


async def _changing(request: web.Request) -> web.Response:
    return _served(request, {"ETag": f'"{request.app[SERVED][request.path_qs]}"'})


async def _modified(request: web.Request) -> web.Response:
    if request.headers.get("If-Modified-Since") == _MODIFIED:
        return web.Response(status=304, headers={"Last-Modified": _MODIFIED})
    return _served(request, {"Last-Modified": _MODIFIED})


async def _moving(request: web.Request) -> web.Response:
    request.app[SERVED][request.path_qs] += 1
    turn = request.app[SERVED][request.path_qs]
    raise web.HTTPFound(f"/modified/{request.match_info['key']}-{turn}")


async def _behind(request: web.Request) -> web.Response:
    raise web.HTTPFound(f"/etag/{request.match_info['key']}")


async def _report(request: web.Request) -> web.Response:
    tag = f'W/"{request.match_info["key"]}"'
    if tag in request.headers.get("If-None-Match", ""):
        return web.Response(status=304, headers={"ETag": tag, "Last-Modified": _MODIFIED})
    request.app[SERVED][request.path_qs] += 1
    text = f"place,served\nhere,{request.app[SERVED][request.path_qs]}\n"
    return web.Response(text=text, content_type="text/csv", headers={"ETag": tag})


async def _no_store(request: web.Request) -> web.Response:
    return _served(request, {"Cache-Control": "no-store, private"})


PAGES = (
    Page("/fresh/{seconds}/{key}", "may be kept for so many seconds", _fresh, example="/fresh/60/a"),
    Page("/etag/{key}", "answers 304 to its own ETag", _etag, example="/etag/a"),
    Page("/changing-etag/{key}", "is another version at each request", _changing, example="/changing-etag/a"),
    Page("/modified/{key}", "answers 304 to its own date", _modified, example="/modified/a"),
    Page("/moving/{key}", "leads to another page at each request", _moving, example="/moving/a"),
    Page("/redirect-to/etag/{key}", "leads to a page with an ETag", _behind, example="/redirect-to/etag/a"),
    Page("/report/{key}", "is a table that answers 304 to its own weak ETag", _report, example="/report/a"),
    Page("/no-store/{key}", "must not be kept", _no_store, example="/no-store/a"),
)
