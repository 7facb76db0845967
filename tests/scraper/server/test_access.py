"""Who may talk to the server."""

from __future__ import annotations

import asyncio
import hmac
import io
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
import pytest_asyncio
from starlette.routing import Route
from starlette.types import ASGIApp

from scraper.server import web
from scraper.server.access import AccessRules, CannotStart, Key, is_loopback, read_keys, rules_for
from scraper.server.household import household
from scraper.server.listen import listening
from scraper.server.service import Service
from scraper.server.signals import Stops
from scraper.settings import Settings
from tests.scraper.process import LIMIT_S, Program, browsers_say, running, serving
from tests.scraper.server import stand_in
from tests.scraper.server.conftest import STAND_IN
from tests.scraper.server.wire import HEADERS, call, initialize, open_session, tool_result


def rules(host: str = "127.0.0.1", **given: object) -> AccessRules:
    """Rules as the server makes them, with nothing set but what is given."""
    nothing = {
        "hosts": (),
        "origins": (),
        "keys": (),
        "allow_unauthenticated": False,
        "open_paths": frozenset(),
    }
    return rules_for(host, **{**nothing, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST"])
def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    assert rules(host).keys == ()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "10.0.0.1"])
def test_an_open_address_without_a_token_is_refused_and_both_ways_out_are_named(host: str) -> None:
    with pytest.raises(CannotStart) as refusal:
        rules(host)
    assert "SEARCH_MCP_TOKEN" in str(refusal.value)
    assert "--allow-unauthenticated" in str(refusal.value)


def test_an_open_address_is_allowed_with_a_token_or_when_said_so() -> None:
    assert rules("0.0.0.0", keys=(Key("a", "t"),)).keys
    assert rules("0.0.0.0", allow_unauthenticated=True).keys == ()


@pytest.mark.parametrize(
    "header",
    [
        "127.0.0.1:8000",
        "localhost",
        "LocalHost:1",
        "localhost.:80",
        "[::1]:8000",
        "[::1]",
        "search.lan",
        "b.lan:9",
    ],
)
def test_our_names_are_known(header: str) -> None:
    assert rules(hosts=("search.lan", "b.lan:9")).knows_host(header)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8000",
        "b.lan:10",
        "b.lan",
        "evil.example@localhost",
        "localhost:80@evil.example",
        "localhost:80x",
        "[::1",
        "[::1]evil",
        "::1",
        "0.0.0.0:8000",
    ],
)
def test_other_names_are_not(header: str) -> None:
    assert not rules("0.0.0.0", hosts=("search.lan", "b.lan:9"), allow_unauthenticated=True).knows_host(
        header
    )


@pytest.mark.parametrize(
    "origin", [None, "http://localhost:3000", "https://127.0.0.1", "https://app.example"]
)
def test_our_origins_are_known(origin: str | None) -> None:
    assert rules(origins=("https://app.example/",)).knows_origin(origin)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.example",
        "http://app.example",
        "file://",
        "localhost",
        "http://[localhost]",
        "http://[zz",
    ],
)
def test_other_origins_are_not(origin: str) -> None:
    assert not rules(origins=("https://app.example",)).knows_origin(origin)


def test_a_token_names_its_principal() -> None:
    guarded = rules(keys=(Key("ann", "one"), Key("ben", "two")))
    assert guarded.principal("Bearer one") == "ann"
    assert guarded.principal("bearer  two") == "ben"


@pytest.mark.parametrize(
    "header", ["", "one", "Basic one", "Bearer", "Bearer ", "Bearer o", "Bearer ones", "Bearer ö"]
)
def test_anything_else_names_nobody(header: str) -> None:
    assert rules(keys=(Key("ann", "one"),)).principal(header) is None


def test_the_time_of_a_refusal_says_nothing_about_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def compare(given: bytes, right: bytes) -> bool:
        compared.append(right)
        return given == right

    monkeypatch.setattr(hmac, "compare_digest", compare)
    guarded = rules(keys=(Key("ann", "one"), Key("ben", "two")))
    assert guarded.principal("Bearer one") == "ann"
    assert guarded.principal("Bearer wrong") is None
    assert compared == [b"one", b"two"] * 2


