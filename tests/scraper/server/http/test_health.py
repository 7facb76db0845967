"""What orchestrators are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import Request

from browsers.pool.browser_pool import BrowserState
from scraper.server.application import Health
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.limits import CallLimiter
from scraper.server.lifecycle import hold_services
from scraper.settings import Settings
from scraper.store.factory import open_store
from tests.scraper.process import Program
from tests.scraper.server.stand_in import App, Status


async def asked(
    path: str, change: Callable[[Status, CallDispatcher], object], *, opened: bool = True
) -> tuple[int, dict[str, Any]]:
    """Status and body of a probe, in a state that `change` makes."""
    async with hold_services(App.open) as holder:
        calls = CallDispatcher((), holder, deadline_s=55)
        if opened:
            change((await holder.services()).browsers.state, calls)
        routes = {route.path: route for route in Health(holder, calls, queue_limit=8, version="1.2.3").routes()}
        answer = await routes[path].endpoint(Request({"type": "http"}))
        return answer.status_code, json.loads(answer.body)


def leave(_status: Status, _calls: CallDispatcher) -> None:
    """Change nothing."""


async def test_health_shows_version_and_numbers() -> None:
    status, body = await asked("/health", lambda state, _: setattr(state, "active", 3))
    assert status == 200
    assert (body["status"], body["version"], body["calls"], body["draining"]) == ("ok", "1.2.3", 0, False)
    assert body["browsers"]["active"] == 3
    assert isinstance(body["documents"]["confinement_lacks"], list)


async def test_health_shows_no_version_without_a_token() -> None:
    async with hold_services(App.open) as holder:
        browser = BrowserState("light", "156.0.1.2", True, 0, 0, 0, 0, 0, 0.0, None)
        (await holder.services()).browsers.state.browsers = (browser,)
        health = Health(holder, CallDispatcher((), holder, deadline_s=55), queue_limit=8, version="1.2.3")
        (route,) = (route for route in health.routes() if route.path == "/health")
        bodies = []
        for is_anonymous in (False, True):
            answer = await route.endpoint(Request({"type": "http", "search_mcp.anonymous": is_anonymous}))
            bodies.append(json.loads(answer.body))
    assert bodies[0]["version"] == "1.2.3" and bodies[0]["browsers"]["processes"][0]["version"] == "156.0.1.2"
    assert "version" not in json.dumps(bodies[1]) and bodies[1]["browsers"]["processes"][0]["tier"] == "light"


async def test_health_is_fine_while_the_browsers_start() -> None:
    assert (await asked("/health", leave, opened=False))[0] == 200
    assert (await asked("/health", leave, opened=False))[1]["browsers"] is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda state, _: setattr(state, "ready", False), "no browser answers"),
        (lambda _, calls: setattr(calls, "draining", True), "shutting down"),
        (lambda state, _: setattr(state, "queued", 8), "full"),
    ],
)
async def test_not_ready_has_a_reason(change: Callable[[Status, CallDispatcher], object], reason: str) -> None:
    assert await asked("/ready", change) == (503, {"ready": False, "reason": reason, "queue_seconds": 0})


async def test_unready_while_as_many_calls_run_as_may() -> None:
    turns = CallLimiter(limit=1)
    async with hold_services(App.open) as holder:
        await holder.services()
        calls = CallDispatcher((), holder, deadline_s=55, limiter=turns)
        health = Health(holder, calls, queue_limit=8, version="1.2.3")
        (ready,) = (route for route in health.routes() if route.path == "/ready")
        async with turns.admit("ann"):
            answer = await ready.endpoint(Request({"type": "http"}))
            assert (answer.status_code, json.loads(answer.body)["reason"]) == (503, "full")
        assert (await ready.endpoint(Request({"type": "http"}))).status_code == 200


async def test_ready_when_a_browser_answers_and_there_is_room() -> None:
    body = {"ready": True, "queue_seconds": 0}
    assert await asked("/ready", lambda state, _: setattr(state, "queued", 7)) == (200, body)


async def test_the_queue_is_reported_in_seconds() -> None:
    status, body = await asked("/ready", lambda state, _: setattr(state, "queue_s", 2.5))
    assert (status, body["queue_seconds"]) == (200, 2.5)


async def test_not_ready_before_anything_is_open() -> None:
    assert (await asked("/ready", leave, opened=False))[0] == 503


async def test_the_probes_answer_over_http(server: Program, http: object) -> None:
    for path in ("/health", "/ready"):
        async with http.get(server.base + path) as answer:  # type: ignore[attr-defined]
            assert answer.status == 200


async def test_an_unavailable_database_is_noted_and_the_server_stays_ready() -> None:
    url = "postgresql://keeper:not-to-be-told@127.0.0.1:1/pages"
    async with hold_services(App.open) as holder:
        app = await holder.services()
        await app.store.close()
        app.store = open_store(Settings(database_url=url))
        assert app.store.server is not None
        await app.store.server.check(5.0)
        health = Health(holder, CallDispatcher((), holder, deadline_s=55), queue_limit=8, version="1.2.3")
        routes = {route.path: route for route in health.routes()}
        text = {}
        for path in ("/ready", "/health"):
            answer = await routes[path].endpoint(Request({"type": "http"}))
            text[path] = json.loads(answer.body)
        assert text["/ready"] == {"ready": True, "queue_seconds": 0, "note": "database away"}
        assert text["/health"]["database"] == {"away": True}
        await app.store.close()
