"""`doctor --url` names what stands between a client and a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from scraper.cli import doctor_url
from scraper.cli.doctor_checks import CheckLevel, Finding

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
METADATA = "/.well-known/oauth-protected-resource/mcp"


async def serve_well(request: web.Request) -> web.StreamResponse:
    """Answer as the server does, with a ping at once."""
    if request.method == "GET":
        return web.Response(text=": ping\n\n", content_type="text/event-stream")
    asked = (await request.json())["params"]["protocolVersion"]
    info = {"name": "search-mcp", "version": "1"}
    result = {"protocolVersion": "2025-11-25" if asked == "2099-01-01" else asked, "serverInfo": info}
    return web.json_response({"jsonrpc": "2.0", "id": 1, "result": result}, headers={"Mcp-Session-Id": "a"})


async def hold_streams(request: web.Request) -> web.StreamResponse:
    """Send nothing of a stream, as a proxy that buffers it."""
    if request.method == "GET":
        await asyncio.sleep(5)
    return await serve_well(request)


async def end_streams(request: web.Request) -> web.StreamResponse:
    """End a stream that sends nothing for a moment."""
    return await serve_well(request) if request.method == "POST" else web.Response(content_type="text/event-stream")


async def refuse_long(request: web.Request) -> web.StreamResponse:
    """Refuse long messages, as nginx does by default."""
    return await serve_well(request) if (request.content_length or 0) < 1_000_000 else web.Response(status=413)


async def find(handler: Handler, monkeypatch: pytest.MonkeyPatch, path: str = "/mcp") -> list[Finding]:
    """Return the findings at a server, without those about missing TLS."""
    monkeypatch.setattr(doctor_url, "_LIMIT_S", 0.5)
    application = web.Application(client_max_size=4_000_000)
    application.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(application) as server:
        return await asyncio.to_thread(lambda: list(doctor_url.check_server(str(server.make_url(path)), "token")))


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/"])
async def test_a_good_server_has_no_fault(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = await find(serve_well, monkeypatch, path)
    assert {one.level for one in found} == {CheckLevel.GOOD} and len(found) == 4


@pytest.mark.parametrize(
    ("handler", "text", "line"),
    [
        (hold_streams, "delivers nothing", "proxy_buffering off;"),
        (end_streams, "delivers nothing", "proxy_read_timeout 600s;"),
        (refuse_long, "answered with 413", "client_max_body_size 4m;"),
    ],
)
async def test_a_limit_of_a_proxy_is_found(
    handler: Handler, text: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fault,) = (one for one in await find(handler, monkeypatch) if one.level is CheckLevel.BAD)
    assert text in fault.text and line in fault.remedy


@pytest.mark.parametrize(
    ("status", "headers", "line"),
    [
        (307, {"Location": "http://search.example/mcp"}, "proxy_set_header X-Forwarded-Proto $scheme;"),
        (301, {}, "haproxy: http-request set-header X-Forwarded-Proto https if { ssl_fc }"),
        (404, {}, "proxy_set_header X-Forwarded-Prefix"),
        (421, {}, "SEARCH_MCP_ALLOWED_HOSTS=127.0.0.1"),
        (504, {}, "proxy_pass"),
    ],
)
async def test_a_wrong_status_has_its_line(
    status: int, headers: dict[str, str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers=headers)

    (fault,) = await find(refuse, monkeypatch)
    assert f"answers {status}" in fault.text and headers.get("Location", "") in fault.text and line in fault.remedy


@pytest.mark.parametrize("is_right", [True, False])
async def test_metadata_of_oauth_name_the_server(is_right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def challenge(request: web.Request) -> web.StreamResponse:
        base = f"http://{request.host}"
        if request.path == METADATA:
            return web.json_response({"resource": base + ("/mcp" if is_right else "/other")})
        headers = {"WWW-Authenticate": f'Bearer resource_metadata="{base}{METADATA}"'}
        return web.Response(status=401, headers=headers)

    unauthorized, metadata = await find(challenge, monkeypatch)
    assert "SEARCH_MCP_TOKEN" in unauthorized.remedy
    assert metadata.level is (CheckLevel.GOOD if is_right else CheckLevel.BAD)
    assert is_right or "SEARCH_MCP_PUBLIC_URL=http://127.0.0.1" in metadata.remedy


async def test_a_server_without_tls_or_answer_is_reported() -> None:
    found: Any = await asyncio.to_thread(lambda: list(doctor_url.check_server("https://127.0.0.1:1/mcp", None)))
    assert "does not answer" in found[0].text
