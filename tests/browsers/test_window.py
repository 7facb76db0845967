"""What pages are told of the light tier's window, of which hardly anything is painted."""

from __future__ import annotations

import asyncio
import html
import json
import re

import pytest
from aiohttp import web

from browsers import Browsers, BrowserSettings, Mode, Request
from browsers.window import LIGHT_HEIGHT, LIGHT_WIDTH, SCALE

pytestmark = pytest.mark.browser

HOST = "window.example"
PAGE = """<!doctype html><title>Window</title><style>p {height: 300px; width: 600px; margin: 0}</style>
<body style="margin: 0"><p>one<p>two<p>three<p>four<p>five<pre id="told"></pre><script>
const seen = [];
new IntersectionObserver(entries => entries.forEach(e => e.isIntersecting && seen.push(e.target.textContent)))
  .observe(document.querySelector("p"));
const tell = triesLeft => {
  if (!seen.length && triesLeft) return setTimeout(tell, 20, triesLeft - 1);
  const box = document.querySelectorAll("p")[1].getBoundingClientRect();
  document.getElementById("told").textContent = JSON.stringify({
    ratio: devicePixelRatio, zoom: visualViewport.scale, seen: seen.length,
    inner: [innerWidth, innerHeight], outer: [outerWidth, outerHeight], box: [box.top, box.width, box.height],
    wide: matchMedia("(min-width: 1280px)").matches, plain: matchMedia("(resolution: 1dppx)").matches,
    hit: document.elementFromPoint(300, 450) === document.querySelectorAll("p")[1], history: history.length,
  });
};
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(tell, 20, 100)));
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
        async with Browsers(BrowserSettings(test_hosts=hosts)) as browsers, asyncio.timeout(60):
            snapshot = await browsers.visit(Request(f"http://{HOST}/", mode=Mode.RENDER))
    finally:
        await runner.cleanup()
    found = re.search(r'<pre id="told">(.*?)</pre>', snapshot.html)
    assert found is not None
    told = json.loads(html.unescape(found[1]))
    assert SCALE < 1
    assert (told["ratio"], told["zoom"]) == (1, 1)
    assert told["inner"] == told["outer"] == [LIGHT_WIDTH, LIGHT_HEIGHT]
    assert told["box"] == [300, 600, 300]
    assert told["wide"] and told["plain"] and told["hit"]
    assert told["seen"] == 1
    assert told["history"] == 1
