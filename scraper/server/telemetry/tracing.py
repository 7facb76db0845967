"""Create OpenTelemetry spans from the log events of visits and engines, below the span of their call.

The SDK opens a span for each message if a provider is set before the server is built (`server.protocol.mcp_server`).
"""

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

from scraper.server.telemetry.logs import attach_handler


class _SpanLogHandler(logging.Handler):
    def __init__(self, tracer: trace.Tracer) -> None:
        super().__init__(logging.INFO)
        self._tracer = tracer

    def emit(self, record: logging.LogRecord) -> None:
        """Create the span of one event below the current span, which is that of the tool call."""
        if record.msg in {"visit", "engine"}:
            fields: Mapping[str, Any] = getattr(record, "fields", {})
            end = time.time_ns()
            start = end - round(fields.get("total_ms", fields.get("ms", 0)) * 1_000_000)
            span = self._tracer.start_span(str(record.msg), start_time=start)
            span.set_attributes({f"search_mcp.{name}": value for name, value in fields.items()})
            outcome = str(fields.get("outcome", fields.get("error", "-")))
            if outcome not in {"ok", "-"}:
                span.set_attribute("error.type", outcome)
                span.set_status(trace.StatusCode.ERROR)
            span.end(end)


@contextlib.contextmanager
def send_spans(version: str, exporter: SpanExporter | None = None) -> Iterator[None]:
    """Send spans while the block runs, to `exporter` or to the destination of the OTEL_ variables."""
    resource = Resource.create({SERVICE_NAME: "search-mcp", SERVICE_VERSION: version})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        with attach_handler("scraper", _SpanLogHandler(provider.get_tracer("search-mcp"))):
            yield
    finally:
        provider.shutdown()
