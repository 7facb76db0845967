"""Serve the detectors under one host name with TLS, and collect findings after their reports."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from tests.site.certificate import server_context

HOST = "detectors.example"
PAGES = Path(__file__).parent / "pages"
_STOP_LIMIT_S = 1.0


@dataclass(frozen=True, slots=True)
class DetectorSite:
    """A running site."""

    port: int
    _late: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def url(self, page: str, visitor: str) -> str:
        """Return the URL for one visitor; late findings are stored per visitor."""
        return f"https://{HOST}/pages/{page}?visitor={visitor}"

    def late(self, page: str, visitor: str) -> tuple[str, ...]:
        """Return the findings after the report of the page."""
        return tuple(dict.fromkeys(self._late[f"{page} {visitor}"]))

    def add_late(self, page: str, visitor: str, findings: list[str]) -> None:
        """Store late findings."""
        self._late[f"{page} {visitor}"] += findings


@asynccontextmanager
async def serve_detectors(packages: Path | None) -> AsyncIterator[DetectorSite]:
    """Serve the detectors on a free port; stop on exit."""
    app = web.Application()
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOP_LIMIT_S)
    sites: list[DetectorSite] = []

    async def late(request: web.Request) -> web.Response:
        report = json.loads(await request.text())
        sites[0].add_late(report["page"], report["visitor"], report["findings"])
        return web.Response(status=204)

    app.router.add_post("/late", late)
    app.router.add_static("/pages", PAGES)
    if packages is not None:
        app.router.add_static("/npm", packages)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server_context([HOST])).start()
        sites.append(DetectorSite(runner.addresses[0][1]))
        yield sites[0]
    finally:
        await runner.cleanup()
