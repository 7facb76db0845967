"""The seven engines on loopback, under their own names and with TLS: pages, block pages and faults."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from aiohttp import web

from tests.site import proofs_of_work as proofs
from tests.site.certificate import server_identity
from tests.site.engine_pages import EngineRow, hosts, result_page
from tests.site.engine_refusals import none_page, wall_page
from tests.site.markup import html
from tests.site.search_world import PAGE_HOSTS, World, article, instant_article, wrapped

MOODS = (
    "rows",
    "none",
    "wall",
    "altcha",
    "anubis",
    "consent",
    "limited",
    "hang",
    "decoys",
    "suspicious",
    "redrawn",
    "broken",
    "code",
)
"""Responses that a test can choose: rows, no rows, a block page, a challenge that solves itself, ..."""

_INSTANT = "api.duckduckgo.com"
_CONSENT = "consent.google.com"
_ENGINE_OF = {host: engine for engine, names in hosts.items() for host in names}
ENGINE_NAMES = (*hosts, *_ENGINE_OF)
"""Engines, and single hosts of them, whose responses can be set."""
_NAMES = (*_ENGINE_OF, _INSTANT, _CONSENT, *PAGE_HOSTS)
_QUERY_FIELDS = ("q", "query", "wd")
_SHUTDOWN_S = 0.2

Handler = Callable[["EngineSite", web.Request, "Asked"], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for results."""

    engine: str
    host: str
    method: str
    query: str
    fields: Mapping[str, str]
    cookies: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(slots=True)
class EngineSite:
    """The running engines. Their responses can be changed at any time."""

    port: int = 0
    key_pin: str = ""
    """SHA-256 of the certificate's public key, as browsers pin it."""
    moods: dict[str, str] = field(default_factory=dict)
    """Response mode by engine, or by host for one variant of an engine."""
    rows: dict[str, list[EngineRow]] = field(default_factory=dict)
    """Rows by engine that replace those of the search world."""
    asked: list[Asked] = field(default_factory=list)
    instant: str | None = None
    """Response of the instant answer API. None returns an article about the query."""
    instant_status: int = 200
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    @property
    def test_hosts(self) -> tuple[tuple[str, str, int], ...]:
        """Return (host name, address, port) of every name, as settings take them."""
        return tuple((name, "127.0.0.1", self.port) for name in _NAMES)

    def reset(self) -> None:
        """Reset all response modes."""
        self.moods.clear()
        self.rows.clear()
        self.asked.clear()
        self.instant, self.instant_status = None, 200

    def of(self, engine: str) -> list[Asked]:
        """Return the queries that an engine received."""
        return [asked for asked in self.asked if asked.engine == engine]


@asynccontextmanager
async def running_engines(port: int = 0) -> AsyncIterator[EngineSite]:
    """Serve all engines on one port of loopback."""
    site = EngineSite()
    context, site.key_pin = server_identity(_NAMES)

    async def answer(request: web.Request) -> web.StreamResponse:
        return await _answer(site, request)

    app = web.Application(client_max_size=1024 * 1024)
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
        site.port = runner.addresses[0][1]
        yield site
    finally:
        await runner.cleanup()


async def _answer(site: EngineSite, request: web.Request) -> web.StreamResponse:
    host = request.host.partition(":")[0]
    if host in PAGE_HOSTS:
        text = article(request.path)
        return html(text) if text else html("<h1>Not found</h1>", status=404)
    if host == _INSTANT:
        text = instant_article(request.query.get("q", "")) if site.instant is None else site.instant
        return web.Response(text=text, status=site.instant_status, content_type="application/x-javascript")
    if host == _CONSENT:
        return await _consent(request)
    engine = _ENGINE_OF.get(host)
    if engine is None or request.path == "/favicon.ico":
        return web.Response(status=404)
    service = await _service(site, request)
    return service or await _results(site, request, engine, host)


async def _service(site: EngineSite, request: web.Request) -> web.StreamResponse | None:
    """Handle requests of block pages and redirect links."""
    path = request.path
    if path == "/js/page_specific/altcha.js":
        return web.Response(body=proofs.ALTCHA_SCRIPT.read_bytes(), content_type="text/javascript")
    if path == "/captcha/challenge":
        return web.json_response(proofs.altcha_challenge(site.secret))
    if path == "/captcha/verify":
        payload = str((await request.post()).get("altcha", ""))
        solved = proofs.altcha_solved(payload, site.secret)
        return _grant_access(request.query["to"], "altcha") if solved else html("<h1>No</h1>", status=403)
    if path.endswith("/anubis/static/js/main.mjs"):
        return web.Response(text=proofs.anubis_script(), content_type="text/javascript")
    if path.endswith("/anubis/api/pass-challenge"):
        solved = proofs.anubis_solved(request.query["challenge"], request.query["nonce"])
        return _grant_access(request.query["redir"], "anubis") if solved else html("<h1>No</h1>", status=403)
    if path.startswith("/rss/articles/"):
        return _wrapped_article(path.rpartition("/")[2])
    return None


def _grant_access(target: str, cookie: str) -> web.Response:
    answer = web.Response(status=303, headers={"Location": target})
    answer.set_cookie(f"{cookie}-clearance", "1", secure=True, httponly=True)
    return answer


