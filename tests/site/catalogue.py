"""Description of a page of the site: path, purpose, handler and expected marker words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from tests.site.markup import HTML, html

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Page:
    """One entry of the catalogue."""

    path: str
    """Route pattern."""
    about: str
    handler: Handler
    marks: int = 0
    """Marker words of a complete reading; 0 excludes the page from the manifest."""
    example: str = ""
    """An example path if `path` has parameters."""
    methods: tuple[str, ...] = ("GET",)

    @property
    def url(self) -> str:
        """Return a path that can be requested."""
        return self.example or self.path

    @property
    def name(self) -> str:
        """Name in the marker words: the first part of the path."""
        return self.path.split("/")[1]


def fixed(path: str, about: str, text: str, *, marks: int = 0, media_type: str = HTML) -> Page:
    """Create a page with a constant body, encoded once."""
    body = text.encode()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Type": media_type})

    return Page(path, about, answer, marks)


def built(path: str, about: str, build: Callable[[web.Request], str], *, marks: int = 0, example: str = "") -> Page:
    """Create a page whose HTML depends on the request."""

    async def answer(request: web.Request) -> web.Response:
        return html(build(request))

    return Page(path, about, answer, marks, example)
