"""Redirects by status, header, markup and script, finite and endless."""

from __future__ import annotations

import asyncio
import json

from aiohttp import web

from tests.site.catalogue import Page, built, fixed
from tests.site.hosts import other_origin
from tests.site.markup import html, page
from tests.site.prose import paragraphs


def _to(location: str, status: int = 302) -> web.Response:
    # Set the header directly: the framework would normalize the URLs that the tests need.
    return web.Response(status=status, headers={"Location": location})


async def _chain(request: web.Request) -> web.Response:
    left = int(request.match_info["hops"])
    return _to("/target?name=redirects" if left <= 1 else f"/redirects/{left - 1}")


async def _anywhere(request: web.Request) -> web.Response:
    await asyncio.sleep(float(request.query.get("delay_ms", 0)) / 1000)
    return _to(request.query["to"], int(request.query.get("status", 302)))


async def _loop(request: web.Request) -> web.Response:
    return _to("/redirect-loop")


async def _ping_pong(request: web.Request) -> web.Response:
    return _to(f"{other_origin(request)}/redirect-ping-pong")


async def _growing(request: web.Request) -> web.Response:
    return _to(f"/redirect-growing?n={int(request.query.get('n', 0)) + 1}")


async def _other_host(request: web.Request) -> web.Response:
    return _to(f"{other_origin(request)}/target?name=redirect-host", 301)


async def _loopback(request: web.Request) -> web.Response:
    transport = request.transport
    assert transport is not None
    port = transport.get_extra_info("sockname")[1]
    return _to(f"http://127.0.0.1:{port}/target?name=redirect-loopback")


async def _without_location(request: web.Request) -> web.Response:
    return web.Response(status=302, text="moved, but nobody says where")


async def _refresh_header(request: web.Request) -> web.Response:
    return html("<p>One moment</p>", headers={"Refresh": "0;url=/target?name=refresh-header"})


def _target(request: web.Request) -> str:
    return page("Target", "<h1>Arrived</h1>" + paragraphs(request.query["name"], 0, 10))


def _refreshing(url: str, text: str) -> str:
    return f'<html><head><meta http-equiv="refresh" content="0;url={url}"></head><body>{text}</body></html>'


def _sends_to(path: str, about: str, location: str) -> Page:
    async def answer(request: web.Request) -> web.Response:
        return _to(location)

    return Page(path, about, answer)


PAGES = (
    built("/target", "where the redirects lead", _target, example="/target?name=target"),
    Page("/redirects/{hops}", "a chain of so many redirects", _chain, marks=10, example="/redirects/4"),
    Page("/redirect-host", "301 to another host", _other_host, marks=10),
    Page(
        "/redirect",
        "anywhere: ?to= &status= &delay_ms=",
        _anywhere,
        example="/redirect?to=/static/1",
        methods=("GET", "POST"),
    ),
    Page("/redirect-loop", "to itself", _loop),
    Page("/redirect-ping-pong", "to the same page of another host, and back", _ping_pong),
    Page("/redirect-growing", "to an ever new address", _growing),
    Page("/redirect-loopback", "to this server by its loopback address", _loopback),
    Page("/redirect-nowhere", "302 without a Location", _without_location),
    _sends_to("/redirect-private", "to a private network", "http://10.0.0.1/"),
    _sends_to("/redirect-metadata", "to a cloud's metadata service", "http://169.254.169.254/latest/meta-data/"),
    _sends_to("/redirect-file", "to a local file", "file:///etc/passwd"),
    _sends_to("/redirect-data", "to a data: address", "data:text/html,<p>REDIRECTED-DATA</p>"),
    _sends_to("/redirect-javascript", "to a javascript: address", "javascript:document.write('REDIRECTED-SCRIPT')"),
    Page("/refresh-header", "sent on by a Refresh header", _refresh_header, marks=10),
    fixed(
        "/meta-refresh",
        "sent on by markup, at once",
        _refreshing("/target?name=meta-refresh", "You are being sent on."),
        marks=10,
    ),
    fixed(
        "/meta-loop", "sent to itself by markup", _refreshing("/meta-loop", "<p>MARK-meta-loop-0 again and again</p>")
    ),
    fixed(
        "/script-redirect",
        "sent on by script after 0.3 s",
        "<html><body>Please wait<script>"
        "setTimeout(() => location.replace('/target?name=script-redirect'), 300)</script></body></html>",
        marks=10,
    ),
    built(
        "/script-to",
        "sent on by script to ?to=",
        lambda request: f"<p>Moving</p><script>location.replace({json.dumps(request.query['to'])})</script>",
        example="/script-to?to=/static/1",
    ),
    built(
        "/refresh-file",
        "markup that leads to a local file",
        lambda request: f'<meta http-equiv="refresh" content="0;url=file:///etc/passwd"><p>{"Stays here. " * 30}</p>',
    ),
)
