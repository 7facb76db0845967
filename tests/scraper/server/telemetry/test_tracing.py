"""Spans of visits and engines beneath the call that they belong to."""

from __future__ import annotations

from asyncio.subprocess import PIPE

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.scraper.process import output_of, running
from tests.scraper.server.pipe import ask
from tests.scraper.server.wire import initialize

SCRIPT = """
import logging
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scraper.server.telemetry.tracing import send_spans
logging.getLogger("scraper").setLevel(logging.INFO)
log, exporter = logging.getLogger("scraper.of.a.test"), InMemorySpanExporter()
with send_spans("1.2.3", exporter):
    with trace.get_tracer("a client").start_as_current_span("tools/call fetch"):
        log.info("visit", extra={"fields": {"host": "a.example", "total_ms": 1500}})
        log.info("engine", extra={"fields": {"engine": "bing", "rows": 0, "error": "captcha"}})
        log.info("nothing of this kind")
visit, engine, call = exporter.get_finished_spans()
assert visit.parent.span_id == engine.parent.span_id == call.context.span_id
assert visit.end_time - visit.start_time == 1_500_000_000
assert visit.attributes["search_mcp.host"] == "a.example" and visit.status.is_unset
assert engine.attributes["error.type"] == "captcha" and not engine.status.is_ok
assert visit.resource.attributes["service.name"] == "search-mcp"
print("as told")
"""


async def test_events_become_spans_beneath_their_call() -> None:
    # In a process of its own: a provider of spans is set once in the life of a process.
    output = await output_of("-c", SCRIPT)
    assert (output.code, output.out) == (0, "as told\n"), output.err


async def test_spans_of_a_conversation_reach_the_collector() -> None:
    taken = list[bytes]()

    async def take(request: web.Request) -> web.Response:
        taken.append(await request.read())
        return web.Response()

    collector = web.Application()
    collector.router.add_post("/v1/traces", take)
    async with TestServer(collector) as server:
        env = {
            "SEARCH_MCP_TRACES": "yes",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        }
        command = ("-m", "scraper.cli.main", "stdio")
        async with running(*command, env=env, stdin=PIPE, stdout=PIPE) as program:
            await ask(program, initialize())
            assert program.process.stdin is not None
            program.process.stdin.close()
            assert await program.ended() == 0
    assert any(b"search-mcp" in sent and b"initialize" in sent for sent in taken)


async def test_spans_are_off_by_default() -> None:
    output = await output_of("-X", "importtime", "-m", "scraper.cli.main", "stdio")
    assert output.code == 0
    assert "opentelemetry.sdk" not in output.err
