"""Serve saved pages under their own URLs; answer 404 for everything else."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web

from tests.site.certificate import server_context

# Hosts of resources that a page may load; links are not followed.
_LOADED = re.compile(
    r"""(?:\bsrc|srcset|poster|data-src|<link\b[^>]*?\bhref|url)\s*[=(]\s*["']?[^"'>]*?//([\w.-]+\.[a-z]{2,})""", re.I
)
_IN_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_HOST = re.compile(r"//([\w.-]+\.[a-z]{2,})", re.IGNORECASE)
_HEADERS = {"Content-Type": "text/html; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class SavedPage:
    """One page of the corpus."""

    name: str
    url: str
    """URL with https, because browsers require it for many of these hosts."""
    file: Path
    kind: str

    @property
    def host(self) -> str:
        """Host of the URL."""
        return urlsplit(self.url).hostname or ""


def select_pages(corpus: Path, count: int) -> list[SavedPage]:
    """Return the same `count` pages each time, chosen by a hash of their names; one per URL."""
    index = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    names = sorted(index, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    pages: dict[str, SavedPage] = {}
    for name in names:
        url = _secure(index[name]["url"])
        if url is not None and len(pages) < count:
            pages.setdefault(url, SavedPage(name, url, corpus / "html" / f"{name}.html", index[name]["type"]))
    return list(pages.values())


def hosts_of(pages: Sequence[SavedPage]) -> set[str]:
    """Return the hosts of the pages and of their resources."""
    hosts = {page.host for page in pages}
    for page in pages:
        html = page.file.read_text(encoding="utf-8", errors="replace")
        hosts.update(_LOADED.findall(html))
        for script in _IN_SCRIPT.findall(html):
            hosts.update(_HOST.findall(script))
    return {host.lower().strip(".-") for host in hosts if not host.replace(".", "").isdigit()}


@asynccontextmanager
async def serve_pages(pages: Sequence[SavedPage]) -> AsyncIterator[int]:
    """Serve the pages on a free loopback port, by host and path, with a self-signed certificate."""
    files = {_key(page.url): page.file for page in pages}

    async def answer(request: web.Request) -> web.StreamResponse:
        return _answer(files, request)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        context = server_context(["saved.example"])
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024, ssl_context=context).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _answer(files: Mapping[str, Path], request: web.Request) -> web.StreamResponse:
    file = files.get(_key(f"https://{request.host}{request.raw_path}"))
    if file is None:
        return web.Response(status=404, text="not saved")
    return web.Response(body=file.read_bytes(), headers=_HEADERS)


def _secure(url: str) -> str | None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    return parts._replace(scheme="https", netloc=parts.hostname, fragment="").geturl()


def _key(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path or '/'}?{parts.query}"
