"""Pages of one host in one batch share a process and can read nothing of each other."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from aiohttp import web

from browsers import Browsers, BrowserSettings, Mode, Request, Snapshot
from browsers.errors import BrowsersError
from browsers.navigation.readiness_rules import PagePatterns, PageSignature, PatternRecord
from browsers.pool.browser_handle import BatchKey, batch_key
from tests.browsers.visits import UNANSWERED, WAITING, await_answers, marks, text_of, visit
from tests.growth import full_size
from tests.site.certificate import server_context
from tests.site.running import Site
from tests.site.server import all_pages

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("unhurried")]

HOST, THIRD = "hostile.example", "third.example"
GO_ON = ("/chain", "/patient", "/pauses", "/scroll-event", "/starved", "/steps", "/timer")
"""Pages whose later parts come after a pause or on scrolling."""
FOUND = re.compile(r"FOUND-[\w-]+")
TEXT = "It has so much text that nobody has to run its clock ahead to see whether there will be more. " * 5
LEAVE = r"""
const keep = async (where) => {
  try { where.localStorage.setItem("kept", "1"); } catch (e) {}
  try { where.sessionStorage.setItem("kept", "1"); } catch (e) {}
  document.cookie = "kept=1; path=/; max-age=3600; secure; samesite=none";
  document.cookie = "parted=1; path=/; max-age=3600; secure; samesite=none; partitioned";
  await new Promise(done => { const r = indexedDB.open("kept");
    r.onupgradeneeded = () => r.result.createObjectStore("kept"); r.onsuccess = r.onerror = done; });
  try { await (await caches.open("kept")).put("/kept", new Response("kept")); } catch (e) {}
  try { await (await navigator.storage.getDirectory()).getFileHandle("kept", {create: true}); } catch (e) {}
};
const look = async () => {
  const found = [], see = (kind, there) => { if (there) found.push("FOUND-" + kind); };
  try { see("local", localStorage.length); see("late-local", localStorage.getItem("late")); } catch (e) {}
  try { see("session", sessionStorage.length); } catch (e) {}
  see("cookie", document.cookie);
  see("name", self.name);
  see("history", history.length > 1 || navigation.entries().length > 1);
  see("opener", self.opener);
  see("database", (await indexedDB.databases()).length);
  try { see("cache", (await caches.keys()).length); } catch (e) {}
  try { for await (const _ of (await navigator.storage.getDirectory()).keys()) see("file", 1); } catch (e) {}
  try { see("worker", (await navigator.serviceWorker.getRegistrations()).length); } catch (e) {}
  try { see("locks", (await navigator.locks.query()).held.length); } catch (e) {}
  return found;
};
"""
FRAME = f"""<!doctype html><body><script>{LEAVE}
(async () => {{ const found = await look(); await keep(self);
  parent.postMessage(found.map(kind => kind + "-in-frame"), "*"); }})();
</script>"""
PAGE = f"""<!doctype html><title>Hostile</title><body><h1>A page of a batch</h1>
<p>{TEXT}</p><pre id="report"></pre>
<script src="/cached.js"></script><script>{LEAVE}
const heard = [], channel = new BroadcastChannel("kept");
channel.onmessage = event => heard.push("FOUND-broadcast");
channel.postMessage("is anybody there?");
addEventListener("storage", () => heard.push("FOUND-storage-event"));
const framed = source => new Promise(done => {{
  const frame = document.createElement("iframe");
  addEventListener("message", event => event.source === frame.contentWindow && done(event.data));
  frame.src = source; document.body.append(frame);
}});
(async () => {{
  const found = await look();
  const kept = await (await fetch("/cached.json")).json();
  found.push(...await framed("https://{THIRD}/frame"));
  await keep(self);
  self.name = "kept";
  history.pushState({{}}, "", "?pushed"); history.pushState({{}}, "", "?again");
  navigator.locks.request("kept", () => new Promise(() => {{}}));
  const late = () => {{ localStorage.setItem("late", "1"); document.cookie = "late=1; max-age=3600";
    navigator.sendBeacon("/late"); fetch("/late", {{keepalive: true, method: "POST"}}); }};
  for (const event of ["pagehide", "unload", "visibilitychange", "freeze"]) addEventListener(event, late);
  MORE
  await new Promise(done => setTimeout(done, 60));
  document.getElementById("report").textContent =
    ["REPORT", "SERVED-" + kept.times, "SCRIPT-" + self.served, ...found, ...heard].join(" ");
}})();
</script>"""
BUSY = """
  const write = () => { localStorage.setItem("kept", "2"); document.cookie = "kept=2; max-age=3600"; };
  setInterval(() => { write(); channel.postMessage("still here"); }, 5);
  const ask = async () => { for (;;) { write(); await (await fetch("/cached.json?again")).text(); } };
  ask().catch(() => 0);
  const ports = new MessageChannel();
  ports.port1.onmessage = () => { write(); ports.port2.postMessage(0); };
  ports.port2.postMessage(0);
  const drawn = () => { write(); requestAnimationFrame(drawn); };
  drawn();