def _wrapped_article(token: str) -> web.Response:
    """Return a page of Google whose script redirects to the publisher."""
    raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    url = raw.partition(b"AU_yqL")[2][::-1].decode()
    return html(
        "<!doctype html><title>Google News</title><body><c-wiz></c-wiz>"
        f"<script>setTimeout(() => location.replace({json.dumps(url)}), 100)</script>"
    )


async def _consent(request: web.Request) -> web.StreamResponse:
    if request.path == "/save" and request.method == "POST":
        form = await request.post()
        refused = form.get("set_eom") == "true"
        answer = web.Response(status=303, headers={"Location": unquote(str(form.get("continue", "")))})
        answer.set_cookie("SOCS", "refused" if refused else "accepted", domain="google.com", secure=True)
        return answer
    target = quote(request.query.get("continue", ""), safe="")
    forms = "".join(
        f"<form action='https://consent.google.com/save' method='post'><input type='hidden' name='continue' "
        f"value='{target}'><input type='hidden' name='set_eom' value='{value}'>"
        f"<button>{label}</button></form>"
        for label, value in (("Reject all", "true"), ("Accept all", "false"))
    )
    return html(f"<!doctype html><title>Before you continue</title><h1>Before you continue to Google</h1>{forms}")


async def _results(site: EngineSite, request: web.Request, engine: str, host: str) -> web.StreamResponse:
    sent = dict(request.query) | {name: str(value) for name, value in (await request.post()).items()}
    query = next((sent[name] for name in _QUERY_FIELDS if name in sent), "")
    if not query:
        home = "<form id='search'><input name='q'><input type='hidden' name='sc' value='Q7M'></form>"
        return html(f"<!doctype html><title>{engine}</title>{home}")
    asked = Asked(engine, host, request.method, query, sent, dict(request.cookies), dict(request.headers))
    site.asked.append(asked)
    mood = site.moods.get(host) or site.moods.get(engine, "rows")
    return await _BY_MOOD[mood](site, request, asked)


async def _rows(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    page = 2 if any(asked.fields.get(name, "") not in {"", "0", "1"} for name in ("s", "first", "pn")) else 1
    rows = site.rows.get(asked.engine) or World(asked.query).rows(asked.engine, page)
    faces = {"lite.duckduckgo.com": "lite", "duckduckgo.com": "main"}
    text = result_page(asked.engine, rows, asked.query, face=faces.get(asked.host, ""))
    if asked.engine == "googlenews":
        # Replace the longest first: one URL may be a prefix of another.
        for row in sorted(rows, key=lambda row: -len(row.url)):
            text = text.replace(row.url, wrapped(row.url))
    return _page(asked.engine, text)


async def _none(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    return _page(asked.engine, none_page(asked.engine, asked.query))


async def _wall(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    return html(wall_page(asked.engine), status=202 if asked.engine == "duckduckgo" else 200)


async def _altcha(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    if "altcha-clearance" in request.cookies:
        return await _rows(site, request, asked)
    return html(proofs.altcha_page(f"/captcha/verify?to={quote(request.path_qs, safe='')}"))


async def _anubis(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    if "anubis-clearance" in request.cookies:
        return await _rows(site, request, asked)
    return html(proofs.anubis_page(request.path_qs))


async def _ask_consent(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    if "SOCS" in request.cookies:
        return await _rows(site, request, asked)
    here = quote(f"https://{asked.host}{request.path_qs}", safe="")
    return web.Response(status=302, headers={"Location": f"https://{_CONSENT}/m?continue={here}"})


async def _limited(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    return html("<!doctype html><title>429 Too Many Requests</title><h1>Too many requests</h1>", status=429)


async def _hang(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def _decoys(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    """Return rows about the first word only."""
    word = asked.query.split()[0]
    rows = [
        EngineRow(f"{word} - meaning number {number}", f"https://words.example/{number}", f"What {word} means.")
        for number in range(10)
    ]
    return _page(asked.engine, result_page(asked.engine, rows, asked.query))


async def _suspicious(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    """Return decoys to a client that has a cookie of an earlier visit."""
    answer = await (_decoys if "seen" in asked.cookies else _rows)(site, request, asked)
    answer.set_cookie("seen", "1", max_age=3600)
    return answer


async def _redrawn(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    """Return rows with class names that no parser knows."""
    items = "".join(
        f"<section class='zq1'><div class='zq2'><a class='zq3' href='{row.url}'><h3>{row.title}</h3></a>"
        f"<p class='zq4'>{row.snippet}</p></div></section>"
        for row in World(asked.query).rows(asked.engine)
        if not row.ad
    )
    return html(f"<!doctype html><title>{asked.query}</title><main>{items}</main>")


async def _broken(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    """Close the connection without a response."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def _code(site: EngineSite, request: web.Request, asked: Asked) -> web.StreamResponse:
    """Return no results for a client without the code of the home page's form."""
    if asked.fields.get("sc") == "Q7M":
        return await _rows(site, request, asked)
    return html("<!doctype html><title>Startpage</title><p>Something went wrong. <a href='/'>Home</a></p>")


def _page(engine: str, text: str) -> web.Response:
    if engine == "googlenews":
        return web.Response(text=text, content_type="application/xml", charset="utf-8")
    return html(text)


_BY_MOOD: Mapping[str, Handler] = dict(
    zip(
        MOODS,
        (
            _rows,
            _none,
            _wall,
            _altcha,
            _anubis,
            _ask_consent,
            _limited,
            _hang,
            _decoys,
            _suspicious,
            _redrawn,
            _broken,
            _code,
        ),
        strict=True,
    )
)
