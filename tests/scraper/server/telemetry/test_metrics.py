"""What a collector reads at /metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import platform

import aiohttp
from mcp import Client
from prometheus_client.parser import text_string_to_metric_families

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import hold_services
from scraper.server.telemetry.logs import attach_handler
from scraper.server.telemetry.metrics import Metrics
from scraper.store.protocols import NullPageStore, PageStoreStats
from tests.scraper.process import LIMIT_S, browsers_say, serving
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.stand_in import App
from tests.scraper.server.wire import text_of


async def numbers(base: str) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, in the order of their names."""
    async with aiohttp.ClientSession() as client, client.get(base + "/metrics") as answer:
        assert answer.status == 200
        assert answer.content_type == "text/plain"
        return samples(await answer.text())


def samples(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_calls_are_counted_by_tool_and_outcome() -> None:
    async with serving(*STAND_IN, "http") as program:
        async with Client(program.url) as client:
            for name in ("echo", "echo", "fails", "made-up-by-the-client"):
                await client.call_tool(name, {})
        found = await numbers(program.base)
        assert found["search_mcp_calls_total", "ok", "echo"] == 2
        assert found["search_mcp_calls_total", "error", "fails"] == 1
        assert found["search_mcp_calls_total", "error", "unknown"] == 1
        assert not any("made-up" in label for key in found for label in key)
        assert found["search_mcp_call_seconds_count", "echo"] == 2
        assert found["search_mcp_answer_characters_total", "echo"] > 40
        assert found[("search_mcp_calls_running",)] == 0
        assert found[("search_mcp_ready",)] == 1


async def test_busy_calls_and_running_ones_are_seen() -> None:
    async with serving(*STAND_IN, "http", "--call_limit=1") as program, Client(program.url) as client:
        slow = asyncio.create_task(client.call_tool("slow", {"seconds": 50}))
        await browsers_say(program.base, "active", 1, limit_s=LIMIT_S)
        busy = await client.call_tool("echo", {})
        assert busy.is_error
        assert text_of(busy) == "The server is busy: 1 calls are under way. Try again in 2 s."
        found = await numbers(program.base)
        assert found["search_mcp_calls_total", "busy", "echo"] == 1
        assert found[("search_mcp_visits_active",)] == 1
        async with aiohttp.ClientSession() as http, http.get(program.base + "/ready") as answer:
            assert (answer.status, (await answer.json())["reason"]) == (503, "full")
        slow.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await slow


async def test_the_queue_is_reported_in_seconds() -> None:
    async with hold_services(App.open) as holder:
        state = (await holder.services()).browsers.state
        state.queue_s, state.longest_wait_s = 2.5, 7.0
        answer = await Metrics(holder, CallDispatcher((), holder, deadline_s=55), ()).route().endpoint(None)
        found = samples(answer.body.decode())
    assert found[("search_mcp_queue_seconds",)] == 2.5
    assert found[("search_mcp_queue_longest_seconds",)] == 7


class Kept(NullPageStore):
    """A cache with something in it."""

    async def stats(self) -> PageStoreStats:
        """Its numbers."""
        return PageStoreStats(usable=True, pages=7, bytes=8_000, hits=3, misses=2, lost=1)


async def test_pool_and_cache_are_shown_as_they_stand() -> None:
    async with hold_services(App.open) as holder:
        app = await holder.services()
        app.pages = Kept()
        app.browsers.state.restarts, app.browsers.state.rendering = 4, 5
        answer = await Metrics(holder, CallDispatcher((), holder, deadline_s=55), ()).route().endpoint(None)
        found = samples(answer.body.decode())
    shown = {name: found[f"search_mcp_{name}",] for name in ("browser_restarts_total", "visits_rendering")}
    assert shown == {"browser_restarts_total": 4, "visits_rendering": 5}
    cache = {name: found[f"search_mcp_cache_{name}",] for name in ("usable", "pages", "bytes")}
    assert cache == {"usable": 1, "pages": 7, "bytes": 8_000}
    used = {name: found[f"search_mcp_cache_{name}",] for name in ("hits_total", "misses_total", "lost_total")}
    assert used == {"hits_total": 3, "misses_total": 2, "lost_total": 1}
    assert found["search_mcp_build_info", platform.python_version(), "unknown"] == 1


async def test_visits_and_engines_are_counted_by_what_the_log_tells_of_them() -> None:
    async with hold_services(App.open) as holder:
        metrics = Metrics(holder, CallDispatcher((), holder, deadline_s=55), ())
        log = logging.getLogger("scraper.of.a.test")
        log.setLevel(logging.INFO)
        with attach_handler("scraper", metrics):
            visit = {"tier": "light", "rendered": True, "queued_ms": 3, "response_ms": 40, "total_ms": 2_000}
            log.info("visit", extra={"fields": visit})
            log.info("visit", extra={"fields": {"tier": "light", "outcome": "NameNotResolved"}})
            for rows, error in ((9, "-"), (0, "-"), (0, "captcha")):
                log.info("engine", extra={"fields": {"engine": "bing", "rows": rows, "error": error}})
            log.info("something else", extra={"fields": {"tool": 1}})
            log.info("visit")
        log.info("engine", extra={"fields": {"engine": "bing", "rows": 1, "error": "-"}})
        answer = await metrics.route().endpoint(None)
        found = samples(answer.body.decode())
    assert found["search_mcp_visits_total", "ok", "yes", "light"] == 1
    assert found["search_mcp_visits_total", "NameNotResolved", "no", "light"] == 1
    assert found["search_mcp_visit_stage_seconds_sum", "total"] == 2
    assert found["search_mcp_visit_stage_seconds_count", "queued"] == 1
    for outcome in ("ok", "empty", "captcha"):
        assert found["search_mcp_engine_requests_total", "bing", outcome] == 1
