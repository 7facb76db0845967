"""The REST interface: calls, errors, progress, tokens and limits over real connections."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import jsonschema
import pytest
import pytest_asyncio
from yarl import URL

from scraper.tools import registry
from tests.scraper.process import SOON_S, START_S, Program, browsers_say, serving
from tests.site.running import Site

pytestmark = pytest.mark.browser

PRODUCT = ("-m", "scraper.cli.main", "serve", "--port", "0")
STAND_IN = ("-m", "tests.scraper.server.stand_in", "http")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def product(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Program]:
    """Start a server with the REST interface."""
    data = str(tmp_path_factory.mktemp("rest"))
    env = {"SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable, "SEARCH_MCP_DATA": data, "SEARCH_MCP_REST": "yes"}
    async with serving(*PRODUCT, env=env) as program:
        await browsers_say(program.base, "ready", True, limit_s=START_S)
        yield program


async def post(http: aiohttp.ClientSession, program: Program, tool: str, **arguments: Any) -> tuple[int, Any]:
    async with http.post(f"{program.base}/v1/{tool}", json=arguments) as answer:
        assert answer.content_type == "application/json"
        return answer.status, await answer.json()


async def get(http: aiohttp.ClientSession, program: Program, path: str, **parameters: Any) -> tuple[int, Any]:
    async with http.get(program.base + path, params=parameters) as answer:
        assert answer.content_type == "application/json"
        return answer.status, await answer.json()


async def test_the_interface_is_off_by_default(server: Program, http: aiohttp.ClientSession) -> None:
    for path in ("/v1/openapi.json", "/v1/echo", "/r/example.com"):
        async with http.get(server.base + path) as answer:
            assert answer.status == 404


async def test_a_page_comes_as_an_object_or_as_markdown(
    product: Program, http: aiohttp.ClientSession, site: Site
) -> None:
    url = site.url("/rich")
    status, page = await post(http, product, "fetch", url=url, format="json", include="links")
    schema = next(tool.data_schema for tool in registry.tools() if tool.name == "fetch")
    jsonschema.validate(page, schema)
    assert (status, page["final_url"], page["status"]) == (200, url, 200) and "links" in page
    status, page = await get(http, product, "/v1/fetch", url=url, start="10", force_refresh="false")
    assert status == 200 and "<<<untrusted" in page["result"]


async def test_lists_come_as_lists_and_repeated_parameters_are_one(
    product: Program, http: aiohttp.ClientSession, site: Site
) -> None:
    urls = [site.url("/static/1"), site.url("/static/2")]
    async with http.get(
        f"{product.base}/v1/fetch_batch", params=[*(("urls", url) for url in urls), ("format", "json")]
    ) as answer:
        assert [row["url"] for row in await answer.json()] == urls
    status, names = await get(http, product, "/v1/engines")
    assert status == 200 and "duckduckgo" in names


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("fetch", {}, "url must be given"),
        ("fetch", {"url": "https://example.com", "start": -1}, "start"),
        ("fetch", {"url": "https://example.com", "force_refresh": "maybe"}, "force_refresh"),
        ("fetch", {"url": "https://example.com", "lenght": 1}, "lenght"),
        ("search_add_document", {"doc_id": "a"}, "content"),
    ],
)
async def test_wrong_arguments_are_named(
    product: Program, http: aiohttp.ClientSession, tool: str, arguments: dict[str, Any], named: str
) -> None:
    status, error = await post(http, product, tool, **arguments)
    assert status == 400 and named in json.dumps(error)


async def test_a_failed_call_has_its_code(product: Program, http: aiohttp.ClientSession, site: Site) -> None:
    status, error = await post(http, product, "fetch", url=site.url("/status/404"))
    assert (status, error["error_code"], error["retryable"]) == (422, "http_error", False)
    status, error = await post(http, product, "fetch", url="no URL")
    assert (status, error["error_code"]) == (422, "bad_url")
    status, error = await post(http, product, "search_index", query="x", index_name="none")
    assert (status, error["error"]) == (422, "Index not found: none")


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"url": "https://example.com"}', "text/plain", 415),
        (b"x" * (4 * 1024 * 1024 + 1), "application/json", 413),
        (b'{"url": "\\ud800"}', "application/json", 422),
    ],
    ids=["cut", "list", "text", "large", "surrogate"],
)
async def test_a_wrong_body_is_rejected(
    product: Program, http: aiohttp.ClientSession, body: bytes, content_type: str, status: int
) -> None:
    headers = {"Content-Type": content_type}
    async with http.post(f"{product.base}/v1/fetch", data=io.BytesIO(body), headers=headers) as answer:
        assert answer.status == status and (await answer.json())["error"]


async def test_pages_of_other_sites_may_not_call(product: Program, http: aiohttp.ClientSession) -> None:
    for path in ("/v1/engines", "/r/example.com"):
        async with http.get(product.base + path, headers={"Sec-Fetch-Site": "cross-site"}) as answer:
            assert answer.status == 403


async def test_writing_tools_take_no_get(product: Program, http: aiohttp.ClientSession) -> None:
    async with http.get(f"{product.base}/v1/search_create_index", params={"index_name": "a"}) as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
        assert "POST" in (await answer.json())["error"]


async def test_an_unknown_tool_is_rejected_with_a_similar_name(product: Program, http: aiohttp.ClientSession) -> None:
    status, error = await post(http, product, "ftch", url="https://example.com/")
    assert status == 404 and error["error_code"] == "bad_request" and '(did you mean "fetch"?)' in error["error"]
    status, error = await get(http, product, "/v1/a/b")
    assert status == 404 and "/v1/openapi.json" in error["error"]


@pytest.mark.parametrize("form", ["plain", "merged", "encoded"])
async def test_the_reader_returns_the_markdown_of_a_page(
    product: Program, http: aiohttp.ClientSession, site: Site, form: str
) -> None:
    url = site.url("/rich?part=1")
    path = {"plain": url, "merged": url.replace("//", "/"), "encoded": url.replace(":", "%3A").replace("/", "%2F")}
    async with http.get(URL(f"{product.base}/r/{path[form]}", encoded=True)) as answer:
        assert (answer.status, answer.content_type) == (200, "text/markdown")
        text = await answer.text()
    assert "| Ship | Tons |" in text and "untrusted" not in text


async def test_the_reader_tries_https_then_http(product: Program, http: aiohttp.ClientSession) -> None:
    for path in ("site.example/rich", "site.example:80/rich"):
        async with http.get(f"{product.base}/r/{path}") as answer:
            assert (answer.status, answer.content_type) == (200, "text/markdown")
    status, error = await get(http, product, "/r/")
    assert (status, error["error_code"]) == (422, "bad_argument")


async def test_the_reader_reports_a_failed_page(product: Program, http: aiohttp.ClientSession, site: Site) -> None:
    status, error = await get(http, product, f"/r/{site.url('/status/404')}")
    assert (status, error["error_code"]) == (422, "http_error")


async def events_of(http: aiohttp.ClientSession, url: str, arguments: dict[str, Any]) -> list[tuple[str, Any]]:
    async with http.post(url, json=arguments, headers={"Accept": "text/event-stream"}) as answer:
        assert answer.content_type == "text/event-stream"
        text = await answer.text()
    events = [event.splitlines() for event in text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]


async def test_progress_comes_as_events_before_the_result(http: aiohttp.ClientSession) -> None:
    async with serving(*STAND_IN, "--rest=yes") as program:
        *progress, last = await events_of(http, f"{program.base}/v1/slow", {"seconds": 2})
        assert progress and all(name == "progress" and data["total"] == 20 for name, data in progress)
        values = [data["progress"] for _, data in progress]
        assert values == sorted(values)
        assert last == ("result", {"result": "done 20"})
        (failed,) = await events_of(http, f"{program.base}/v1/fails", {})
        assert failed[0] == "error" and failed[1]["status"] == 422 and "HTTP 410" in failed[1]["error"]


async def test_tokens_and_limits_are_those_of_mcp(http: aiohttp.ClientSession, tmp_path: Path) -> None:
    async with serving(*STAND_IN, "--rest=yes", "--token=secret-token", "--calls_per_minute=2") as program:
        url, headers = f"{program.base}/v1/echo", {"Authorization": "Bearer secret-token"}
        async with http.post(url, json={}) as answer:
            assert answer.status == 401
        for _ in range(2):
            async with http.post(url, json={}, headers=headers) as answer:
                assert answer.status == 200
                assert json.loads((await answer.json())["result"])["principal"] == "default"
        async with http.post(url, json={}, headers=headers) as answer:
            assert answer.status == 429 and int(answer.headers["Retry-After"]) > 0
            assert (await answer.json())["error_code"] == "busy"
        async with http.get(f"{program.base}/v1/openapi.json", headers=headers) as answer:
            document = await answer.json()
        assert document["security"] == [{"token": []}]


async def test_a_call_whose_client_disconnects_ends(http: aiohttp.ClientSession) -> None:
    async with serving(*STAND_IN, "--rest=yes") as program:
        for headers in ({}, {"Accept": "text/event-stream"}):
            with pytest.raises(TimeoutError):
                async with http.post(
                    f"{program.base}/v1/slow",
                    json={"seconds": 60, "silent": True},
                    headers=headers,
                    timeout=aiohttp.ClientTimeout(total=1),
                ) as answer:
                    await answer.read()
            await browsers_say(program.base, "active", 0, limit_s=SOON_S)


async def test_only_a_call_that_has_not_run_may_be_repeated_by_a_proxy(http: aiohttp.ClientSession) -> None:
    async with serving(*STAND_IN, "--rest=yes", "--drain_s=1") as program:
        posting = asyncio.create_task(post(http, program, "slow", seconds=60))
        await browsers_say(program.base, "active", 1, limit_s=START_S)
        program.process.terminate()
        status, answer = await posting
        assert status == 500 and not answer["retryable"]
