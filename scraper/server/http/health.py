"""Probes for orchestrators: `/health` (the process runs) and `/ready` (it accepts work)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import AppHolder
from scraper.workers import sandbox

if TYPE_CHECKING:
    from scraper.services import Services


class Health:
    """The two probes of a server."""

    def __init__(self, holder: AppHolder[Services], calls: CallDispatcher, *, queue_limit: int, version: str) -> None:
        """Report the state of the App in `holder` and of `calls`."""
        self._holder = holder
        self._calls = calls
        self._queue_limit = queue_limit
        self._version = version

    def routes(self) -> list[Route]:
        """Return the routes of the probes."""
        return [Route("/health", self._health), Route("/ready", self._ready)]

    async def _health(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "status": "ok",
                "version": self._version,
                "draining": self._calls.draining,
                "calls": self._calls.running,
                "browsers": self._browsers(),
                "shared": self._shared(),
                "database": self._database(),
                "documents": {"confinement_lacks": list(sandbox.detect_capabilities().missing)},
            }
        )

    async def _ready(self, _request: Request) -> Response:
        reason = self._not_ready_reason()
        queue = {"queue_seconds": round(self._queue_s(), 3)}
        if reason is None:
            return JSONResponse({"ready": True, **queue, **self._note()})
        answer = {"ready": False, "reason": reason, **queue}
        return JSONResponse(answer, status_code=503, headers={"Retry-After": "1"})

    def _not_ready_reason(self) -> str | None:
        """Return why the server should get no calls now, or None."""
        app = self._holder.present()
        if self._calls.draining:
            return "shutting down"
        if app is None or not app.browsers.status().ready:
            return "no browser answers"
        if self._calls.full or app.browsers.status().queued >= max(1, self._queue_limit):
            return "full"
        return None

    def _note(self) -> dict[str, str]:
        """Return problems that do not prevent work."""
        app = self._holder.present()
        if app is None:
            return {}
        problems = {"shared state away": app.shared.status().away, "database away": app.store.problem is not None}
        names = [name for name, is_present in problems.items() if is_present]
        return {"note": ", ".join(names)} if names else {}

    def _shared(self) -> dict[str, Any] | None:
        """Return the status of the shared state, or None without one. Its address is only in the log."""
        app = self._holder.present()
        status = None if app is None else app.shared.status()
        if status is None or not status.configured:
            return None
        return {"away": status.away, "slow": status.slow, "servers": status.servers}

    def _database(self) -> dict[str, Any] | None:
        """Return the status of the shared database, or None without one. The problem is only in the log."""
        app = self._holder.present()
        if app is None or app.store.server is None:
            return None
        return {"away": app.store.problem is not None}

    def _queue_s(self) -> float:
        """Return the expected wait of a new visit in seconds."""
        app = self._holder.present()
        return 0.0 if app is None else app.browsers.status().queue_s

    def _browsers(self) -> dict[str, Any] | None:
        """Return the browsers' state without errors, which contain paths; None before the start."""
        app = self._holder.present()
        if app is None:
            return None
        status = app.browsers.status()
        return {
            "ready": status.ready,
            "active": status.active,
            "queued": status.queued,
            "rendering": status.rendering,
            "restarts": status.restarts,
            "processes": [dataclasses.asdict(browser) for browser in status.browsers],
        }
