"""Probes for orchestrators: `/health` (the process runs) and `/ready` (it accepts work)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.http.middleware import is_anonymous
from scraper.server.lifecycle import ServicesHolder
from scraper.workers import sandbox

if TYPE_CHECKING:
    from scraper.services import Services


class Health:
    """The two probes of a server."""

    def __init__(
        self, holder: ServicesHolder[Services], calls: CallDispatcher, *, queue_limit: int, version: str
    ) -> None:
        """Report the state of the services in `holder` and of `calls`."""
        self._holder = holder
        self._calls = calls
        self._queue_limit = queue_limit
        self._version = version

    def routes(self) -> list[Route]:
        """Return the routes of the probes."""
        return [Route("/health", self._health), Route("/ready", self._ready)]

    async def _health(self, request: Request) -> Response:
        services = self._holder.present()
        shows_versions = not is_anonymous(request.scope)
        version = {"version": self._version} if shows_versions else {}
        return JSONResponse(
            {
                "status": "ok",
                **version,
                "draining": self._calls.draining,
                "calls": self._calls.running,
                "browsers": None if services is None else _browsers(services, shows_versions=shows_versions),
                "shared": None if services is None else _shared(services),
                "database": None if services is None else _database(services),
                "documents": {"confinement_lacks": list(sandbox.detect_capabilities().missing)},
            }
        )

    async def _ready(self, _request: Request) -> Response:
        services = self._holder.present()
        # The expected wait of a new visit.
        queue = {"queue_seconds": 0.0 if services is None else round(services.browsers.status().queue_s, 3)}
        reason = self._not_ready_reason(services)
        if reason is not None or services is None:
            answer = {"ready": False, "reason": reason, **queue}
            return JSONResponse(answer, status_code=503, headers={"Retry-After": "1"})
        # Problems that do not prevent work.
        problems = ["shared state away"] if services.shared.status().away else []
        problems += ["database away"] if services.store.problem is not None else []
        return JSONResponse({"ready": True, **queue, **({"note": ", ".join(problems)} if problems else {})})

    def _not_ready_reason(self, services: Services | None) -> str | None:
        """Return why the server should get no calls now, or None."""
        if self._calls.draining:
            return "shutting down"
        if services is None or not services.browsers.status().ready:
            return "no browser answers"
        if self._calls.full or services.browsers.status().queued >= max(1, self._queue_limit):
            return "full"
        return None


def _shared(services: Services) -> dict[str, Any] | None:
    """Return the status of the shared state, or None without one. Its address is only in the log."""
    status = services.shared.status()
    return {"away": status.away, "slow": status.slow, "servers": status.servers} if status.configured else None


def _database(services: Services) -> dict[str, Any] | None:
    """Return the status of the shared database, or None without one. The problem is only in the log."""
    return None if services.store.server is None else {"away": services.store.problem is not None}


def _browsers(services: Services, *, shows_versions: bool) -> dict[str, Any]:
    """Return the browsers' state without errors, which contain paths."""
    status = services.browsers.status()
    processes = [dataclasses.asdict(browser) for browser in status.browsers]
    if not shows_versions:
        for process in processes:
            del process["version"]
    return {
        "ready": status.ready,
        "active": status.active,
        "queued": status.queued,
        "rendering": status.rendering,
        "restarts": status.restarts,
        "processes": processes,
    }
