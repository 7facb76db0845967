"""Serve many hosts of different sizes and latencies, like those of real URL lists, in a separate process."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import math
import os
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from benchmarks.common.subprocess_module import run_module

HOSTS = tuple(f"h{number:03}.scale.example" for number in range(200))
KINDS = ("page", "app", "gone", "busy")
"""Static page; page that needs scripts; missing page (404); page that answers 503 to the first two requests."""
_SLOWEST_S = 0.4
_QUICKEST_S = 0.04
_STOP_LIMIT_S = 5.0
_BACKLOG = 1024
_WORDS = (
    "harbour ferry wind keeper lighthouse entry figure pilot boat crate lemon bicycle passenger morning "
    "evening report council budget bridge repair winter river market school railway station letter"
).split()


def latency_s(host: int) -> float:
    """Return the latency of a host in seconds, independent of its size."""
    position: float = (host * 37 % len(HOSTS)) / len(HOSTS)
    return _QUICKEST_S * math.pow(_SLOWEST_S / _QUICKEST_S, position)


def sizes(pages: int, hosts: int, skew: float) -> list[int]:
    """Return the pages of each host, the largest first: at least one, proportional to rank to the power of `-skew`."""
    weights = [rank**-skew for rank in range(1, hosts + 1)]
    left = pages - hosts
    ends = [round(left * part / sum(weights)) for part in itertools.accumulate(weights)]
    return [1 + end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def test_hosts(port: int) -> str:
    """Return the host mapping in the format of SEARCH_MCP_TEST_HOSTS."""
    return ",".join(f"{host}=127.0.0.1:{port}" for host in HOSTS)


@asynccontextmanager
async def scale_site() -> AsyncIterator[int]:
    """Run the site; yield its port."""
    async with run_module("benchmarks.scale_model.site") as (port, _):
        yield port


class _Site:
    def __init__(self) -> None:
        self._hits: Counter[str] = Counter()

    async def page(self, request: web.Request) -> web.Response:
        """Serve a page of any kind."""
        kind, number = request.match_info["kind"], int(request.match_info["number"])
        await asyncio.sleep(latency_s(int(request.host[1:4])))
        if kind == "gone":
            raise web.HTTPNotFound
        key = f"{request.host}{request.path}"
        self._hits[key] += 1
        if kind == "busy" and self._hits[key] <= 2:
            raise web.HTTPServiceUnavailable
        return web.Response(text=_html(number, scripted=kind == "app"), content_type="text/html")


def _html(number: int, *, scripted: bool) -> str:
    rng = random.Random(number)
    paragraphs = "".join(
        f"<p>{' '.join(rng.choices(_WORDS, k=rng.randint(20, 80)))}.</p>" for _ in range(rng.randint(4, 20))
    )
    links = "".join(f'<li><a href="/page/{number + step}">Report {number + step}</a></li>' for step in range(30))
    body = f"<article><h1>Report {number}</h1>{paragraphs}</article>"
    if scripted:
        text = json.dumps(body).replace("</", "<\\/")
        body = f"<div id=app></div><script>document.getElementById('app').innerHTML={text}</script>"
    return (
        f"<!doctype html><html lang=en><head><title>Report {number}</title></head>"
        f"<body><nav><ul>{links}</ul></nav>{body}<footer><p>Terms, imprint</p></footer></body></html>"
    )


async def _serve() -> None:
    app = web.Application()
    app.router.add_get("/{kind:page|app|gone|busy}/{number:[0-9]+}", _Site().page)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=_BACKLOG).start()
        print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
        await asyncio.to_thread(os.read, sys.stdin.fileno(), 1)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(runner.cleanup(), _STOP_LIMIT_S)


if __name__ == "__main__":
    asyncio.run(_serve())
