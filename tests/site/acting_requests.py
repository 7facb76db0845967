"""Pages whose controls send requests of all kinds, with answers after a time."""

from __future__ import annotations

import asyncio
import itertools

from aiohttp import web

from tests.site.catalogue import Page, fixed
from tests.site.markup import page

ANSWER_TIMES_MS = (200, 500, 1000, 2000, 4000)
"""Milliseconds after which the controls of `/acting/answers` are answered."""

_LOG = """<p id="log">log: nothing</p><script>
const log = (what) => { document.getElementById('log').textContent = 'log: ' + what; };
const ask = (ms, method = 'POST') =>
  fetch('/acting/answer?ms=' + ms, {method}).then((answer) => answer.text()).then(log, () => log('failed'));
</script>"""
_ANSWERS = "".join(f'<button onclick="ask({ms})">After {ms}</button>' for ms in ANSWER_TIMES_MS)

_ADDRESS = "/acting/answer?ms=700"
_KINDS = f"""<button onclick="const one = new XMLHttpRequest(); one.onload = () => log('xhr');
one.open('GET', '{_ADDRESS}'); one.send()">Xhr</button>
<button onclick="document.body.append(Object.assign(document.createElement('script'), {{
  src: '{_ADDRESS}&kind=script', onload: () => log('script'), onerror: () => log('script')}}))">Script</button>
<button onclick="new Worker('/acting/asking-worker').onmessage = () => log('worker')">Worker</button>
<form action="{_ADDRESS}" target="inside"><button>Form</button></form>
<iframe name="inside" onload="frames.inside.location.href !== 'about:blank' && log('form')"></iframe>
<button onclick="ask(300).then(() => fetch('{_ADDRESS}')).then(() => log('chain'))">Chain</button>
<button onclick="setTimeout(ask, 250, 700)">Timer</button>
<button onclick="setTimeout(() => location.href = '/acting/slow-answer', 250)">Navigation</button>
<button onclick="socket.send('over a socket')">Socket</button>
<button onclick="fetch('/acting/tell?text=over a stream', {{method: 'POST'}})">Stream</button>
<script>
const socket = new WebSocket(location.origin.replace('http', 'ws') + '/acting/echo');
socket.onmessage = (event) => log(event.data);
new EventSource('/acting/told').onmessage = (event) => log(event.data);
</script>"""
_FRAMED = '<iframe src="http://other.example/acting/answers" height="300"></iframe>'

_PUSHES = """<p id="ticked">ticks: 0</p><p id="polled">polls: 0</p><script>
let polls = 0;
new EventSource('/acting/ticks').onmessage = (event) => { ticked.textContent = 'ticks: ' + event.data; };
const socket = new WebSocket(location.origin.replace('http', 'ws') + '/acting/echo');
socket.onmessage = (event) => log(event.data);
socket.onclose = () => log('closed');
const poll = () => fetch('/acting/answer?ms=4000&kind=poll').then(() => {
  polled.textContent = 'polls: ' + ++polls;
  poll();
}, () => { polled.textContent = 'polls failed'; });
poll();
</script><button onclick="socket.send('hello')">Send</button>"""

_told: set[asyncio.Queue[str]] = set()


async def _answer(request: web.Request) -> web.Response:
    await asyncio.sleep(int(request.query["ms"]) / 1000)
    return web.Response(text=f"answered after {request.query['ms']}", content_type="text/html")


async def _slow_answer(request: web.Request) -> web.Response:
    await asyncio.sleep(0.7)
    return web.Response(text=page("Acting slow answer", "<p>navigation</p>"), content_type="text/html")


async def _ticks(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    for number in itertools.count(1):
        await stream.write(f"data: {number}\n\n".encode())
        await asyncio.sleep(0.3)
    return stream


async def _told_stream(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    texts: asyncio.Queue[str] = asyncio.Queue()
    _told.add(texts)
    try:
        while True:
            await stream.write(f"data: {await texts.get()}\n\n".encode())
    finally:
        _told.discard(texts)


async def _tell(request: web.Request) -> web.Response:
    loop = asyncio.get_running_loop()
    for texts in _told:
        loop.call_later(0.7, texts.put_nowait, request.query["text"])
    return web.Response(status=202)


async def _echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await asyncio.sleep(0.7)
        await socket.send_str(message.data)
    return socket


async def _worker(request: web.Request) -> web.Response:
    return web.Response(text=f"fetch('{_ADDRESS}').then(() => postMessage(1))", content_type="text/javascript")


PAGES = (
    Page("/acting/answer", "?ms=", _answer, example="/acting/answer?ms=1", methods=("GET", "POST")),
    Page("/acting/slow-answer", "a page that comes after 0.7 s", _slow_answer),
    Page("/acting/ticks", "an event stream", _ticks),
    Page("/acting/told", "an event stream of what others tell", _told_stream),
    Page("/acting/tell", "tell ?text= 0.7 s later", _tell, example="/acting/tell?text=x", methods=("GET", "POST")),
    Page("/acting/echo", "a web socket that repeats messages after 0.7 s", _echo),
    Page("/acting/asking-worker", "a script of a worker that sends a request", _worker),
    fixed("/acting/pushes", "an event stream, a web socket and a long poll", page("Acting pushes", _LOG + _PUSHES)),
    fixed("/acting/answers", "controls with late answers", page("Acting answers", _LOG + _ANSWERS)),
    fixed("/acting/framed-answers", "controls with late answers in a frame of another site", page("Framed", _FRAMED)),
    fixed("/acting/kinds", "controls that send requests of all kinds", page("Acting kinds", _LOG + _KINDS)),
)
