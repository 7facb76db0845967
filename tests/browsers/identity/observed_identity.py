"""A page that describes its browser from every place where scripts run, and the request headers."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.site.certificate import server_context

HOST = "portrait.example"
URL = f"https://{HOST}/"
"""Scheme with TLS: client hints and service workers need a secure context."""

HINTS = "Full-Version-List, Arch, Bitness, Platform-Version, Model, Form-Factors"
SAY_MORE = {"Accept-CH": ", ".join(f"Sec-CH-UA-{hint}" for hint in HINTS.split(", "))}

_FACTS = """
async function facts() {
  const agent = navigator.userAgentData;
  const hints = ["architecture", "bitness", "formFactors", "fullVersionList", "model", "platformVersion",
    "uaFullVersion", "wow64"];
  const {timeZone, locale} = Intl.DateTimeFormat().resolvedOptions();
  return {
    userAgent: navigator.userAgent, appVersion: navigator.appVersion, platform: navigator.platform,
    language: navigator.language, languages: [...navigator.languages], webdriver: !!navigator.webdriver,
    cores: navigator.hardwareConcurrency, timeZone, locale,
    offset: new Date(2026, 6, 1).getTimezoneOffset(),
    brands: agent.brands, mobile: agent.mobile, hintPlatform: agent.platform,
    hints: await agent.getHighEntropyValues(hints),
    headers: await (await fetch("/headers")).json(),
  };
}
"""
_PAGE = """<!doctype html><meta charset=utf-8><title>Portrait</title><body><script>
const heard = target =>
  new Promise(done => target.addEventListener("message", e => done(e.data), {once: true}));
const within = promise => Promise.race([promise, new Promise(done => setTimeout(done, 15000, null))]);
async function frame() {
  const made = document.createElement("iframe"), answer = heard(window);
  made.src = "/frame"; document.body.append(made);
  return within(answer);
}
function shared() {
  const {port} = new SharedWorker("/shared.js");
  port.start();
  return within(heard(port));
}
async function service() {
  await navigator.serviceWorker.register("/service.js");
  const ready = await within(navigator.serviceWorker.ready), channel = new MessageChannel();
  channel.port1.start();
  ready.active.postMessage("tell", [channel.port2]);
  return within(heard(channel.port1));
}
(async () => {
  const told = {document: DOCUMENT, page: await facts(), frame: await frame(),
    worker: await within(heard(new Worker("/worker.js"))), shared: await shared(), service: await service()};
  told.window = {inner: [innerWidth, innerHeight], outer: [outerWidth, outerHeight],
    available: [screen.availWidth, screen.availHeight], screen: [screen.width, screen.height]};
  const {state} = await navigator.permissions.query({name: "notifications"});
  told.desktop = {chrome: Object.keys(window.chrome ?? {}), app: Object.keys(window.chrome?.app ?? {}),
    late: Object.getOwnPropertyNames(window).slice(-50).includes("chrome"),
    source: String(window.chrome?.csi), speed: navigator.connection.rtt > 0,
    plugins: [...navigator.plugins].map(one => [one.name, one.filename, one[0].type, one instanceof Plugin]),
    types: [...navigator.mimeTypes].map(one => [one.type, one.suffixes, one.enabledPlugin.name]),
    native: Object.getPrototypeOf(navigator.plugins) === PluginArray.prototype,
    denied: Notification.permission === "denied" && state === "prompt"};
  const out = document.createElement("pre");
  out.id = "told"; out.textContent = JSON.stringify(told);
  document.body.append(out);
})();
</script>"""
_SCRIPTS = {
    "/worker.js": _FACTS + "facts().then(postMessage)",
    "/shared.js": _FACTS + "onconnect = e => facts().then(told => e.ports[0].postMessage(told))",
    "/service.js": _FACTS
    + "oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim());"
    + "onmessage = e => facts().then(told => e.ports[0].postMessage(told))",
}


async def _answer(request: web.Request) -> web.Response:
    headers = {name.lower(): value for name, value in request.headers.items()}
    match request.path:
        case "/":
            text = _PAGE.replace("<script>", f"<script>{_FACTS}", 1).replace("DOCUMENT", json.dumps(headers))
        case "/frame":
            text = f"<script>{_FACTS}facts().then(told => parent.postMessage(told, '*'))</script>"
        case "/headers":
            return web.json_response(headers)
        case path if path in _SCRIPTS:
            return web.Response(text=_SCRIPTS[path], content_type="text/javascript")
        case _:
            raise web.HTTPNotFound
    return web.Response(text=text, content_type="text/html", headers=SAY_MORE)


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    """Serve the page on a free port, with TLS."""
    app = web.Application()
    app.router.add_get("/{path:.*}", _answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server_context([HOST])).start()
        yield runner.addresses[0][1]
    finally:
        async with asyncio.timeout(10):
            await runner.cleanup()


def portrait(page: str) -> dict[str, Any]:
    """Return the properties that a rendered page found: place -> values."""
    found = re.search(r'<pre id="told"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert found is not None, page[-500:]
    observed: dict[str, Any] = json.loads(html.unescape(found[1]))
    return observed
