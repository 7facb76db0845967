"""Tells an orchestrator whether the process lives (`/health`) and whether it can take work (`/ready`)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle.app_holder import AppHolder
from scraper.workers import sandbox

if TYPE_CHECKING:
    from scraper.app import App


class Health:
    """The two probes of one server."""

    def __init__(
        self, house: AppHolder[App], calls: CallDispatcher, *, queue_limit: int, version: str
    ) -> None:
        self._house = house
        self._calls = calls
        self._queue_limit = queue_limit
        self._version = version

    def routes(self) -> list[Route]:
        """The probes as routes."""
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
        reason = self._unready()
        queue = {"queue_seconds": round(self._queue_s(), 3)}
        if reason is None:
            return JSONResponse({"ready": True, **queue, **self._note()})
        answer = {"ready": False, "reason": reason, **queue}
        return JSONResponse(answer, status_code=503, headers={"Retry-After": "1"})

    def _unready(self) -> str | None:
        """Why no call should be sent here now; None when it should."""
        app = self._house.present()
        if self._calls.draining:
            return "shutting down"
        if app is None or not app.browsers.status().ready:
            return "no browser answers"
        if self._calls.full or app.browsers.status().queued >= max(1, self._queue_limit):
            return "full"
        return None

    def _note(self) -> dict[str, str]:
        """What is wrong although work can be taken."""
        app = self._house.present()
        if app is None:
            return {}
        away = {"shared state away": app.shared.status().away, "database away": app.store.problem is not None}
        said = [words for words, is_so in away.items() if is_so]
        return {"note": ", ".join(said)} if said else {}

    def _shared(self) -> dict[str, Any] | None:
        """How the state that servers share stands; None where none is. Its address stays in the log."""
        app = self._house.present()
        status = None if app is None else app.shared.status()
        if status is None or not status.configured:
            return None
        return {"away": status.away, "slow": status.slow, "servers": status.servers}

    def _database(self) -> dict[str, Any] | None:
        """How the database that servers share stands; None where none is. What is wrong stays in the log."""
        app = self._house.present()
        if app is None or app.store.server is None:
            return None
        return {"away": app.store.problem is not None}

    def _queue_s(self) -> float:
        """How long a page that is asked for now would wait."""
        app = self._house.present()
        return 0.0 if app is None else app.browsers.status().queue_s

    def _browsers(self) -> dict[str, Any] | None:
        """Their numbers; None while there are none. What went wrong last stays in the log: it names paths."""
        app = self._house.present()
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
