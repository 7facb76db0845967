"""Pages that show data of earlier visits: cookies, storage, caches, workers."""

from __future__ import annotations

import json
from collections import Counter

from aiohttp import web

from tests.site.catalogue import Page
from tests.site.markup import html, page

VISITS = web.AppKey("visits", Counter[str])
"""Number of requests of each memory page."""

# Each kind of storage is first read and then written; the page shows FOUND-, CLEAN- or ABSENT-kind.
_LOOK = """
const report = (kind, found) => {
  const line = document.createElement('li');
  line.textContent = (found === null ? 'ABSENT-' : found ? 'FOUND-' : 'CLEAN-') + kind;
  document.getElementById('report').append(line);
};
const within = (ms, work) => Promise.race([work, new Promise((_, no) => setTimeout(no, ms, 'late'))]);
const stored = storage => {
  const found = storage.getItem('kept') !== null;
  storage.setItem('kept', '1');
  return found;
};
const database = () => new Promise((yes, no) => {
  const opening = indexedDB.open('memory', 1);
  let fresh = false;
  opening.onupgradeneeded = () => { fresh = true; opening.result.createObjectStore('kept'); };
  opening.onerror = () => no(opening.error);
  opening.onsuccess = () => { opening.result.close(); yes(!fresh); };
});
const look = {
  'cookie-script': () => { const f = document.cookie.includes('script=1');
    document.cookie = 'script=1; path=/; max-age=3600'; return f; },
  'local-storage': () => stored(localStorage),
  'session-storage': () => stored(sessionStorage),
  'window-name': () => { const f = window.name !== ''; window.name = 'kept'; return f; },
  'indexed-db': database,
  'cache-storage': async () => { if (!window.caches) return null;
    const f = await caches.has('kept'); const cache = await caches.open('kept');
    await cache.put('/kept', new Response('kept')); return f; },
  'service-worker': async () => { if (!navigator.serviceWorker) return null;
    const f = (await navigator.serviceWorker.getRegistrations()).length > 0;
    await navigator.serviceWorker.register('/memory/worker.js'); return f; },
  'http-cache': async () => {
    const answer = await fetch(`/memory/KEY/kept`); return (await answer.json()).visit < VISIT; },
};
(async () => {
  for (const [kind, ask] of Object.entries(look)) {
    try { report(kind, await within(30000, ask())); }
    catch (problem) { report(kind + '-failed-' + problem, null); }
  }
  const done = document.createElement('p');
  done.textContent = 'REPORT-DONE';
  document.getElementById('report').after(done);
})();"""


def _line(kind: str, found: bool) -> str:
    return f"<li>{'FOUND' if found else 'CLEAN'}-{kind}</li>"


async def _memory(request: web.Request) -> web.Response:
    key = request.match_info["key"]
    visits = request.app[VISITS]
    visits[key] += 1
    served = _line("cookie-header", "header" in request.cookies) + _line(
        "validator", "If-None-Match" in request.headers or "If-Modified-Since" in request.headers
    )
    script = _LOOK.replace("KEY", key).replace("VISIT", str(visits[key]))
    body = (
        f"<h1>What is remembered</h1><p>VISIT-{visits[key]}</p><ul id='report'>{served}</ul><script>{script}</script>"
    )
    response = html(page("Memory", body), headers={"ETag": f'"{key}"', "Cache-Control": "no-cache"})
    response.set_cookie("header", "1", max_age=3600)
    return response


async def _kept(request: web.Request) -> web.Response:
    """Resource with the number of its visit. A number older than the page's own came from a cache."""
    visit = request.app[VISITS][request.match_info["key"]]
    return web.json_response({"visit": visit}, headers={"Cache-Control": "public, max-age=3600"})


async def _worker(request: web.Request) -> web.Response:
    return web.Response(text="self.addEventListener('fetch', () => {});", content_type="text/javascript")


async def _set_cookie(request: web.Request) -> web.Response:
    response = html(page("Cookie set", f"<p>COOKIES-{json.dumps(dict(request.cookies), sort_keys=True)}</p>"))
    for name, value in request.query.items() or (("visited", "1"),):
        response.set_cookie(name, value, max_age=3600, path="/")
    return response


async def _show_cookies(request: web.Request) -> web.Response:
    return html(page("Cookies", f"<p>COOKIES-{json.dumps(dict(request.cookies), sort_keys=True)}</p>"))


PAGES = (
    Page("/memory/worker.js", "the service worker of those pages", _worker),
    Page("/memory/{key}", "what an earlier visit left behind: FOUND-, CLEAN-, ABSENT-", _memory, example="/memory/a"),
    Page("/memory/{key}/kept", "an answer that caches may keep", _kept, example="/memory/a/kept"),
    Page("/cookie/set", "sets the cookies of its query, shows those that came", _set_cookie, example="/cookie/set?a=1"),
    Page("/cookie/show", "shows the cookies that came", _show_cookies),
)
