"""Pages with one late or missing part, for which a reader must not wait."""

from __future__ import annotations

import asyncio

from aiohttp import web

from tests.site.catalogue import Page, fixed
from tests.site.markup import HTML, html, page
from tests.site.prose import paragraphs


async def _slow_body(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": HTML})
    await stream.prepare(request)
    text = page("Slow body", paragraphs("slow-body", 0, 20))
    middle = text.index("MARK-slow-body-10")
    await stream.write(text[:middle].encode())
    await asyncio.sleep(1.0)
    await stream.write(text[middle:].encode())
    return stream


async def _slow_answer(request: web.Request) -> web.Response:
    await asyncio.sleep(int(request.match_info["ms"]) / 1000)
    return html(page("Late answer", paragraphs("slow-answer", 0, 10)))


PAGES = (
    fixed(
        "/slow-css",
        "a stylesheet that never comes",
        page("Slow style", paragraphs("slow-css", 0, 10), '<link rel="stylesheet" href="/api/hang?css">'),
        marks=10,
    ),
    fixed(
        "/slow-image",
        "a picture that never comes",
        page("Slow picture", paragraphs("slow-image", 0, 10) + '<img alt="" src="/api/hang?image">'),
        marks=10,
    ),
    fixed(
        "/slow-script",
        "an async script that never comes",
        page("Slow script", paragraphs("slow-script", 0, 10) + '<script async src="/api/hang?script"></script>'),
        marks=10,
    ),
    fixed(
        "/slow-frame",
        "a frame that never comes",
        page("Slow frame", paragraphs("slow-frame", 0, 10) + '<iframe src="/api/hang?frame"></iframe>'),
        marks=10,
    ),
    Page("/slow-body", "half of the body a second late", _slow_body, marks=20),
    Page("/slow-answer/{ms}", "headers after so many milliseconds", _slow_answer, marks=10, example="/slow-answer/700"),
)
