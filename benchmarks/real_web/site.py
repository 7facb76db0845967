"""Serve all hosts of the benchmark in a separate process: sites by loopback address, third parties by name.

`POST /configure` sets the world: `{"third_parties": {host: {...}}, "sites": [...], "steps_per_ms": 1e6, "latency_ms":
null}`. A latency replaces those that the seed determines.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

from aiohttp import web

from benchmarks.real_web import pages
from benchmarks.real_web.world import SLOW_MS, latency_ms

ADDRESSES = tuple(f"127.0.2.{last}" for last in range(1, 241))
THIRD_PARTY_ADDRESS = "127.0.3.1"
_DEAD_S = 60.0
_REFRESH_BURN_MS = 30


class RealWebSite:
    """The state of the server."""

    def __init__(self) -> None:
        self._config: dict[str, Any] = {"third_parties": {}, "sites": [{}], "steps_per_ms": 1000, "latency_ms": None}
        self._documents = 0

    async def configure(self, request: web.Request) -> web.Response:
        """Set the world, and count documents from 0."""
        self._config.update(await request.json())
        self._documents = 0
        return web.json_response({})

    async def count(self, request: web.Request) -> web.Response:
        """Return the number of documents that were requested."""
        return web.json_response({"documents": self._documents})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer any request after its latency."""
        host = request.host.partition(":")[0]
        party = self._config["third_parties"].get(host)
        path = request.path
        if path == "/calibration":
            return _html(pages.CALIBRATION)
        if party is None and path.startswith("/page/"):
            self._documents += 1
        await self._wait(host, request.path_qs, party)
        if party is not None:
            return await self._answer_third_party(request, host, party)
        if path.startswith("/page/"):
            kind, number = path.split("/")[2:4]
            sites = self._config["sites"]
            hosts = {} if kind == "deep" else sites[int(number) % len(sites)]
            return _html(pages.make_page(kind, int(number), hosts))
        query = request.query
        if path == "/app.js":
            return _script(pages.make_app(query["kind"], int(query["number"])))
        if path == "/api/list":
            return web.json_response([query["number"]])
        if path == "/api/texts":
            texts = pages.make_texts(query["kind"], int(query["number"]), int(query["from"]), int(query["to"]))
            return web.Response(text=texts, content_type="application/json")
        if path == "/style.css":
            return web.Response(text="main { max-width: 40em }", content_type="text/css")
        return web.Response(status=204 if path == "/collect" else 404)

    async def _wait(self, host: str, path: str, party: dict[str, Any] | None) -> None:
        state = "ok" if party is None else party["state"]
        fixed = self._config["latency_ms"]
        wait_ms = latency_ms(host, path) if fixed is None else fixed
        await asyncio.sleep(_DEAD_S if state == "dead" else (SLOW_MS if state == "slow" else wait_ms) / 1000)

    async def _answer_third_party(self, request: web.Request, host: str, party: dict[str, Any]) -> web.StreamResponse:
        if request.path == "/socket":
            return await _hold_socket(request)
        if request.path == "/collect":
            return web.Response(status=204)
        steps = self._config["steps_per_ms"]
        if request.path == "/player":
            return _html(pages.PLAYER.format(burn=pages.burn(round(steps * party["burn_ms"]))))
        if request.path == "/frame":
            return _html(pages.FRAME.format(burn=pages.burn(round(steps * _REFRESH_BURN_MS))))
        tags = [tag for tag in request.query.get("tags", "").split(",") if tag]
        has_socket = party["category"] == "customer-success"
        return _script(pages.make_tag(host, round(steps * party["burn_ms"]), tags, has_socket=has_socket))


async def _hold_socket(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    while not socket.closed:
        await socket.send_str("presence")
        await asyncio.sleep(1)
    return socket


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html")


def _script(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/javascript")


async def _serve() -> None:
    site = RealWebSite()
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/configure", site.configure)
    app.router.add_get("/count", site.count)
    app.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    port = 0
    try:
        for address in (THIRD_PARTY_ADDRESS, *ADDRESSES):
            await web.TCPSite(runner, address, port, backlog=1024).start()
            port = port or runner.addresses[0][1]
        print(json.dumps({"port": port}), flush=True)
        await asyncio.to_thread(os.read, sys.stdin.fileno(), 1)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(runner.cleanup(), 5)


if __name__ == "__main__":
    asyncio.run(_serve())
