"""Pages that show their content late: by timers, styles and scripts, without or with a request that does not end."""

from __future__ import annotations

import asyncio

from aiohttp import web

from tests.site.catalogue import Page, fixed
from tests.site.markup import page

_LATE = "<h1>Free berths</h1><button>Reserve</button>"
_SET = f"document.getElementById('r').innerHTML = '{_LATE}'"


def _after(ms: int, script: str) -> str:
    return f"<script>setTimeout(() => {{ {script} }}, {ms})</script>"


LATE_PAGES = {
    "splash": f"<div id=r><p>Harbour desk</p></div>{_after(1500, _SET)}",
    "loading": f"<a href=/>Home</a><div id=r><p>Please wait…</p></div>{_after(900, _SET)}",
    "hidden": "<style>body { opacity: 0 }</style>" + _LATE + _after(900, "document.body.style.opacity = 1"),
    "animated": "<style>body { visibility: hidden; animation: a 0s .9s forwards }"
    f"@keyframes a {{ to {{ visibility: visible }} }}</style>{_LATE}",
    "written": "<p>x</p>" + _after(900, f"document.open(); document.write('{_LATE}'); document.close()"),
    "spinner": f"<div id=r class=spinner style='width:30px;height:30px'></div>{_after(1500, _SET)}",
    "steps": "<div id=r>Loading…</div>" + _after(500, "r.textContent = 'Nearly there…'") + _after(1200, _SET),
}
"""Pages by name that show a button "Reserve" late."""
_POLL = "<h1>Chat</h1><button>Send</button><script>fetch('/acting/no-answer')</script>"
_REACTIONS = """<button onclick="setTimeout(() => { log.textContent = 'Code is valid' }, 700)">Check</button>
<button onclick="log.textContent = 'Checking…'; setTimeout(() => { log.textContent = 'Code is right' }, 1200)">
Verify</button>
<button onclick="setTimeout(() => { log.textContent = 'Code is late' }, 1900)">Wait</button>
<button onclick="document.title = 'Code'">Rename</button><button onclick="className = 'on'">Star</button>
<button>Dead</button><input aria-label=Search oninput="clearTimeout(window.t);
t = setTimeout(() => { log.textContent = 'Found ' + value }, 600)">
<div id=menu><button>Account</button><a href="#o" style="display:none">Orders</a></div><p id=log></p><script>
menu.onmouseenter = () => setTimeout(() => { menu.lastElementChild.style.display = 'block' }, 500)</script>"""


async def _no_answer(_: web.Request) -> web.Response:
    await asyncio.sleep(30)
    return web.Response()


PAGES = (
    *(
        fixed(f"/acting/late-{name}", f"late content: {name}", f"<!doctype html><title>Late</title>{body}")
        for name, body in LATE_PAGES.items()
    ),
    fixed("/acting/late-poll", "a long poll from the start", f"<!doctype html>{_POLL}"),
    fixed("/acting/reactions", "controls that react after a time", page("Reactions", _REACTIONS)),
    Page("/acting/no-answer", "an answer that never comes", _no_answer),
)
