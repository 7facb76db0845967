"""Turns what the log tells of visits and engines into spans beneath the call that they belong to.

The SDK opens a span for each message, beneath the client's own, where a provider was set before the server
was built (`server.protocol`).
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from scraper.server.telemetry.logs import listening_to

_EVENTS = frozenset({"visit", "engine"})
_FINE = frozenset({"ok", "-"})


class SpanLogHandler(logging.Handler):
    """Makes a span of each event that says how long it took."""

    def __init__(self, tracer: trace.Tracer) -> None:
        super().__init__(logging.INFO)
        self._tracer = tracer

    def emit(self, record: logging.LogRecord) -> None:
        """One event, told in the task that did the work: its call's span is the current one."""
        if record.msg in _EVENTS:
            fields: Mapping[str, Any] = getattr(record, "fields", {})
            ended = time.time_ns()
            begun = ended - round(fields.get("total_ms", fields.get("ms", 0)) * 1_000_000)
            span = self._tracer.start_span(str(record.msg), start_time=begun)
            span.set_attributes({f"search_mcp.{name}": value for name, value in fields.items()})
            failed = str(fields.get("outcome", fields.get("error", "-")))
            if failed not in _FINE:
                span.set_attribute("error.type", failed)
                span.set_status(trace.StatusCode.ERROR)
            span.end(ended)


@contextlib.contextmanager
def sent(version: str, exporter: SpanExporter | None = None) -> Iterator[None]:
    """Send spans while the block runs, to where the usual OTEL_ variables say, or to `exporter`."""
    resource = Resource.create({SERVICE_NAME: "search-mcp", SERVICE_VERSION: version})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        with listening_to("scraper", SpanLogHandler(provider.get_tracer("search-mcp"))):
            yield
    finally:
        provider.shutdown()
