"""Requirements of the document on `tools/search`, `prompts/search`, `resources/search`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ListResourcesResult, PaginatedRequest

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.limits import BURST
from scraper.server.lifecycle import hold_services
from scraper.server.protocol import mcp_server as protocol
from scraper.tools import registry

_AREAS = ("tools", "prompts", "resources")
_WORDS = {"tools": "read a web page", "prompts": "compare products", "resources": "harbour"}
_INVALID, _NOT_FOUND, _INTERNAL = -32602, -32601, -32603


async def _search(testbed: Testbed, area: str, query: object, **more: Any) -> dict[str, Any]:
    params = {"query": query, **more}
    result: dict[str, Any] = (await testbed.rpc(f"{area}/search", params))["result"]
    return result


async def _names(testbed: Testbed, area: str, query: str) -> list[str]:
    return [item["name"] for item in (await _search(testbed, area, query))[area]]


async def _cache_pages(testbed: Testbed, count: int = 25) -> None:
    urls = [testbed.site.url(f"/static/{number}") for number in range(100, 100 + count)]
    await testbed.call("fetch_batch", urls=urls, render="http")


def _capability(area: str) -> Check:
    async def check(testbed: Testbed) -> str:
        legacy = (await testbed.legacy("initialize", {}))["result"]["capabilities"][area]
        newest = (await testbed.rpc("server/discover", {}))["result"]["capabilities"][area]
        return require(legacy["search"] is True is newest["search"], f"{legacy}; {newest}")

    return check


async def _in_one_batch(testbed: Testbed) -> str:
    await _cache_pages(testbed)
    requests = [
        {"jsonrpc": "2.0", "id": area, "method": f"{area}/search", "params": {"query": _WORDS[area]}} for area in _AREAS
    ]
    answers = {answer["id"]: answer["result"] for answer in await testbed.listed(requests)}
    found = {area: len(answers[area][area]) for area in _AREAS}
    return require(all(found.values()), found)


def _answered(area: str) -> Check:
    async def check(testbed: Testbed) -> str:
        await _cache_pages(testbed)
        params = {"query": _WORDS[area]}
        legacy = (await testbed.legacy(f"{area}/search", params))["result"][area]
        newest = (await _search(testbed, area, _WORDS[area]))[area]
        return require(legacy and legacy == newest, f"{len(newest)} items in both eras, first {newest[0]['name']}")

    return check


def _same_fields_as_list(area: str) -> Check:
    async def check(testbed: Testbed) -> str:
        await _cache_pages(testbed)
        listed, cursor = [], None
        while True:
            page = (await testbed.rpc(f"{area}/list", {"cursor": cursor} if cursor else {}))["result"]
            listed += page[area]
            if (cursor := page.get("nextCursor")) is None:
                break
        shapes = {item.get("uri", item["name"]): set(item) - {"size"} for item in listed}
        found = (await _search(testbed, area, _WORDS[area]))[area]
        same = all(shapes[item.get("uri", item["name"])] == set(item) - {"size"} for item in found)
        return require(found and same, f"{sorted(found[0])}")

    return check


def _at_most_ten(area: str) -> Check:
    async def check(testbed: Testbed) -> str:
        await _cache_pages(testbed)
        found = await _search(testbed, area, _WORDS[area])
        return require(0 < len(found[area]) <= 10, f"{len(found[area])} items")

    return check


async def _paged(testbed: Testbed) -> str:
    await _cache_pages(testbed)
    uris: list[str] = []
    sizes: list[int] = []
    more: dict[str, str] = {}
    while True:
        page = await _search(testbed, "resources", "harbour", **more)
        uris += [item["uri"] for item in page["resources"]]
        sizes.append(len(page["resources"]))
        if "nextCursor" not in page:
            break
        more = {"cursor": page["nextCursor"]}
    return require(len(uris) == len(set(uris)) >= 25 and max(sizes) == 10, f"pages of {sizes}, no item twice")


async def _cursor_needs_query(testbed: Testbed) -> str:
    await _cache_pages(testbed)
    cursor = (await _search(testbed, "resources", "harbour"))["nextCursor"]
    alone = (await testbed.rpc("resources/search", {"cursor": cursor}))["error"]
    other = (await testbed.rpc("resources/search", {"cursor": cursor, "query": "sea"}))["error"]
    return require(alone["code"] == other["code"] == _INVALID, f"{alone['message']} {other['message']}")


async def _last_page(testbed: Testbed) -> str:
    page = await _search(testbed, "prompts", "compare products")
    return require("nextCursor" not in page, "no cursor on the last page")


def _ranked(area: str, query: str, name: str) -> Check:
    async def check(testbed: Testbed) -> str:
        names = await _names(testbed, area, query)
        return require(names[:1] == [name], names)

    return check


async def _misspelled(testbed: Testbed) -> str:
    names = await _names(testbed, "tools", "extrakt structued data")
    return require("extract_structured" in names[:2], names)


async def _contents_indexed(testbed: Testbed) -> str:
    await testbed.call("fetch", url=testbed.site.url("/rich"))
    await testbed.call("search_add_document", doc_id="deep", content="the bandicoot is nocturnal")
    page = [item["uri"] for item in (await _search(testbed, "resources", "nautical knot"))["resources"]]
    text = [item["uri"] for item in (await _search(testbed, "resources", "bandicoot"))["resources"]]
    good = any(uri.endswith("/rich") for uri in page) and text == ["index://default/deep"]
    return require(good, f"{page}; {text}")


async def _readable(testbed: Testbed) -> str:
    await testbed.call("fetch", url=testbed.site.url("/rich"))
    (item, *_) = (await _search(testbed, "resources", "nautical knot"))["resources"]
    read = await testbed.rpc("resources/read", {"uri": item["uri"]}, name=item["uri"])
    return require("nautical" in read["result"]["contents"][0]["text"], item["uri"])


async def _not_found(testbed: Testbed) -> str:
    codes = [(await testbed.rpc(f"{area}/search", {"query": "x"}, at="pair"))["error"]["code"] for area in _AREAS]
    codes.append((await testbed.rpc("roots/search", {"query": "x"}))["error"]["code"])
    return require(set(codes) == {_NOT_FOUND}, codes)


def _missing(area: str) -> Check:
    async def check(testbed: Testbed) -> str:
        errors = [(await testbed.rpc(f"{area}/search", params))["error"] for params in ({}, {"query": ""})]
        errors.append((await testbed.legacy(f"{area}/search", {}))["error"])
        return require({error["code"] for error in errors} == {_INVALID}, errors[0])

    return check


async def _internal(testbed: Testbed) -> str:
    """Cause an internal error with a server whose services cannot be opened."""

    @asynccontextmanager
    async def broken() -> AsyncIterator[Any]:
        raise ValueError("the services are broken")
        yield

    async with hold_services(broken) as holder:
        tools = registry.tools()
        calls = CallDispatcher(tools, holder, deadline_s=10)
        server = protocol.build(tools, calls, version="0", on_handshake=lambda: None)
        async with Client(server) as client:
            request: Any = _Search(method="resources/search", params={"query": "x"})
            try:
                await client.session.send_request(request, ListResourcesResult)
            except MCPError as error:
                return require(error.error.code == _INTERNAL, error.error.message)
    raise AssertionError("no error")


async def _validated(testbed: Testbed) -> str:
    wrong: list[dict[str, Any]] = [
        {"query": 7}, {"query": ["x"]}, {"query": "x" * 2_001}, {"query": "x", "cursor": 7},
        {"query": "x", "cursor": "bm8="}, {"query": None},
    ]  # fmt: skip
    codes = [(await testbed.rpc("tools/search", params))["error"]["code"] for params in wrong]
    return require(set(codes) == {_INVALID}, f"{len(codes)} wrong inputs: {set(codes)}")


async def _limited(testbed: Testbed) -> str:
    ann = [testbed.rpc("tools/search", {"query": "read"}, token="ann") for _ in range(2 * BURST)]
    answers = await asyncio.gather(*ann)
    refused = [answer["error"] for answer in answers if "error" in answer]
    bob = await testbed.rpc("tools/search", {"query": "read"}, token="bob")
    good = refused and all(error["code"] == -32000 for error in refused) and "result" in bob
    return require(good, f"{len(refused)} of {2 * BURST} rate-limited, another caller answered: {refused[:1]}")


async def _own_only(testbed: Testbed) -> str:
    url = testbed.site.url("/rich")
    await testbed.call("fetch", token="bob", url=url)
    # Wait until the caller of the previous row is no longer rate-limited.
    await asyncio.sleep(3)
    found = {}
    for token in ("ann", "bob"):
        answer = await testbed.rpc("resources/search", {"query": "nautical knot"}, token=token)
        found[token] = [item["uri"] for item in answer["result"]["resources"]]
    return require(found == {"ann": [], "bob": [f"page://{url}"]}, found)


async def _plain_tool(testbed: Testbed) -> str:
    text = (await testbed.call("find_tools", query="price of a product")).text
    return require("extract_structured" in text, text[:100])


class _Search(PaginatedRequest[str]):
    method: str
    params: Any = None


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("002", paragraph, requirement, check)


ROWS = (
    *(_row("Capabilities", f"{area}: search is declared, in both eras", _capability(area)) for area in _AREAS),
    *(_row("Protocol Messages", f"{area}/search answers, in both eras", _answered(area)) for area in _AREAS),
    *(
        _row("Search Results", f"{area}: items have the fields of the list call", _same_fields_as_list(area))
        for area in _AREAS
    ),
    *(_row("Search Results", f"{area}: at most 10 items", _at_most_ten(area)) for area in _AREAS),
    _row("Search Results", "nextCursor continues without gap or overlap", _paged),
    _row("Search Results", "nextCursor is optional", _last_page),
    _row("Protocol Messages", "a cursor needs its query", _cursor_needs_query),
    _row("SearchRequest", "a keyword", _ranked("tools", "pdf", "read_doc")),
    _row(
        "SearchRequest",
        "a description",
        _ranked("tools", "fields such as price and rating of a page", "extract_structured"),
    ),
    _row("SearchRequest", "a use case", _ranked("tools", "trying to compare two laptops side by side", "compare")),
    _row("User Interaction Model", "ordered by relevance", _ranked("prompts", "what should I buy", "compare_products")),
    _row("Implementation, 1", "vectors find misspelled terms", _misspelled),
    _row("Implementation, 1", "resources are indexed by their contents", _contents_indexed),
    _row("Message Flow", "results can be read", _readable),
    _row("Implementation, 2", "clients may request all three areas in one batch", _in_one_batch),
    _row("Error Handling", "-32601 if search is not supported", _not_found),
    *(_row("Error Handling", f"{area}: -32602 without a query", _missing(area)) for area in _AREAS),
    _row("Error Handling", "-32603 for internal errors", _internal),
    _row("Security", "all inputs are validated", _validated),
    _row("Security", "searches are rate-limited per caller", _limited),
    _row("Security", "each caller finds only own resources", _own_only),
    _row("User Interaction Model", "clients without this method have a tool for it", _plain_tool),
)
