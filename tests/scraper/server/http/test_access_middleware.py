"""Every route is behind the rules: who is turned away, and how, over HTTP."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

import aiohttp
import pytest
import pytest_asyncio
from starlette.routing import Route
from starlette.types import ASGIApp

from scraper.server import application
from scraper.server.access import AccessRules
from scraper.server.http.uvicorn_server import open_sockets
from scraper.server.lifecycle import ServerContext, StopSignals, hold_services
from scraper.settings import Settings
from tests.scraper.process import LIMIT_S, Program, browsers_say, serving
from tests.scraper.server import stand_in
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.wire import HEADERS, call, initialize, open_session, tool_result

PAGE = "https://app.example"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """Start a server with two principals."""
    file = tmp_path_factory.mktemp("access") / "tokens"
    file.write_text("ann:one\nben:two\n")
    names = ("--allowed_hosts=search.lan", f"--allowed_origins={PAGE}")
    async with serving(*STAND_IN, "http", f"--tokens_file={file}", *names) as program:
        yield program


FOUR_MIB_AND_ONE = 4 * 1024 * 1024 + 1
ANN = {"Authorization": "Bearer one"}
BEN = {"Authorization": "Bearer two"}
NOBODY: dict[str, str] = {}
WRONG = {"Authorization": "Bearer wrong"}
BASIC_WRONG = {"Authorization": aiohttp.encode_basic_auth("one", "wrong")}
ANN_IN_A_BROWSER = {"Authorization": aiohttp.encode_basic_auth("anything", "one")}
ROUTES = {
    "/mcp": (401, 200),
    "/openai/mcp": (401, 404),
    "/health": (200, 200),
    "/ready": (200, 200),
    "/metrics": (401, 200),
    "/": (401, 200),
    "/people.js": (401, 200),
    "/people.css": (401, 200),
    "/clients.json": (401, 200),
    "/elements.js": (401, 200),
    "/history.js": (401, 200),
    "/requests.js": (401, 200),
    "/same_calls.js": (401, 200),
    "/search.js": (401, 200),
    "/tools.js": (401, 200),
    "/status": (401, 200),
    "/try": (401, 400),
    "/.well-known/oauth-protected-resource": (404, 404),
    "/nowhere": (401, 404),
}
"""Every route, and what it answers to nobody and to a caller; there are no second toolset and no issuer."""
PROBES = {"/health", "/ready", "/metrics"}


async def test_the_matrix_contains_every_route(monkeypatch: pytest.MonkeyPatch) -> None:
    made, paths = application._routes, set[str]()

    def noted(endpoints: Mapping[str, ASGIApp], others: Sequence[Route]) -> ASGIApp:
        paths.update(endpoints, (route.path for route in others))
        return made(endpoints, others)

    monkeypatch.setattr(application, "_routes", noted)
    stops = StopSignals()
    stops.note()  # it ends as soon as it listens
    async with hold_services(cast(Any, stand_in.App.open)) as holder, asyncio.timeout(LIMIT_S):
        service = ServerContext(Settings(), stand_in.TOOLS, holder, stops, "1", openai_tools=stand_in.TOOLS[:1])
        with open_sockets("127.0.0.1", 0) as sockets:
            await application.serve_application(service, AccessRules(frozenset()), sockets)
    assert paths == {path for path, (_, right) in ROUTES.items() if right != 404} | {"/openai/mcp"}


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example", **ANN}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "https://evil.example", **ANN}, 403),
        ({"Origin": "null", **ANN}, 403),
    ],
)
async def test_foreign_names_and_origins_are_stopped_on_every_route(
    guarded: Program, http: aiohttp.ClientSession, path: str, headers: dict[str, str], status: int
) -> None:
    if path in PROBES and "Host" in headers:
        pytest.skip("probes are answered under any name")
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        async with http.request(method, guarded.base + path, headers=headers) as answer:
            assert answer.status == status


@pytest.mark.parametrize("host", ["10.244.0.5:8105", "[2001:db8::1]:8000", "10.0.0.1", "search", "evil.example"])
async def test_probes_are_answered_under_any_name(guarded: Program, http: aiohttp.ClientSession, host: str) -> None:
    for path, token, status in (
        ("/health", NOBODY, 200),
        ("/ready", NOBODY, 200),
        ("/metrics", ANN, 200),
        ("/metrics", NOBODY, 401),
        ("/mcp", ANN, 421),  # it listens on loopback
    ):
        async with http.get(guarded.base + path, headers={"Host": host, **token}) as answer:
            assert answer.status == status
            assert path != "/health" or "version" not in await answer.json()


async def test_refused_requests_are_counted_by_reason(guarded: Program, http: aiohttp.ClientSession) -> None:
    refusals = {
        "host": {"Host": "evil.example"},
        "origin": {"Origin": "https://evil.example"},
        "token": WRONG,
        "no_token": NOBODY,
    }
    for reason, headers in refusals.items():
        async with http.get(guarded.base + "/status", headers=headers) as answer:
            assert ("invalid_token" in answer.headers.get("WWW-Authenticate", "")) is (reason == "token")
        await guarded.until(f"refused status=4.. reason={reason}")
    async with http.get(guarded.base + "/metrics", headers=ANN) as answer:
        counts = await answer.text()
    for reason in refusals:
        assert f'search_mcp_refused_requests_total{{reason="{reason}"}}' in counts


@pytest.mark.parametrize("path", ["/mcp/", "/tools/search/mcp", "/tools/search/mcp/"])
async def test_an_endpoint_has_several_spellings(guarded: Program, http: aiohttp.ClientSession, path: str) -> None:
    headers = {**HEADERS, **ANN, "X-Forwarded-Prefix": "/tools/search", "X-Forwarded-Proto": "https"}
    url = guarded.base + path
    async with http.post(url, headers=headers, json=initialize(), allow_redirects=False) as answer:
        assert answer.status == 200
    for spelling in ("/tools/search", "tools/search/"):
        headers["X-Forwarded-Prefix"] = spelling
        async with http.get(guarded.base + "/tools/search", headers=headers) as answer:
            assert answer.status == 200 and str(answer.url).endswith("/tools/search/")
        async with http.get(guarded.base + "/tools/search/people.js", headers=headers) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("Host: localhost\r\nHost: evil.example", 421),
        ("Host: evil.example\r\nHost: localhost", 421),
        ("Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example", 403),
        ("Host: localhost\r\nOrigin: http://[zz", 403),
        ("Accept: */*", 421),
        ("Host: localhost", 200),
    ],
)
async def test_a_name_or_origin_given_twice_or_not_at_all_is_not_ours(
    server: Program, headers: str, status: int
) -> None:
    port = int(server.base.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /status HTTP/1.1\r\n{headers}\r\n\r\n".encode())
    async with asyncio.timeout(LIMIT_S):
        assert (await reader.readline()).startswith(f"HTTP/1.1 {status} ".encode())
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://evil.example/status", 421),
        ("http://localhost@evil.example/status", 421),
        ("HTTP://evil.example:80/status", 421),
        ("http://localhost/status", 200),
        ("/status?http://evil.example/", 200),
    ],
)
async def test_a_foreign_host_in_the_request_line_is_not_ours(server: Program, target: str, status: int) -> None:
    port = int(server.base.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    async with asyncio.timeout(LIMIT_S):
        assert (await reader.readline()).startswith(f"HTTP/1.1 {status} ".encode())
    writer.close()
    await writer.wait_closed()


async def test_short_tokens_are_reported_at_the_start(guarded: Program) -> None:
    for name in ("ann", "ben"):
        await guarded.until(f"the token of {name} has fewer than 16 characters, so it may be guessed")


@pytest.mark.parametrize("path", ROUTES)
async def test_the_access_matrix(guarded: Program, http: aiohttp.ClientSession, path: str) -> None:
    without, right = ROUTES[path]
    posted = path in {"/mcp", "/openai/mcp", "/try"}
    method, message = ("POST", initialize()) if posted else ("GET", None)
    strangers = [(token, without) for token in (NOBODY, WRONG, BASIC_WRONG)]
    callers = [(token, right) for token in (ANN, BEN, ANN_IN_A_BROWSER)]
    for token, status in (*strangers, *callers):
        headers = {**HEADERS, "Host": "search.lan", **token}
        async with http.request(method, guarded.base + path, headers=headers, json=message) as answer:
            assert answer.status == status
            scheme = "Basic" if path == "/" else "Bearer"
            assert answer.headers.get("WWW-Authenticate", "").startswith(scheme) is (status == 401)


@pytest.mark.parametrize("path", ROUTES)
async def test_a_preflight_of_a_listed_origin_needs_no_token(
    guarded: Program, http: aiohttp.ClientSession, path: str
) -> None:
    asked = {
        "Origin": PAGE,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-session-id,mcp-protocol-version",
    }
    async with http.options(guarded.base + path, headers=asked) as answer:
        assert answer.status == 200
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        assert "POST" in answer.headers["Access-Control-Allow-Methods"]
        assert "Mcp-Session-Id" in answer.headers["Access-Control-Allow-Headers"]
        assert "Access-Control-Allow-Credentials" not in answer.headers
    async with http.options(guarded.base + path, headers={**asked, "Host": "evil.example"}) as answer:
        assert answer.status == (200 if path in PROBES else 421)
    async with http.options(guarded.base + path, headers={**asked, "Origin": "http://localhost:3000"}) as answer:
        assert answer.status == 403 and "Access-Control-Allow-Origin" not in answer.headers


async def test_a_listed_page_reads_answers_and_refusals(guarded: Program, http: aiohttp.ClientSession) -> None:
    for token, status in ((ANN, 200), (WRONG, 401)):
        headers = {**HEADERS, **token, "Origin": PAGE}
        async with http.post(guarded.url, headers=headers, json=initialize()) as answer:
            assert answer.status == status
            assert answer.headers["Access-Control-Allow-Origin"] == PAGE
            assert "Origin" in answer.headers["Vary"]
            assert "Mcp-Session-Id" in answer.headers["Access-Control-Expose-Headers"]
    headers = {**HEADERS, **ANN, "Origin": "http://localhost:3000"}
    async with http.post(guarded.url, headers=headers, json=initialize()) as answer:
        assert answer.status == 403 and "Access-Control-Allow-Origin" not in answer.headers


async def test_without_listed_origins_there_are_no_cors_headers(server: Program, http: aiohttp.ClientSession) -> None:
    headers = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    async with http.options(server.url, headers=headers) as answer:
        assert not any(name.startswith("Access-Control") for name in answer.headers)


async def test_each_token_is_a_principal_of_its_own(guarded: Program, http: aiohttp.ClientSession) -> None:
    for headers, name in ((ANN, "ann"), (BEN, "ben")):
        session = {"Mcp-Session-Id": await open_session(http, guarded.url, headers)}
        async with http.post(guarded.url, headers={**HEADERS, **headers, **session}, json=call("echo")) as answer:
            assert f'"principal": "{name}"' in await tool_result(answer)


async def test_a_session_belongs_to_the_token_that_opened_it(guarded: Program, http: aiohttp.ClientSession) -> None:
    session = {"Mcp-Session-Id": await open_session(http, guarded.url, ANN)}
    async with http.post(guarded.url, headers={**HEADERS, **BEN, **session}, json=call("echo")) as answer:
        assert answer.status == 404


async def test_a_call_of_a_lost_session_is_cancelled_by_its_own_caller_alone(
    guarded: Program, http: aiohttp.ClientSession
) -> None:
    lost = {**HEADERS, "Mcp-Session-Id": "of-another-life"}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}

    async def answer_to_slow() -> str:
        message = call("slow", {"seconds": 60}, number=7)
        async with http.post(guarded.url, headers={**lost, **ANN}, json=message) as answer:
            return await answer.text()

    slow = asyncio.create_task(answer_to_slow())
    await browsers_say(guarded.base, "active", 1, limit_s=LIMIT_S)
    for caller, ends in ((BEN, False), (ANN, True)):
        async with http.post(guarded.url, headers={**lost, **caller}, json=note) as noted:
            assert noted.status == 202
        await asyncio.wait({slow}, timeout=LIMIT_S if ends else 0.5)
        assert slow.done() is ends
    assert "Request cancelled" in slow.result()


async def test_a_body_above_four_mebibytes_is_refused(server: Program, http: aiohttp.ClientSession) -> None:
    async with http.post(server.url, headers=HEADERS, data=io.BytesIO(b" " * FOUR_MIB_AND_ONE)) as answer:
        assert answer.status == 413


@pytest.mark.parametrize("headers", [NOBODY, WRONG, ANN])
async def test_only_callers_see_the_version(
    guarded: Program, http: aiohttp.ClientSession, headers: dict[str, str]
) -> None:
    async with http.get(f"{guarded.base}/health", headers=headers) as answer:
        assert answer.status == 200 and ("version" in await answer.json()) is (headers is ANN)
