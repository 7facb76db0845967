"""Pages that are never idle, or that are idle for a while before more content comes."""

from __future__ import annotations

import json

from tests.site.catalogue import fixed
from tests.site.markup import page, scripted
from tests.site.prose import mark, paragraph_texts, paragraphs

_SPINNING = """<h1>Log book</h1><div class="spinner" role="progressbar" aria-busy="true">Loading…</div>
<div id="app"></div>"""
_SKELETON = "<h1>Cards</h1>" + '<div class="card skeleton">&nbsp;</div>' * 8 + '<div id="app"></div>'

_TIMER = """setTimeout(async () => {
  const texts = await article('timer', 0, 10, 50);
  document.querySelector('.spinner').remove();
  put(texts);
}, 900);"""

_LATE = """setTimeout(() => {
  const texts = [];
  for (let i = 0; i < 10; i++) texts.push(`Made here without the network, number ${i}: %s${i}`);
  document.querySelector('.spinner').remove();
  put(texts);
}, 1200);"""

_CARDS = """article('skeleton', 0, 10, 1000).then(texts => {
  document.querySelectorAll('.skeleton').forEach(card => card.remove());
  put(texts);
});"""

_BEACONS = """article('beacon', 0, 10, 200).then(put);
for (let i = 0; i < 3; i++) new Image().src = '/api/hang?analytics=' + i;
setInterval(() => navigator.sendBeacon('/api/collect', 'seen'), 400);"""

_SOCKET = """const scheme = location.protocol === 'https:' ? 'wss://' : 'ws://';
const socket = new WebSocket(scheme + location.host + '/api/socket?name=socket');
socket.onmessage = e => { const data = JSON.parse(e.data); if (data.paragraphs) put(data.paragraphs); };"""

_EVENTS = """const events = new EventSource('/api/events?name=events');
events.onmessage = e => { const data = JSON.parse(e.data); if (data.paragraphs) put(data.paragraphs); };"""

_CLOCK = """article('clock', 0, 10, 300).then(put);
setInterval(() => { document.getElementById('time').textContent = Date.now(); }, 50);"""

_SLIDES = """article('carousel', 0, 10, 300).then(put);
let slide = 0;
setInterval(() => { document.getElementById('slide').textContent = `Offer number ${slide++}`; }, 200);"""

_WORKER = """article('workshop', 0, 5, 50).then(put);
const code = "onmessage = e => setTimeout(() => postMessage(e.data), 180)";
const worker = new Worker(URL.createObjectURL(new Blob([code])));
worker.onmessage = e => put(e.data);
worker.postMessage(%s);"""

_STEPS = """(async () => {
  for (let part = 0; part < 4; part++) {
    put(await article('steps', 4 * part, 4 * part + 4, 40));
    await pause(200);
  }
})();"""

_STARVED = """article('starved', 0, 6, 40).then(texts => {
  put(texts);
  setTimeout(() => article('starved', 6, 12, 40).then(put), 220);
  setTimeout(() => { const end = performance.now() + 400; while (performance.now() < end); }, 150);
});"""

_PATIENT = """(async () => {
  put(await article('patient', 0, 6, 40));
  await pause(120);
  const answer = await fetch('/api/article?name=patient&from=6&to=12&delay_ms=500',
    {signal: AbortSignal.timeout(3000)});
  put((await answer.json()).paragraphs);
})();"""

_SESSION = """setTimeout(() => put(texts), 700);
setTimeout(() => { document.querySelector('#app').textContent = 'Your time is up.'; }, 30000);
const texts = %s;"""

_SCROLLED = """article('pauses', 0, 30, 40).then(put);
let waiting = 0;
addEventListener('scroll', () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => article('pauses', 30, 40, 60).then(put), 100);
}, {once: true});"""

_HYDRATED = """<script>
setTimeout(() => document.querySelectorAll('p').forEach(p => { p.dataset.live = '1'; }), 150);
setInterval(() => fetch('/api/collect'), 1000);</script>"""

_AHEAD = """<link rel="prefetch" href="/ahead/link-prefetch">
<link rel="prerender" href="/ahead/link-prerender">
<link rel="preload" as="fetch" href="/ahead/preload"><link rel="modulepreload" href="/ahead/modulepreload">
<script type="speculationrules">{
"prefetch": [{"source": "list", "urls": ["/ahead/rules-prefetch"], "eagerness": "immediate"}],
"prerender": [{"source": "list", "urls": ["/ahead/rules-prerender"], "eagerness": "immediate"}]
}</script>"""

PAGES = (
    fixed(
        "/poll",
        "asks for news three times a second",
        scripted(
            "Polling",
            "article('poll', 0, 10, 200).then(put);setInterval(() => fetch('/api/collect?at=' + Math.random()), 300)",
        ),
        marks=10,
    ),
    fixed(
        "/longpoll",
        "keeps one request open for ever",
        scripted("Long poll", "fetch('/api/hang'); article('longpoll', 0, 10, 300).then(put)"),
        marks=10,
    ),
    fixed("/beacon", "analytics that never answer, and beacons", scripted("Beacons", _BEACONS), marks=10),
    fixed("/socket", "its article comes over a web socket", scripted("Socket", _SOCKET), marks=10),
    fixed("/events", "its article comes as server-sent events", scripted("Events", _EVENTS), marks=10),
    fixed("/timer", "asks for its article after 0.9 s of nothing", scripted("Timer", _TIMER, _SPINNING), marks=10),
    fixed(
        "/spinner",
        "shows a spinner for 1.2 s, then local text",
        scripted("Spinner", _LATE % mark("spinner", 0)[:-1], _SPINNING),
        marks=10,
    ),
    fixed("/skeleton", "grey cards for a second", scripted("Skeleton", _CARDS, _SKELETON), marks=10),
    fixed(
        "/clock",
        "a clock of 20 ticks a second",
        scripted("Clock", _CLOCK, '<div id="time"></div><div id="app"></div>'),
        marks=10,
    ),
    fixed(
        "/carousel",
        "five new slides a second",
        scripted("Carousel", _SLIDES, '<div id="slide"></div><div id="app"></div>'),
        marks=10,
    ),
    fixed(
        "/workshop",
        "half of its texts come late from a worker",
        scripted("Workshop", _WORKER % json.dumps(paragraph_texts("workshop", 5, 10))),
        marks=10,
    ),
    fixed(
        "/ahead",
        "asks the browser to load what may come next",
        page("Ahead", paragraphs("ahead", 0, 10), _AHEAD),
        marks=10,
    ),
    fixed("/steps", "rests between one request and the next", scripted("Steps", _STEPS), marks=16),
    fixed("/starved", "is busy when its rest is due", scripted("Starved", _STARVED), marks=12),
    fixed("/patient", "gives its second request three seconds", scripted("Patient", _PATIENT), marks=12),
    fixed(
        "/session",
        "takes its texts away after half a minute",
        scripted("Session", _SESSION % json.dumps(paragraph_texts("session", 0, 10))),
        marks=10,
    ),
    fixed("/pauses", "loads more when scrolling has ended", scripted("Pauses", _SCROLLED), marks=40),
    fixed(
        "/hydrate",
        "served whole, then touched by scripts",
        page("Hydrated", paragraphs("hydrate", 0, 10) + _HYDRATED),
        marks=10,
    ),
)
