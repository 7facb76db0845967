"""Counts what the log tells of, and shows it with the state of pool and cache in the form of Prometheus.

Services tell each event once, as a line of the log with fields; whoever wants numbers of it listens there. So
no service knows of metrics, and the two can never disagree.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle.app_holder import AppHolder

if TYPE_CHECKING:
    from scraper.app import App

_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120)
"""Those of the OpenTelemetry conventions for tool calls, to twice the usual deadline."""
_STAGES = ("queued", "response", "judged", "settled", "captured", "total")
_STATUS_S = 2.0
"""A cache that does not answer is left out of one look rather than holding up the collector."""
METHODS = ("resources/list", "resources/read", "resources/search", "page/try")
"""Requests beside tool calls that are told of as calls."""

M = TypeVar("M", Counter, Histogram)
Fields = Mapping[str, Any]


class Metrics(logging.Handler):
    """The numbers of one process."""

    def __init__(self, house: AppHolder[App], calls: CallDispatcher, tools: Collection[str]) -> None:
        super().__init__(logging.INFO)
        self._house = house
        self._calls = calls
        # A name that we do not offer is the client's word: as a label, each would be kept for ever.
        self._names = frozenset(tools) | frozenset(METHODS)
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._count_calls()
        self._count_visits()
        self._gauges = {name: self._gauge(name, text) for name, text in _GAUGES.items()}
        self._on: Mapping[str, Callable[[Fields], None]] = {
            "call": self._call,
            "visit": self._visit,
            "engine": self._engine,
        }

    def route(self) -> Route:
        """`/metrics`."""
        return Route("/metrics", self._answer)

    def emit(self, record: logging.LogRecord) -> None:
        """Count one event."""
        fields: Fields = getattr(record, "fields", {})
        count = self._on.get(record.msg)
        if fields and count is not None:
            count(fields)

    async def _answer(self, _request: Request) -> Response:
        await self._look()
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    def _count_calls(self) -> None:
        self._calls_ended = _by_label(self._counter("calls", "Calls that have ended.", "tool", "outcome"))
        self._call_seconds = _by_label(self._histogram("call_seconds", "Length of calls.", "tool"))
        self._characters = _by_label(self._counter("answer_characters", "Characters of answers.", "tool"))

    def _count_visits(self) -> None:
        self._visits = _by_label(self._counter("visits", "Visits to pages.", "tier", "rendered", "outcome"))
        self._stages = _by_label(
            self._histogram(
                "visit_stage_seconds", "From the start of a visit to the end of a stage.", "stage"
            )
        )
        self._engines = _by_label(
            self._counter("engine_requests", "Search engines asked.", "engine", "outcome")
        )

    def _call(self, fields: Fields) -> None:
        tool = fields["tool"] if fields["tool"] in self._names else "unknown"
        self._calls_ended(tool, fields.get("outcome", "error")).inc()
        self._call_seconds(tool).observe(fields["ms"] / 1000)
        self._characters(tool).inc(fields.get("chars", 0))

    def _visit(self, fields: Fields) -> None:
        rendered = "yes" if fields.get("rendered") else "no"
        self._visits(fields["tier"], rendered, fields.get("outcome", "ok")).inc()
        for stage in _STAGES:
            if f"{stage}_ms" in fields:
                self._stages(stage).observe(fields[f"{stage}_ms"] / 1000)

    def _engine(self, fields: Fields) -> None:
        error = str(fields["error"])
        outcome = error if error != "-" else "ok" if fields["rows"] else "empty"
        self._engines(str(fields["engine"]), outcome).inc()

    async def _look(self) -> None:
        """Bring what stands at this moment up to date."""
        now: dict[str, float] = {
            "calls_running": self._calls.running,
            "draining": self._calls.draining,
            "ready": False,
        }
        app = self._house.present()
        if app is not None:
            browsers = app.browsers.status()
            now |= {
                "ready": browsers.ready,
                "visits_active": browsers.active,
                "visits_queued": browsers.queued,
                "queue_seconds": browsers.queue_s,
                "shared_state_away": app.shared.status().away,
                "servers": app.shared.status().servers,
                "queue_longest_seconds": browsers.longest_wait_s,
                "visits_rendering": browsers.rendering,
                "browsers": len(browsers.browsers),
                "browser_restarts": browsers.restarts,
            }
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STATUS_S):
                    now |= await _cache(app)
        for name, value in now.items():
            self._gauges[name].set(value)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"search_mcp_{name}", text, labels, registry=self._registry)

    def _histogram(self, name: str, text: str, *labels: str) -> Histogram:
        return Histogram(f"search_mcp_{name}", text, labels, registry=self._registry, buckets=_SECONDS)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"search_mcp_{name}", text, registry=self._registry)


def _by_label(metric: M) -> Callable[..., M]:
    """The part of a metric that has these labels: to look it up anew takes longer than to count."""
    return functools.cache(metric.labels)


_GAUGES = {
    "calls_running": "Calls under way.",
    "draining": "1 while the server is shutting down.",
    "ready": "1 while a browser answers.",
    "visits_active": "Visits from their call to their answer, those that wait included.",
    "visits_queued": "Visits that wait for a slot.",
    "queue_seconds": "How long a page that is asked for now would wait for a free slot.",
    "queue_longest_seconds": "How long the visit that waits longest has waited, also for its host's turn.",
    "visits_rendering": "Pages being rendered.",
    "browsers": "Browser processes.",
    "browser_restarts": "Browsers that were started anew since the server started.",
    "shared_state_away": "1 while this server is on its own although it should share its state.",
    "servers": "Servers that share one state, as last seen.",
    "cache_usable": "1 while the page cache can be used.",
    "cache_pages": "Pages kept.",
    "cache_bytes": "Size of the page cache.",
    "cache_hits": "Pages given out of the cache since the server started.",
    "cache_misses": "Pages looked for in vain since the server started.",
    "cache_lost": "Pages that could not be kept since the server started.",
}


async def _cache(app: App) -> dict[str, float]:
    stats = await app.pages.stats()
    return {
        "cache_usable": stats.usable,
        "cache_pages": stats.pages,
        "cache_bytes": stats.bytes,
        "cache_hits": stats.hits,
        "cache_misses": stats.misses,
        "cache_lost": stats.lost,
    }
