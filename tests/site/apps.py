"""Pages that are empty without JavaScript."""

from __future__ import annotations

import json

from aiohttp import web

from tests.site.catalogue import Page, built, fixed
from tests.site.markup import page, script_string, scripted
from tests.site.prose import paragraph_texts, paragraphs

_CHAIN = """(async () => {
  for (let i = 0; i < 12; i += 3) { put(await article('chain', i, i + 3, 250)); await pause(120); }
})();"""

_WORKER = """
const work = new Blob([`onmessage = e => postMessage(e.data.map(text => text.trim()))`]);
const worker = new Worker(URL.createObjectURL(work));
worker.onmessage = e => put(e.data);
worker.postMessage(%s);"""

_FRAMES_OF_ANIMATION = """
const texts = %s;
const step = () => { if (texts.length) { put([texts.shift()]); requestAnimationFrame(step); } };
requestAnimationFrame(step);"""

# Parts arrive out of order in hidden templates and are moved into place, as streaming frameworks do it.
_MOVED = """<div id="late">Loading the log</div><template id="parts">%s</template>
<script>setTimeout(() => {
  const late = document.getElementById('late');
  late.replaceWith(document.getElementById('parts').content.cloneNode(true));
}, 200)</script>"""


def _spa(request: web.Request) -> str:
    return page("Application", '<div id="app"></div>', '<script src="/assets/app.js" defer></script>')


async def _module(request: web.Request) -> web.Response:
    step = int(request.match_info["step"])
    texts = json.dumps(paragraph_texts("modules", 5 * step, 5 * step + 5))
    following = f"import {{ texts as more }} from './{step + 1}.js';" if step < 1 else "const more = [];"
    code = f"{following}\nexport const texts = [...{texts}, ...more];"
    return web.Response(text=code, content_type="text/javascript")


_MODULES = """<div id="app"></div><script type="module">
import { texts } from '/module/0.js';
for (const text of texts) {
  const p = document.createElement('p'); p.textContent = text; document.getElementById('app').append(p);
}</script>"""

PAGES = (
    built(
        "/spa/{number}",
        "shell, 120 kB script, one request, 60 paragraphs, 20 pictures",
        _spa,
        marks=60,
        example="/spa/1",
    ),
    fixed(
        "/slow-xhr",
        "its article takes 1.5 s",
        scripted("Slow request", "article('slow-xhr', 0, 10, 1500).then(put)"),
        marks=10,
    ),
    fixed("/chain", "four requests, each after the last", scripted("Chain", _CHAIN), marks=12),
    fixed(
        "/pushstate",
        "changes its URL before it loads",
        scripted("Push state", "history.pushState({}, '', '/pushed/here'); article('pushstate', 0, 10, 150).then(put)"),
        marks=10,
    ),
    fixed(
        "/docwrite",
        "written by document.write",
        page("Written", f"<script>document.write({script_string(paragraphs('docwrite', 0, 10))})</script>"),
        marks=10,
    ),
    fixed(
        "/worker",
        "texts come from a web worker",
        scripted("Worker", _WORKER % json.dumps(paragraph_texts("worker", 0, 10))),
        marks=10,
    ),
    fixed("/modules", "a chain of script modules", page("Modules", _MODULES), marks=10),
    Page("/module/{step}.js", "one of those modules", _module, example="/module/0.js"),
    fixed(
        "/animation",
        "one paragraph a frame of animation",
        scripted("Frames", _FRAMES_OF_ANIMATION % json.dumps(paragraph_texts("animation", 0, 10))),
        marks=10,
    ),
    fixed(
        "/moved",
        "parts wait in a template and are moved in by script",
        page("Moved", _MOVED % paragraphs("moved", 0, 10)),
        marks=10,
    ),
)