"""
WORKERS = {
    "dedicated": """new Worker(URL.createObjectURL(new Blob([
        'const open = () => { indexedDB.open("late"); setTimeout(open, 1); }; open();'])));""",
    "shared": "new SharedWorker('/shared.js').port.start();",
    "service": "navigator.serviceWorker.register('/service.js'); await navigator.serviceWorker.ready;",
}


@dataclass
class Hostile:
    """The browsers and the requests that the site received."""

    browsers: Browsers
    requests: Counter[str] = field(default_factory=Counter)

    async def read(self, path: str, batch: str | None = "one", **more: object) -> Snapshot:
        url, wait = f"https://{HOST}{path}", more.pop("wait", "#report:not(:empty)")
        how = {"wait": wait, "limits": WAITING, "deadline_s": 60} | more
        request = Request(url, mode=Mode.RENDER, batch=batch, **how)  # type: ignore[arg-type]
        return await self.browsers.visit(request)

    @property
    def renewed(self) -> int:
        """Return how many tabs replaced another one in its process."""
        return sum(state.tabs_renewed for state in self.browsers.status().browsers)


def report(snapshot: Snapshot) -> list[str]:
    """Return what the page found, without its request count."""
    result = re.search(r'<pre id="report">(REPORT [^<]*)</pre>', snapshot.html)
    assert result is not None, snapshot.html[-2000:]
    return result[1].split()[1:]


@asynccontextmanager
async def serving(hostile: Hostile) -> AsyncIterator[int]:
    async def answer(request: web.Request) -> web.StreamResponse:
        path = request.path
        hostile.requests[request.path_qs] += 1
        hostile.requests["with a validator"] += "If-None-Match" in request.headers
        hostile.requests["a page with a cookie"] += bool(request.cookies) and path.startswith("/busy")
        cached = {"Cache-Control": "public, max-age=3600", "ETag": f'"{path}"', "X-Times": "1"}
        if request.path_qs == "/cached.json?again":
            return web.Response(text="again")
        if path == "/cached.json":
            return web.Response(text=json.dumps({"times": hostile.requests[path]}), headers=cached)
        if path.endswith(".js"):
            script = f"self.served = {hostile.requests[path]};"
            return web.Response(text=script, content_type="text/javascript", headers=cached)
        if path == "/frame":
            return web.Response(text=FRAME, content_type="text/html")
        if path == "/alert":
            return web.Response(text="<p>Alerting<script>alert(1)</script>" * 2, content_type="text/html")
        more = (WORKERS | {"busy": BUSY}).get(path.strip("/").partition("-")[0], "")
        page = web.Response(text=PAGE.replace("MORE", more), content_type="text/html", headers={"ETag": '"p"'})
        page.set_cookie("served", "1", max_age=3600, httponly=True)
        return page

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server_context((HOST, THIRD))).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hostile_site() -> AsyncIterator[tuple[Hostile, BrowserSettings]]:
    """Start the site once, so that each test gets a browser that runs: its switches hold the port of the site."""
    site = Hostile(None)  # type: ignore[arg-type]
    async with serving(site) as port:
        hosts = tuple((name, "127.0.0.1", port) for name in (HOST, THIRD))
        yield site, BrowserSettings(test_hosts=hosts, ignore_certificate_errors=True)


@pytest_asyncio.fixture(loop_scope="session")
async def hostile(hostile_site: tuple[Hostile, BrowserSettings]) -> AsyncIterator[Hostile]:
    site, settings = hostile_site
    site.requests.clear()
    async with Browsers(settings) as browsers:
        site.browsers = browsers
        yield site


async def test_next_page_of_a_process_sees_no_data_of_the_last(hostile: Hostile) -> None:
    for number in range(1, 4):
        result = report(await hostile.read(f"/busy-{number}"))
        assert result == [f"SERVED-{number}", f"SCRIPT-{number}"]
    assert hostile.renewed > 0
    for never in ("with a validator", "a page with a cookie", "/late"):
        assert hostile.requests[never] == 0


@pytest.mark.parametrize("kind", ["shared", full_size("dedicated", id="dedicated")])
async def test_process_of_a_page_with_workers_is_not_reused(hostile: Hostile, kind: str) -> None:
    for number in range(1, 4):
        result = report(await hostile.read(f"/{kind}-{number}"))
        assert FOUND.findall(" ".join(result)) == []
    assert hostile.renewed == 0


async def test_other_caller_batch_language_or_host_shares_no_process(hostile: Hostile) -> None:
    await hostile.read("/page-1", "one", principal="ann")
    await hostile.read("/page-2", "one", principal="bob")
    await hostile.read("/page-3", "two", principal="ann")
    await hostile.read("/page-4", "one", principal="ann", language="de-DE")
    await hostile.read("/page-5", None, principal="ann")
    assert hostile.renewed == 0
    await hostile.read("/page-6", None, principal="ann")
    assert hostile.renewed == 0
    await hostile.read("/page-7", "one", principal="ann")
    before = hostile.renewed
    await hostile.read("/page-8", "one", principal="ann")
    await hostile.read("/page-9", "one", principal="ann")
    assert hostile.renewed > before


async def test_unclean_page_is_followed_by_a_new_context(hostile: Hostile) -> None:
    await hostile.read("/alert", wait=None)
    await hostile.read("/page-1")
    assert hostile.renewed == 0


async def test_page_prepared_late_is_followed_by_a_new_context(hostile: Hostile) -> None:
    async def not_enough(_: Snapshot) -> bool:
        return False

    request = Request(f"https://{HOST}/page-1", mode=Mode.AUTO, batch="one", deadline_s=60)
    assert (await hostile.browsers.visit(request, not_enough)).rendered
    await hostile.read("/page-2")
    assert hostile.renewed == 0
    await hostile.read("/page-3")
    assert hostile.renewed == 1


async def test_failed_page_in_a_shared_process_does_not_affect_others(browsers: Browsers, site: Site) -> None:
    await visit(browsers, site, "/spa/1", batch="failing")
    with pytest.raises(BrowsersError):
        await visit(browsers, site, "/reset", batch="failing")
    snapshot = await visit(browsers, site, "/spa/2", batch="failing")
    assert snapshot.complete and "MARK-" in text_of(snapshot)


async def test_cache_of_an_earlier_page_is_not_used(browsers: Browsers, site: Site) -> None:
    before = site.hits("/memory/series/kept")
    for number in range(1, 4):
        snapshot = await visit(browsers, site, "/memory/series", batch="cached", wait="#report + p", deadline_s=60)
        assert FOUND.findall(text_of(snapshot)) == []
        assert site.hits("/memory/series/kept") == before + number


async def test_peeks_of_a_batch_share_no_cookie(browsers: Browsers, site: Site) -> None:
    await visit(browsers, site, "/spa/1", batch="peeks")
    for _ in range(3):
        snapshot = await visit(browsers, site, "/cookie/set?a=1", Mode.AUTO, batch="peeks")
        assert "COOKIES-{}" in text_of(snapshot)


async def incomplete(browsers: Browsers, site: Site, expected: dict[str, int], times: int = 1) -> list[str]:
    """Return the pages that lacked a marker word in any of their repeated readings in one batch.

    They are read once more in a separate batch: a page counts as ready after a fraction of a second of
    idle time, in which a busy machine may stall.
    """
    paths = list(expected)
    for batch in ("first", "second", "third"):
        readings = [path for path in paths for _ in range(times)]
        found = await read_in_one_batch(browsers, site, readings, f"awkward-{batch}")
        paths = [path for path in paths if min(found[path]) < expected[path]]
        if not paths:
            break
    return paths


async def read_in_one_batch(browsers: Browsers, site: Site, paths: list[str], batch: str) -> dict[str, list[int]]:
    """Return the number of marker words in each reading of a page."""
    found: dict[str, list[int]] = {path: [] for path in paths}
    turns = asyncio.Semaphore(4)

    async def read(path: str) -> None:
        async with turns:
            found[path].append(marks(await visit(browsers, site, path, batch=batch, deadline_s=60)))

    await asyncio.gather(*map(read, paths))
    return found


@pytest.mark.full_size
@pytest.mark.usefixtures("time_to_scroll")
async def test_difficult_pages_of_a_batch_are_complete(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {page.url: page.marks for page in all_pages() if page.marks}
    unanswered = {path: expected.pop(path) for path in UNANSWERED}
    assert await incomplete(browsers, site, unanswered) == []
    await_answers(monkeypatch)
    assert await incomplete(browsers, site, expected) == []


@pytest.mark.full_size
@pytest.mark.usefixtures("time_to_scroll", "time_to_answer")
async def test_repeated_pages_that_continue_after_a_pause_are_complete(browsers: Browsers, site: Site) -> None:
    expected = {path: page.marks for page in all_pages() if (path := page.url) in GO_ON}
    assert await incomplete(browsers, site, expected, times=3) == []


async def test_pages_with_the_same_code_have_the_same_signature(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    signatures: list[PageSignature] = []
    find = PagePatterns.find

    def record_signature(patterns: PagePatterns, signature: PageSignature) -> PatternRecord:
        signatures.append(signature)
        return find(patterns, signature)

    async def last_signature(path: str) -> PageSignature:
        await visit(browsers, site, path, batch="alike")
        return signatures[-1]

    monkeypatch.setattr(PagePatterns, "find", record_signature)
    first, second, other = [await last_signature(path) for path in ("/spa/1", "/spa/2", "/clock")]
    assert first == second != other


def test_batch_key_needs_one_origin_and_a_rendering_mode() -> None:
    def series(url: str, **more: object) -> BatchKey | None:
        return batch_key(Request(url, **{"batch": "b", **more}))  # type: ignore[arg-type]

    assert series("https://a.example/1") == series("https://A.example/2") is not None
    assert series("https://a.example/1") != series("http://a.example/1")
    assert series("https://a.example/1") != series("https://a.example:8443/1")
    assert series("https://a.example/", batch=None) is None
    assert series("https://a.example/", site_profile="shop") is None
    assert series("https://a.example/", mode=Mode.PEEK) is None
