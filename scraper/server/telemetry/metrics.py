"""Serve Prometheus metrics: counters of log events, and the state of browser pool and cache.

Services log each event once, with fields, and the counters read the log. So no service depends on metrics, and log and
metrics never disagree.
"""

import asyncio
import contextlib
import functools
import logging
import platform
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import ServicesHolder
from scraper.values.text import read_table

if TYPE_CHECKING:
    from scraper.services import Services

_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120)
"""Seconds. Histogram buckets of the OpenTelemetry conventions for tool calls, up to twice the default deadline."""
_TEXTS = read_table(__package__, "metrics.toml")
_TOTALS: Mapping[str, str] = _TEXTS["totals"]
_STAGES = ("queued", "response", "judged", "settled", "captured", "total")
_STATUS_S = 2.0
"""Seconds to wait for the state of the cache. Without an answer, one scrape omits it."""
_METHODS = (
    "resources/list", "resources/read", "resources/search", "page/try",
    "tools/call", "tasks/get", "tasks/update", "tasks/cancel",
)  # fmt: skip
"""Requests that are logged as calls and have a value of the label `tool`; others count as "unknown".

`tools/call` is the start of a task.
"""


class Metrics(logging.Handler):
    """The metrics of one process."""

    def __init__(
        self,
        holder: "ServicesHolder[Services]",
        calls: CallDispatcher,
        tools: Collection[str],
        *,
        version: str = "unknown",
    ) -> None:
        """Register all metrics; `tools` are the allowed values of the label `tool`."""
        super().__init__(logging.INFO)
        self._holder = holder
        self._calls = calls
        # An unknown name comes from the client; each would be a label that is stored forever.
        self._names = frozenset(tools) | frozenset(_METHODS)
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        build = Info("search_mcp_build", "Version of the server.", registry=self._registry)
        build.info({"version": version, "python": platform.python_version()})
        self._calls_ended = self._counter("calls", "Completed calls.", "tool", "outcome")
        self._call_seconds = self._histogram("call_seconds", "Duration of calls.", "tool")
        self._characters = self._counter("answer_characters", "Characters of answers.", "tool")
        self._visits = self._counter("visits", "Visits to pages.", "tier", "rendered", "outcome")
        stage_help = "Time from the start of a visit to the end of a stage."
        self._stages = self._histogram("visit_stage_seconds", stage_help, "stage")
        self._engines = self._counter("engine_requests", "Requests to search engines.", "engine", "outcome")
        self._refused = self._counter("refused_requests", "Requests refused for their headers.", "reason")
        self._gauges = {
            name: Gauge(f"search_mcp_{name}", text, registry=self._registry) for name, text in _TEXTS["gauges"].items()
        }
        self._totals = _Totals()
        self._registry.register(self._totals)

    def route(self) -> Route:
        """Return the route of `/metrics`."""

        async def answer(_request: Request) -> Response:
            await self._update_gauges()
            return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

        return Route("/metrics", answer)

    def emit(self, record: logging.LogRecord) -> None:
        """Count one event."""
        fields: Mapping[str, Any] = getattr(record, "fields", {})
        match record.msg if fields else "":
            case "call":
                tool = fields["tool"] if fields["tool"] in self._names else "unknown"
                self._calls_ended(tool, fields.get("outcome", "error")).inc()
                self._call_seconds(tool).observe(fields["ms"] / 1000)
                self._characters(tool).inc(fields.get("chars", 0))
            case "visit":
                rendered = "yes" if fields.get("rendered") else "no"
                self._visits(fields["tier"], rendered, fields.get("outcome", "ok")).inc()
                for stage in _STAGES:
                    if f"{stage}_ms" in fields:
                        self._stages(stage).observe(fields[f"{stage}_ms"] / 1000)
            case "engine":
                error = str(fields["error"])
                outcome = error if error != "-" else "ok" if fields["rows"] else "empty"
                self._engines(str(fields["engine"]), outcome).inc()
            case "refused":
                self._refused(fields["reason"]).inc()

    async def _update_gauges(self) -> None:
        now: dict[str, float] = {"calls_running": self._calls.running, "draining": self._calls.draining, "ready": False}
        services = self._holder.present()
        if services is not None:
            browsers = services.browsers.status()
            now |= {
                "ready": browsers.ready,
                "visits_active": browsers.active,
                "visits_queued": browsers.queued,
                "queue_seconds": browsers.queue_s,
                "shared_state_away": services.shared.status().away,
                "servers": services.shared.status().servers,
                "queue_longest_seconds": browsers.longest_wait_s,
                "visits_rendering": browsers.rendering,
                "browsers": len(browsers.browsers),
                "browser_memory_bytes": sum(browser.memory_bytes or 0 for browser in browsers.browsers),
                "browser_restarts": browsers.restarts,
                "third_parties_refused": browsers.refused_hosts,
            }
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STATUS_S):
                    cache = await services.pages.stats()
                for name in ("usable", "pages", "bytes", "hits", "misses", "lost"):
                    now[f"cache_{name}"] = getattr(cache, name)
        for name, value in now.items():
            if name in _TOTALS:
                self._totals.values[name] = value
            else:
                self._gauges[name].set(value)

    # The children of a metric are cached by labels, because a lookup takes longer than counting.

    def _counter(self, name: str, text: str, *labels: str) -> Callable[..., Counter]:
        return functools.cache(Counter(f"search_mcp_{name}", text, labels, registry=self._registry).labels)

    def _histogram(self, name: str, text: str, *labels: str) -> Callable[..., Histogram]:
        metric = Histogram(f"search_mcp_{name}", text, labels, registry=self._registry, buckets=_SECONDS)
        return functools.cache(metric.labels)


class _Totals(Collector):
    """Counters whose values other services count. `rate()` of Prometheus handles their reset at a restart."""

    def __init__(self) -> None:
        self.values = dict.fromkeys(_TOTALS, 0.0)

    def collect(self) -> Iterator[CounterMetricFamily]:
        for name, value in self.values.items():
            yield CounterMetricFamily(f"search_mcp_{name}", _TOTALS[name], value=value)
