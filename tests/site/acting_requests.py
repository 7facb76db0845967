"""Pages whose controls send requests, with answers after a time."""

from __future__ import annotations

import asyncio

from aiohttp import web

from tests.site.catalogue import Page, fixed
from tests.site.markup import page

_ASK = """<p id="log">log: nothing</p><script>
const log = (what) => { document.getElementById('log').textContent = 'log: ' + what; };
const ask = (ms, method = 'POST') =>
  fetch('/acting/answer?ms=' + ms, {method}).then((answer) => answer.text()).then(log, () => log('failed'));
</script>"""
_ANSWERS = "".join(f'<button onclick="ask({ms})">After {ms}</button>' for ms in (200, 500, 1000, 2000, 4000))


async def _answer(request: web.Request) -> web.Response:
    await asyncio.sleep(int(request.query["ms"]) / 1000)
    return web.Response(text=f"answered after {request.query['ms']}")


PAGES = (
    Page(
        "/acting/answer",
        "an answer after ?ms= milliseconds",
        _answer,
        example="/acting/answer?ms=1",
        methods=("GET", "POST"),
    ),
    fixed("/acting/answers", "controls with late answers", page("Acting answers", _ASK + _ANSWERS)),
)
