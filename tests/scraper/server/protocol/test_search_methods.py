"""`tools/search`, `prompts/search` and `resources/search` in both eras, as their contract says."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequest

from scraper.coordination.state import RateLimits
from scraper.server.calls.dispatcher import ToolCaller
from scraper.server.calls.limits import RateLimiter
from scraper.server.protocol import search_methods
from tests.scraper.process import Program
from tests.scraper.server.in_memory import TOOLS, talking
from tests.scraper.server.wire import ERAS, HEADERS, body_of, initialize, modern, open_session
from tests.scraper.stored_texts import KeptApp

MANY = tuple(replace(TOOLS[0], name=f"tides_{number:02}", title="Tides") for number in range(25))


async def search(client: Client, area: str, params: Any) -> Any:
    kinds: Any = {"tools": ListToolsResult, "prompts": ListPromptsResult, "resources": ListResourcesResult}
    request: Any = _Search(method=f"{area}/search", params=params)
    return await client.session.send_request(request, kinds[area])


class _Search(PaginatedRequest[str]):
    method: str
    params: Any = None


@pytest.mark.parametrize("era", ERAS)
async def test_items_are_those_of_the_lists_best_first(texts: KeptApp, era: str) -> None:
    texts.keep("https://example.org/tide", "Power from the tides.")
    async with talking(texts, era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        found = (await search(client, "tools", {"query": "read a pdf"})).tools
        assert found[0] == listed["read_doc"] and len(found) <= 10
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        found = (await search(client, "prompts", {"query": "which laptop should I buy"})).prompts
        assert found[0] == prompts["compare_products"]
        (kept,) = (await client.list_resources()).resources
        (found,) = (await search(client, "resources", {"query": "power tides"})).resources
        assert (found.uri, found.title, found.mime_type) == (kept.uri, kept.title, kept.mime_type)


@pytest.mark.parametrize("era", ERAS)
async def test_pages_hold_ten_at_most_and_join(texts: KeptApp, era: str) -> None:
    for number in range(23):
        texts.keep(f"https://example.org/{number}", "tidal power")
    async with talking(texts, era, MANY) as client:
        for area, count in (("tools", 25), ("resources", 23)):
            names: list[str] = []
            sizes: list[int] = []
            cursor: dict[str, str] = {}
            while True:
                page = await search(client, area, {"query": "tides tidal", **cursor})
                items = page.tools if area == "tools" else page.resources
                names += [item.name for item in items]
                sizes.append(len(items))
                if page.next_cursor is None:
                    break
                cursor = {"cursor": page.next_cursor}
            assert len(set(names)) == len(names) == count and sizes == [10, 10, count - 20]


@pytest.mark.parametrize("era", ERAS)
async def test_a_cursor_holds_for_its_query_alone(texts: KeptApp, era: str) -> None:
    async with talking(texts, era, MANY) as client:
        cursor = (await search(client, "tools", {"query": "tides"})).next_cursor
        for wrong in ({"query": "wind", "cursor": cursor}, {"query": "tides", "cursor": cursor[:-4]}):
            with pytest.raises(MCPError, match="Invalid cursor") as refused:
                await search(client, "tools", wrong)
            assert refused.value.error.code == -32602
        with pytest.raises(MCPError, match="query must be given"):
            await search(client, "tools", {"cursor": cursor})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("area", ["tools", "prompts", "resources"])
@pytest.mark.parametrize(
    "params",
    [{}, {"query": ""}, {"query": " \n"}, {"query": 7}, {"query": None}, {"query": ["x"]}, {"query": "x" * 2_001}],
    ids=["none", "empty", "blank", "number", "null", "list", "long"],
)
async def test_input_is_checked(texts: KeptApp, era: str, area: str, params: dict[str, Any]) -> None:
    async with talking(texts, era) as client:
        with pytest.raises(MCPError, match="query must be given: a string of 1 to 2,000") as refused:
            await search(client, area, params)
        assert refused.value.error.code == -32602


@pytest.mark.parametrize("cursor", [7, "", "x", "W10=", "bnVsbA==", "WyJhIiwgMTBd", "é", ["x"], "9" * 5_000])
async def test_a_cursor_that_is_none_is_refused(texts: KeptApp, cursor: object) -> None:
    async with talking(texts, "auto") as client:
        with pytest.raises(MCPError, match="Invalid cursor"):
            await search(client, "tools", {"query": "tides", "cursor": cursor})


@pytest.mark.parametrize("place", [5, 0, -10, 1_000, 10.0, "10", True, None, [10]])
async def test_a_cursor_to_a_place_that_none_leads_to_is_refused(texts: KeptApp, place: object) -> None:
    async with talking(texts, "auto", MANY) as client:
        given = (await search(client, "tools", {"query": "tides"})).next_cursor
        mark, _ = json.loads(base64.urlsafe_b64decode(given))
        cursor = base64.urlsafe_b64encode(json.dumps([mark, place]).encode()).decode()
        with pytest.raises(MCPError, match="Invalid cursor"):
            await search(client, "tools", {"query": "tides", "cursor": cursor})


@pytest.mark.parametrize("query", ["C++", "node.js", '"unclosed', "a AND", "*", "NEAR(", "col:x", "💥", "\x00"])
async def test_no_query_breaks_a_search(texts: KeptApp, query: str) -> None:
    texts.keep("https://example.org/", "C++ and node.js")
    await texts.index("x", "C++ and node.js")
    async with talking(texts, "auto") as client:
        for area in ("tools", "prompts", "resources"):
            await search(client, area, {"query": query})


async def test_a_caller_beyond_the_search_rate_must_wait(texts: KeptApp) -> None:
    async with talking(
        texts, "auto", rate=RateLimiter(RateLimits(), name="searches", burst=2, per_second=0.001)
    ) as client:
        await search(client, "tools", {"query": "x"})
        await search(client, "resources", {"query": "x"})
        with pytest.raises(MCPError, match="Too many searches") as refused:
            await search(client, "prompts", {"query": "x"})
        assert refused.value.error.data["retryAfter"] > 0


async def test_one_callers_searches_are_not_counted_for_another(
    texts: KeptApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = ["ann"]
    monkeypatch.setattr(search_methods, "caller_of", lambda _context: ToolCaller(principal=who[0]))
    rate = RateLimiter(RateLimits(), name="searches", burst=1, per_second=0.001)
    async with talking(texts, "auto", rate=rate) as client:
        await search(client, "tools", {"query": "x"})
        with pytest.raises(MCPError, match="Too many searches"):
            await search(client, "tools", {"query": "x"})
        who[0] = "ben"
        await search(client, "tools", {"query": "x"})


async def test_search_results_are_not_cacheable(texts: KeptApp) -> None:
    async with talking(texts, "auto") as client:
        found = await search(client, "tools", {"query": "read"})
        assert (found.ttl_ms, found.cache_scope) == (0, "private")


async def test_both_handshakes_declare_the_capability(server: Program, http: aiohttp.ClientSession) -> None:
    async with http.post(server.url, headers=HEADERS, json=initialize()) as answer:
        legacy = (await body_of(answer))["result"]["capabilities"]
    headers, message = modern("server/discover", {})
    async with http.post(server.url, headers=headers, json=message) as answer:
        newest = (await body_of(answer))["result"]["capabilities"]
    for capabilities in (legacy, newest):
        assert [capabilities[area]["search"] for area in ("tools", "prompts", "resources")] == [True] * 3


async def test_the_methods_answer_over_http_in_both_eras(server: Program, http: aiohttp.ClientSession) -> None:
    session = await open_session(http, server.url)
    message = {"jsonrpc": "2.0", "id": 5, "method": "tools/search", "params": {"query": "echo"}}
    async with http.post(server.url, headers={**HEADERS, "Mcp-Session-Id": session}, json=message) as answer:
        assert [tool["name"] for tool in (await body_of(answer))["result"]["tools"]] == ["echo"]
    headers, message = modern("tools/search", {"query": "echo"})
    async with http.post(server.url, headers=headers, json=message) as answer:
        result = (await body_of(answer))["result"]
        assert [tool["name"] for tool in result["tools"]] == ["echo"]
        assert result["resultType"] == "complete" and "nextCursor" not in result


async def test_an_unknown_method_has_the_json_rpc_code(server: Program, http: aiohttp.ClientSession) -> None:
    headers, message = modern("completion/search", {"query": "x"})
    async with http.post(server.url, headers=headers, json=message) as answer:
        assert answer.status == 404
        assert json.loads(await answer.text())["error"]["code"] == -32601
