"""Serves the page for people, and the two answers that it asks for beside the protocol's own.

Nothing that a web page says is ever markup here: answers are JSON, the page's script writes them as text
alone, and its policy forbids every script, style, frame, picture and address but its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib.resources
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scraper.errors import ScraperError
from scraper.render.errors import error_sentence
from scraper.server.calls.dispatcher import CallDispatcher, ToolCaller
from scraper.server.http.disconnect_middleware import client_gone
from scraper.server.http.request_body import read_body
from scraper.server.lifecycle.app_holder import AppHolder

if TYPE_CHECKING:
    from scraper.app import App

_FILES = {
    "/": ("index.html", "text/html"),
    "/people.css": ("people.css", "text/css"),
    "/people.js": ("people.js", "text/javascript"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RENDER = frozenset({"auto", "http", "browser"})
_MAX_BODY = 16_384
_STATUS_S = 2.0


class Playground:
    """The routes of one server."""

    def __init__(
        self, house: AppHolder[App], calls: CallDispatcher, *, version: str, deadline_s: float
    ) -> None:
        self._house = house
        self._calls = calls
        self._version = version
        self._deadline_s = deadline_s

    def routes(self) -> list[Route]:
        """The page and what it asks for."""
        files = [_file(path, *described) for path, described in _FILES.items()]
        return [*files, Route("/status", self._status), Route("/try", self._try, methods=["POST"])]

    async def _status(self, _request: Request) -> Response:
        """Calls, pool and cache at this moment."""
        told: dict[str, Any] = {
            "version": self._version,
            "calls": self._calls.running,
            "draining": self._calls.draining,
        }
        app = self._house.present()
        if app is not None:
            browsers = app.browsers.status()
            told["pool"] = {
                "ready": browsers.ready,
                "reading": browsers.active,
                "waiting": browsers.queued,
                "rendering": browsers.rendering,
                "browsers": len(browsers.browsers),
                "restarts": browsers.restarts,
            }
            told["cache"] = await _cache(app)
        return JSONResponse(told, headers=_HEADERS)

    async def _try(self, request: Request) -> Response:
        """Both sides of a page."""
        asked = await _asked(request)
        if asked is None:
            return _refused(400, "Send JSON with url and, if wanted, render: auto, http or browser.")
        url, render = asked
        user = request.scope.get("user")
        principal = "local" if user is None else user.access_token.client_id
        caller = ToolCaller(principal, gone=client_gone(request.scope))

        async def work(app: App) -> dict[str, Any]:
            sides = await app.comparer.read(
                url, render=render, principal=principal, deadline_s=self._deadline_s
            )
            return dataclasses.asdict(sides)

        try:
            async with _listened_to(request):
                found = await self._calls.look("page/try", caller, work, limit_s=self._deadline_s)
        except ScraperError as error:
            return _refused(422, error_sentence(error))
        except MCPError as error:
            return _refused(503, error.error.message)
        return JSONResponse(found, headers=_HEADERS)


def _file(path: str, name: str, media_type: str) -> Route:
    content = importlib.resources.files(__package__).joinpath(name).read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(content, media_type=media_type, headers=_HEADERS)

    return Route(path, answer)


@contextlib.asynccontextmanager
async def _listened_to(request: Request) -> AsyncIterator[None]:
    """Hear the client while the block runs: only who listens is told that they have hung up."""
    hearing = asyncio.ensure_future(request.receive())
    try:
        yield
    finally:
        hearing.cancel()
        await asyncio.wait({hearing})


async def _asked(request: Request) -> tuple[str, str] | None:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return None  # a form of a foreign page can send any other type without asking
    body = await read_body(request.receive, _MAX_BODY)
    asked = body.message() if body.size_bytes <= _MAX_BODY else {}
    url, render = asked.get("url"), asked.get("render", "auto")
    return (url, render) if isinstance(url, str) and render in _RENDER else None


async def _cache(app: App) -> dict[str, Any] | None:
    try:
        async with asyncio.timeout(_STATUS_S):
            stats = await app.pages.stats()
    except TimeoutError:
        return None
    return {"pages": stats.pages, "bytes": stats.bytes, "hits": stats.hits, "misses": stats.misses}


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status_code=status, headers=_HEADERS)