def test_tokens_come_from_a_file_of_names(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# who may call\nann: one\n\nben:two:with-colon\n")
    assert read_keys("zero", file) == (
        Key("default", "zero"),
        Key("ann", "one"),
        Key("ben", "two:with-colon"),
    )


def test_a_file_of_another_system_is_read_alike(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(b"\xef\xbb\xbfann:one\r\n\r\n  ben\t:\ttwo  \r\n")
    assert read_keys(None, file) == (Key("ann", "one"), Key("ben", "two"))


def test_a_caller_may_have_an_old_and_a_new_token(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("ann:old\nann:new\n")
    guarded = rules(keys=read_keys(None, file))
    assert [guarded.principal(f"Bearer {token}") for token in ("old", "new")] == ["ann", "ann"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("ann", "line 1: write name:token"),
        ("ann:", "line 1: write name:token"),
        ("# x\n:one", "line 2: write name:token"),
        ("", "holds no name:token line"),
        ("# nobody\n", "holds no name:token line"),
        ("ann:one two", "visible ASCII characters"),
        ("ann:t\u00f6ken", "visible ASCII characters"),
        ("ann:to\u200bken", "visible ASCII characters"),
        ("a\u200bnn:one", "cannot be seen"),
        ("ann:one\nben:one", "ann and ben have the same token"),
    ],
)
def test_a_file_that_names_nobody_for_certain_is_refused(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(CannotStart, match=why):
        read_keys(None, file)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(b"\xff\xfe\x00")
    for path in (file, tmp_path / "gone", tmp_path):
        with pytest.raises(CannotStart, match="cannot be read"):
            read_keys(None, path)


def test_a_single_token_is_one_that_can_be_sent() -> None:
    with pytest.raises(CannotStart, match="SEARCH_MCP_TOKEN: a token is made of visible ASCII"):
        read_keys("two words", None)


def test_a_token_is_never_shown() -> None:
    assert "secret" not in repr(Key("ann", "secret"))


PAGE = "https://app.example"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """A server with two principals."""
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
    "/status": (401, 200),
    "/try": (401, 400),
    "/.well-known/oauth-protected-resource": (404, 404),
    "/nowhere": (401, 404),
}
"""Every route, and what it answers to nobody and to a caller; there are no second toolset and no issuer."""


async def test_every_route_that_there_is_stands_in_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    made, paths = web._routes, set[str]()

    def noted(endpoints: Mapping[str, ASGIApp], others: Sequence[Route]) -> ASGIApp:
        paths.update(endpoints, (route.path for route in others))
        return made(endpoints, others)

    monkeypatch.setattr(web, "_routes", noted)
    stops = Stops()
    stops.note()  # it ends as soon as it listens
    async with household(cast(Any, stand_in.App.open)) as house, asyncio.timeout(LIMIT_S):
        service = Service(Settings(), stand_in.TOOLS, house, stops, "1", pair=stand_in.TOOLS[:1])
        with listening("127.0.0.1", 0) as sockets:
            await web.serve(service, rules(), sockets)
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
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        async with http.request(method, guarded.base + path, headers=headers) as answer:
            assert answer.status == status


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
    writer.write(f"GET /health HTTP/1.1\r\n{headers}\r\n\r\n".encode())
    async with asyncio.timeout(LIMIT_S):
        assert (await reader.readline()).startswith(f"HTTP/1.1 {status} ".encode())
    writer.close()
    await writer.wait_closed()


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
async def test_a_listed_page_is_told_that_it_may_call_before_it_sends_a_token(
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
        assert answer.status == 421
    # A page of this machine may call, by its Origin, and is not shown what comes back.
    async with http.options(
        guarded.base + path, headers={**asked, "Origin": "http://localhost:3000"}
    ) as answer:
        assert "Access-Control-Allow-Origin" not in answer.headers


async def test_a_listed_page_reads_answers_and_refusals(
    guarded: Program, http: aiohttp.ClientSession
) -> None:
    for token, status in ((ANN, 200), (WRONG, 401)):
        headers = {**HEADERS, **token, "Origin": PAGE}
        async with http.post(guarded.url, headers=headers, json=initialize()) as answer:
            assert answer.status == status
            assert answer.headers["Access-Control-Allow-Origin"] == PAGE
            assert "Origin" in answer.headers["Vary"]
            assert "Mcp-Session-Id" in answer.headers["Access-Control-Expose-Headers"]
    headers = {**HEADERS, **ANN, "Origin": "http://localhost:3000"}
    async with http.post(guarded.url, headers=headers, json=initialize()) as answer:
        assert "Access-Control-Allow-Origin" not in answer.headers


async def test_no_page_is_told_anything_where_none_is_listed(
    server: Program, http: aiohttp.ClientSession
) -> None:
    headers = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    async with http.options(server.url, headers=headers) as answer:
        assert not any(name.startswith("Access-Control") for name in answer.headers)


async def test_each_token_is_a_principal_of_its_own(guarded: Program, http: aiohttp.ClientSession) -> None:
    for headers, name in ((ANN, "ann"), (BEN, "ben")):
        session = {"Mcp-Session-Id": await open_session(http, guarded.url, headers)}
        async with http.post(
            guarded.url, headers={**HEADERS, **headers, **session}, json=call("echo")
        ) as answer:
            assert f'"principal": "{name}"' in await tool_result(answer)


async def test_a_session_belongs_to_the_token_that_opened_it(
    guarded: Program, http: aiohttp.ClientSession
) -> None:
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


async def test_an_open_bind_without_a_token_does_not_start() -> None:
    async with running(*STAND_IN, "http", "--host=0.0.0.0") as program:
        assert await program.ended() == 1
        assert len(program.said) == 1
        assert program.said[0].startswith("Refusing to listen on 0.0.0.0 without a token")
