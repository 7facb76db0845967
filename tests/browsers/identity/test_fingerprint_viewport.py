"""The light tier's window as pages see it, which is painted small."""

from __future__ import annotations

import asyncio
import html
import json
import re

import pytest
from aiohttp import web

from browsers import Browsers, BrowserSettings, Mode, Request
from browsers.identity.fingerprint import LIGHT_HEIGHT, LIGHT_WIDTH, PAINT_SCALE
from tests.browsers.visits import WAITING

pytestmark = pytest.mark.browser

HOST = "window.example"
PAGE = """<!doctype html><title>Window</title><style>p {height: 300px; width: 600px; margin: 0}</style>
<body style="margin: 0"><p>one<p>two<p>three<p>four<p>five<pre id="told"></pre><pre id="seen"></pre><script>
new IntersectionObserver(entries => entries.forEach(entry => {
  if (entry.isIntersecting) document.getElementById("seen").textContent = entry.target.textContent;
})).observe(document.querySelector("p"));
const box = document.querySelectorAll("p")[1].getBoundingClientRect();
document.getElementById("told").textContent = JSON.stringify({
  ratio: devicePixelRatio, zoom: visualViewport.scale,
  inner: [innerWidth, innerHeight], outer: [outerWidth, outerHeight], box: [box.top, box.width, box.height],
  wide: matchMedia("(min-width: 1280px)").matches, plain: matchMedia("(resolution: 1dppx)").matches,
  hit: document.elementFromPoint(300, 450) === document.querySelectorAll("p")[1], history: history.length,
});
</script>"""


async def test_the_page_measures_the_whole_window() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        hosts = ((HOST, "127.0.0.1", runner.addresses[0][1]),)
        async with Browsers(BrowserSettings(test_hosts=hosts)) as browsers, asyncio.timeout(120):
            request = Request(
                f"http://{HOST}/", mode=Mode.RENDER, wait="#seen:not(:empty)", limits=WAITING, deadline_s=60
            )
            snapshot = await browsers.visit(request)
    finally:
        await runner.cleanup()
    found = re.search(r'<pre id="told">(.*?)</pre>', snapshot.html)
    assert found is not None
    observed = json.loads(html.unescape(found[1]))
    assert PAINT_SCALE < 1
    assert (observed["ratio"], observed["zoom"]) == (1, 1)
    assert observed["inner"] == observed["outer"] == [LIGHT_WIDTH, LIGHT_HEIGHT]
    assert observed["box"] == [300, 600, 300]
    assert observed["wide"] and observed["plain"] and observed["hit"]
    assert '<pre id="seen">one</pre>' in snapshot.html
    assert observed["history"] == 1
