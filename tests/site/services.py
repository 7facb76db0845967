"""Endpoints for the pages' scripts: JSON, beacons, requests without response, sockets, event streams."""

from __future__ import annotations

import asyncio
import json

from aiohttp import web

from tests.site.catalogue import Page
from tests.site.prose import paragraph_texts

FOREVER_S = 600.0
"""Seconds, longer than any deadline. The handler is canceled when its client disconnects."""


async def _article(request: web.Request) -> web.Response:
    query = request.query
    await asyncio.sleep(float(query.get("delay_ms", 0)) / 1000)
    texts = paragraph_texts(query.get("name", "spa"), int(query.get("from", 0)), int(query.get("to", 60)))
    return web.json_response({"paragraphs": texts})


async def _hang(request: web.Request) -> web.Response:
    await asyncio.sleep(FOREVER_S)
    return web.Response(text="late")


async def _collect(request: web.Request) -> web.Response:
    await asyncio.sleep(0.05)
    return web.Response(status=204)


async def _echo_posted(request: web.Request) -> web.Response:
    return web.json_response({"method": request.method, "form": dict(await request.post())})


async def _socket(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await asyncio.sleep(0.4)
    await socket.send_json({"paragraphs": paragraph_texts(request.query["name"], 0, 10)})
    while not socket.closed:
        await asyncio.sleep(0.5)
        await socket.send_json({"tick": 1})
    return socket


async def _events(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    await stream.prepare(request)
    await asyncio.sleep(0.3)
    data = json.dumps({"paragraphs": paragraph_texts(request.query["name"], 0, 10)})
    await stream.write(f"data: {data}\n\n".encode())
    while True:
        await asyncio.sleep(0.5)
        await stream.write(b"data: {}\n\n")


PAGES = (
    Page(
        "/api/article",
        "JSON paragraphs: ?name= &from= &to= &delay_ms=",
        _article,
        example="/api/article?name=spa&from=0&to=2",
    ),
    Page("/api/hang", "an answer that never comes", _hang, methods=("GET", "POST")),
    Page("/api/collect", "takes a beacon, 204 after 50 ms", _collect, methods=("GET", "POST")),
    Page("/api/echo", "the posted form as JSON", _echo_posted, methods=("POST",)),
    Page("/api/socket", "web socket: ten paragraphs, then a tick twice a second", _socket),
    Page("/api/events", "event stream: ten paragraphs, then a tick twice a second", _events),
)
