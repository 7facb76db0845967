"""Serve the playground: the files of its page, the server's state, and a page as `fetch` returns it.

Text of web pages never becomes markup: responses are JSON, the script inserts their strings as text only, and the
content security policy forbids all foreign scripts, styles, frames, images and addresses. Pictures of pages come from
the tool `see`, as data.
"""

import asyncio
import contextlib
import dataclasses
import importlib.resources
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scraper.background_tasks import run_in_background
from scraper.reading.batch import read_with_other_urls
from scraper.server.access import principal_of
from scraper.server.calls.dispatcher import CallDispatcher, ToolCaller
from scraper.server.http.middleware import disconnect_future, read_body
from scraper.server.lifecycle import ServicesHolder
from scraper.server.playground.markdown_nodes import HtmlNode, markdown_nodes
from scraper.tools.model import ToolAnswer
from scraper.urls import guess_urls
from scraper.workers import WorkerFailedError

if TYPE_CHECKING:
    from scraper.services import Services

_FILES = {
    "/": ("index.html", "text/html"),
    "/people.css": ("people.css", "text/css"),
    "/clients.json": ("clients.json", "application/json"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript")
        for name in ("people", "elements", "history", "requests", "same_calls", "search", "tools")
    },
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
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
_MAX_BODY = 16_384


@dataclasses.dataclass(frozen=True)
class Playground:
    """Routes of the playground."""

    holder: "ServicesHolder[Services]"
    calls: CallDispatcher
    version: str
    requires_token: bool

    def routes(self) -> list[Route]:
        """Return the routes of the page, its files and its data."""
        files = [_file_route(path, *file) for path, file in _FILES.items()]
        return [*files, Route("/status", self._status), Route("/try", self._try, methods=["POST"])]

    async def _status(self, _request: Request) -> Response:
        calls = self.calls
        status: dict[str, Any] = {"version": self.version, "calls": calls.running, "draining": calls.draining}
        status["requires_token"] = self.requires_token
        services = self.holder.present()
        if services is not None:
            browsers = services.browsers.status()
            status["pool"] = {
                "ready": browsers.ready,
                "reading": browsers.active,
                "waiting": browsers.queued,
                "rendering": browsers.rendering,
                "browsers": len(browsers.browsers),
                "restarts": browsers.restarts,
            }
            status["cache"] = None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    stats = await services.pages.stats()
                status["cache"] = {name: getattr(stats, name) for name in ("pages", "bytes", "hits", "misses")}
        return JSONResponse(status, headers=_HEADERS)

    async def _try(self, request: Request) -> Response:
        parsed = await _parse(request)
        if parsed is None:
            return _error(400, "Send JSON with url and optionally render: auto, http or browser.")
        (url, other), render = guess_urls(parsed[0]), parsed[1]
        principal = principal_of(request.scope) or "local"
        caller = ToolCaller(principal, disconnected=disconnect_future(request.scope))
        used = url

        async def call(others: Mapping[str, str]) -> ToolAnswer:
            nonlocal used
            used = others.get(url, url)
            return await self.calls.answer("fetch", {"url": used, "render": render}, caller)

        try:
            async with run_in_background(request.receive()):
                answer = await read_with_other_urls(call, {url: other}, lambda answer: answer.errors_by_url)
        except MCPError as error:
            return _error(503, error.error.message)
        nodes: list[HtmlNode] = [["pre", {}, answer.text]]
        services = self.holder.present()
        if services is not None and not answer.is_error:
            # Without nodes if it takes too long.
            with contextlib.suppress(WorkerFailedError):
                nodes = await services.workers.run(markdown_nodes, answer.text)
        content = {"url": used, "text": answer.text, "wrong": answer.is_error, "nodes": nodes}
        return JSONResponse(content, headers=_HEADERS)


def _file_route(path: str, name: str, media_type: str) -> Route:
    content = importlib.resources.files(__package__).joinpath(name).read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(content, media_type=media_type, headers=_HEADERS)

    return Route(path, answer)


async def _parse(request: Request) -> tuple[str, str] | None:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return None  # forms of foreign pages can send any other type without a preflight
    body = await read_body(request.receive, _MAX_BODY)
    fields = body.message() if body.size_bytes <= _MAX_BODY else {}
    url, render = fields.get("url"), fields.get("render", "auto")
    return (url, render) if isinstance(url, str) and render in ("auto", "http", "browser") else None


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status_code=status, headers=_HEADERS)
