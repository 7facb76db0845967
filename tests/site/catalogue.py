"""What a page of the site is: a path, what it is for, who answers, and how much of it must be read."""

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
    """Marker words that a complete reading shows; 0 keeps the page out of the manifest."""
    example: str = ""
    """A path that can be asked for, where `path` has parameters."""
    methods: tuple[str, ...] = ("GET",)

    @property
    def url(self) -> str:
        """A path that can be asked for."""
        return self.example or self.path

    @property
    def name(self) -> str:
        """The name in the marker words: the first part of the path."""
        return self.path.split("/")[1]


def fixed(path: str, about: str, text: str, *, marks: int = 0) -> Page:
    """A page that never changes, encoded once."""
    body = text.encode()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Type": HTML})

    return Page(path, about, answer, marks)


def built(
    path: str, about: str, build: Callable[[web.Request], str], *, marks: int = 0, example: str = ""
) -> Page:
    """A page whose HTML depends on the request."""

    async def answer(request: web.Request) -> web.Response:
        return html(build(request))

    return Page(path, about, answer, marks, example)
