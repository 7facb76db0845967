"""Stylesheet, scripts, font and images of the pages, of realistic size."""

from __future__ import annotations

import struct
import zlib

from aiohttp import web

from tests.site.catalogue import Page

_CACHEABLE = {"Cache-Control": "public, max-age=3600"}
# Sizes as on ordinary sites, and those with which the costs of rendering were first measured.
_APP_BYTES = 120_000
_LIBRARY_BYTES = 80_000
_PICTURE_BYTES = 30_000


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 30, height: int = 20) -> bytes:
    """Return a valid gray PNG."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\x99" * width) * height
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _functions(size: int) -> str:
    """Return a bundle of small functions that are never called."""
    parts: list[str] = []
    total = 0
    while total < size:
        i = len(parts)
        part = (
            f"function part{i}(a,b){{var list=[];"
            f"for(var k=0;k<a.length;k++){{if(a[k]!==b){{list.push(a[k]+{i})}}}}"
            f"return{{name:'part{i}',size:list.length,list:list}}}}\n"
        )
        parts.append(part)
        total += len(part)
    return "".join(parts)


_APP = (
    _functions(_APP_BYTES)
    + """
let sum = 0;
for (let i = 0; i < 20000; i++) sum += part1([i, i + 1], i).size;
fetch('/api/article?name=spa&from=0&to=60&delay_ms=60').then(answer => answer.json()).then(data => {
  const place = document.getElementById('app');
  data.paragraphs.forEach((text, i) => {
    const p = document.createElement('p');
    p.textContent = text;
    place.append(p);
    if (i % 3 === 0) {
      const picture = new Image(300, 200);
      picture.alt = 'Picture ' + i;
      picture.src = '/assets/picture/spa-' + i + '.png';
      place.append(picture);
    }
  });
});
"""
).encode()
_LIBRARY = (
    _functions(_LIBRARY_BYTES)
    + "document.addEventListener('DOMContentLoaded', () => { document.body.dataset.ready = '1'; });"
).encode()
_STYLE = (
    "@font-face{font-family:Harbour;src:url(/assets/harbour.woff2)}"
    "body{font-family:Harbour,serif;margin:2em}.gone{display:none}"
    + "".join(f".c{i}{{color:#{i:03x}}}" for i in range(400))
).encode()
_PICTURE = png() + bytes(_PICTURE_BYTES)
_FONT = bytes(20_000)


def _asset(path: str, about: str, body: bytes, media_type: str, example: str = "") -> Page:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, content_type=media_type, headers=_CACHEABLE)

    return Page(path, about, answer, example=example)


async def _no_icon(request: web.Request) -> web.Response:
    return web.Response(status=404)


PAGES = (
    _asset("/assets/site.css", "stylesheet of 400 rules and a font", _STYLE, "text/css"),
    _asset("/assets/app.js", "120 kB application that fetches its article", _APP, "text/javascript"),
    _asset("/assets/library.js", "80 kB script", _LIBRARY, "text/javascript"),
    _asset("/assets/harbour.woff2", "a font that does not parse", _FONT, "font/woff2"),
    _asset("/assets/picture/{name}", "30 kB picture", _PICTURE, "image/png", "/assets/picture/a.png"),
    Page("/favicon.ico", "no icon: 404", _no_icon),
)
