"""Rows of the document on `tools/search`, `prompts/search`, `resources/search`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ListResourcesResult, PaginatedRequest

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.calls.limits import BURST
from scraper.server.lifecycle import hold_services
from scraper.server.protocol import server as protocol
from scraper.tools import registry

_AREAS = ("tools", "prompts", "resources")
_WORDS = {"tools": "read a web page", "prompts": "compare products", "resources": "harbour"}
_INVALID, _NOT_FOUND, _INTERNAL = -32602, -32601, -32603


async def _search(world: World, area: str, query: object, **more: Any) -> dict[str, Any]:
    params = {"query": query, **more}
    result: dict[str, Any] = (await world.rpc(f"{area}/search", params))["result"]
    return result


async def _names(world: World, area: str, query: str) -> list[str]:
    return [item["name"] for item in (await _search(world, area, query))[area]]


async def _pages_are_kept(world: World, count: int = 25) -> None:
    urls = [world.site.url(f"/static/{number}") for number in range(100, 100 + count)]
    await world.call("fetch_batch", urls=urls, render="http")


def _capability(area: str) -> Check:
    async def check(world: World) -> str:
        legacy = (await world.legacy("initialize", {}))["result"]["capabilities"][area]
        newest = (await world.rpc("server/discover", {}))["result"]["capabilities"][area]
        return seen(legacy["search"] is True is newest["search"], f"{legacy}; {newest}")

    return check


async def _in_one_go(world: World) -> str:
    await _pages_are_kept(world)
    asked = [
        {"jsonrpc": "2.0", "id": area, "method": f"{area}/search", "params": {"query": _WORDS[area]}} for area in _AREAS
    ]
    answers = {answer["id"]: answer["result"] for answer in await world.listed(asked)}
    found = {area: len(answers[area][area]) for area in _AREAS}
    return seen(all(found.values()), found)


def _answered(area: str) -> Check:
    async def check(world: World) -> str:
        await _pages_are_kept(world)
        params = {"query": _WORDS[area]}
        legacy = (await world.legacy(f"{area}/search", params))["result"][area]
        newest = (await _search(world, area, _WORDS[area]))[area]
        return seen(legacy and legacy == newest, f"{len(newest)} items in both eras, first {newest[0]['name']}")

    return check


def _like_the_list(area: str) -> Check:
    async def check(world: World) -> str:
        await _pages_are_kept(world)
        listed, cursor = [], None
        while True:
            page = (await world.rpc(f"{area}/list", {"cursor": cursor} if cursor else {}))["result"]
            listed += page[area]
            if (cursor := page.get("nextCursor")) is None:
                break
        shapes = {item.get("uri", item["name"]): set(item) - {"size"} for item in listed}
        found = (await _search(world, area, _WORDS[area]))[area]
        same = all(shapes[item.get("uri", item["name"])] == set(item) - {"size"} for item in found)
        return seen(found and same, f"{sorted(found[0])}")

    return check


def _at_most_ten(area: str) -> Check:
    async def check(world: World) -> str:
        await _pages_are_kept(world)
        found = await _search(world, area, _WORDS[area])
        return seen(0 < len(found[area]) <= 10, f"{len(found[area])} items")

    return check


async def _paged(world: World) -> str:
    await _pages_are_kept(world)
    uris: list[str] = []
    sizes: list[int] = []
    more: dict[str, str] = {}
    while True:
        page = await _search(world, "resources", "harbour", **more)
        uris += [item["uri"] for item in page["resources"]]
        sizes.append(len(page["resources"]))
        if "nextCursor" not in page:
            break
        more = {"cursor": page["nextCursor"]}
    return seen(len(uris) == len(set(uris)) >= 25 and max(sizes) == 10, f"pages of {sizes}, no item twice")


async def _cursor_needs_query(world: World) -> str:
    await _pages_are_kept(world)
    cursor = (await _search(world, "resources", "harbour"))["nextCursor"]
    alone = (await world.rpc("resources/search", {"cursor": cursor}))["error"]
    other = (await world.rpc("resources/search", {"cursor": cursor, "query": "sea"}))["error"]
    return seen(alone["code"] == other["code"] == _INVALID, f"{alone['message']} {other['message']}")


async def _last_page(world: World) -> str:
    page = await _search(world, "prompts", "compare products")
    return seen("nextCursor" not in page, "no cursor where there is no more")


def _ranked(area: str, query: str, name: str) -> Check:
    async def check(world: World) -> str:
        names = await _names(world, area, query)
        return seen(names[:1] == [name], names)

    return check


async def _vectors(world: World) -> str:
    names = await _names(world, "tools", "extrakt structued data")
    return seen("extract_structured" in names[:2], names)


async def _deep(world: World) -> str:
    await world.call("fetch", url=world.site.url("/rich"))
    await world.call("search_add_document", doc_id="deep", content="the bandicoot is nocturnal")
    page = [item["uri"] for item in (await _search(world, "resources", "nautical knot"))["resources"]]
    text = [item["uri"] for item in (await _search(world, "resources", "bandicoot"))["resources"]]
    good = any(uri.endswith("/rich") for uri in page) and text == ["index://default/deep"]
    return seen(good, f"{page}; {text}")


async def _readable(world: World) -> str:
    await world.call("fetch", url=world.site.url("/rich"))
    (item, *_) = (await _search(world, "resources", "nautical knot"))["resources"]
    read = await world.rpc("resources/read", {"uri": item["uri"]}, name=item["uri"])
    return seen("nautical" in read["result"]["contents"][0]["text"], item["uri"])


async def _not_found(world: World) -> str:
    codes = [(await world.rpc(f"{area}/search", {"query": "x"}, at="pair"))["error"]["code"] for area in _AREAS]
    codes.append((await world.rpc("roots/search", {"query": "x"}))["error"]["code"])
    return seen(set(codes) == {_NOT_FOUND}, codes)


def _missing(area: str) -> Check:
    async def check(world: World) -> str:
        errors = [(await world.rpc(f"{area}/search", params))["error"] for params in ({}, {"query": ""})]
        errors.append((await world.legacy(f"{area}/search", {}))["error"])
        return seen({error["code"] for error in errors} == {_INVALID}, errors[0])

    return check


async def _internal(world: World) -> str:
    """Build the product's own server without opening its services."""

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
                return seen(error.error.code == _INTERNAL, error.error.message)
    raise AssertionError("no error")


async def _validated(world: World) -> str:
    wrong: list[dict[str, Any]] = [
        {"query": 7}, {"query": ["x"]}, {"query": "x" * 2_001}, {"query": "x", "cursor": 7},
        {"query": "x", "cursor": "bm8="}, {"query": None},
    ]  # fmt: skip
    codes = [(await world.rpc("tools/search", params))["error"]["code"] for params in wrong]
    return seen(set(codes) == {_INVALID}, f"{len(codes)} wrong inputs: {set(codes)}")


async def _limited(world: World) -> str:
    ann = [world.rpc("tools/search", {"query": "read"}, token="ann") for _ in range(2 * BURST)]
    answers = await asyncio.gather(*ann)
    refused = [answer["error"] for answer in answers if "error" in answer]
    bob = await world.rpc("tools/search", {"query": "read"}, token="bob")
    good = refused and all(error["code"] == -32000 for error in refused) and "result" in bob
    return seen(good, f"{len(refused)} of {2 * BURST} told to wait, another caller answered: {refused[:1]}")


async def _own_only(world: World) -> str:
    url = world.site.url("/rich")
    await world.call("fetch", token="bob", url=url)
    # A caller who has just been told to wait is let in again.
    await asyncio.sleep(3)
    found = {}
    for token in ("ann", "bob"):
        answer = await world.rpc("resources/search", {"query": "nautical knot"}, token=token)
        found[token] = [item["uri"] for item in answer["result"]["resources"]]
    return seen(found == {"ann": [], "bob": [f"page://{url}"]}, found)


async def _plain_tool(world: World) -> str:
    text = (await world.call("find_tools", query="price of a product")).text
    return seen("extract_structured" in text, text[:100])


class _Search(PaginatedRequest[str]):
    method: str
    params: Any = None


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("002", paragraph, requirement, check)


ROWS = (
    *(_row("Capabilities", f"{area}: search is declared, in both eras", _capability(area)) for area in _AREAS),
    *(_row("Protocol Messages", f"{area}/search answers, in both eras", _answered(area)) for area in _AREAS),
    *(_row("Search Results", f"{area}: items as in the list call", _like_the_list(area)) for area in _AREAS),
    *(_row("Search Results", f"{area}: at most 10 items", _at_most_ten(area)) for area in _AREAS),
    _row("Search Results", "nextCursor leads on, without gap or overlap", _paged),
    _row("Search Results", "nextCursor is optional", _last_page),
    _row("Protocol Messages", "a cursor must come with its query", _cursor_needs_query),
    _row("SearchRequest", "a keyword", _ranked("tools", "pdf", "read_doc")),
    _row(
        "SearchRequest",
        "a description",
        _ranked("tools", "fields such as price and rating of a page", "extract_structured"),
    ),
    _row("SearchRequest", "a use case", _ranked("tools", "trying to compare two laptops side by side", "compare")),
    _row("User Interaction Model", "ordered by relevance", _ranked("prompts", "what should I buy", "compare_products")),
    _row("Implementation, 1", "vectors find what is misspelt", _vectors),
    _row("Implementation, 1", "resources are indexed by their contents", _deep),
    _row("Message Flow", "what was found can be read", _readable),
    _row("Implementation, 2", "clients may ask for all three areas in one batch", _in_one_go),
    _row("Error Handling", "-32601 where it is not supported", _not_found),
    *(_row("Error Handling", f"{area}: -32602 without a query", _missing(area)) for area in _AREAS),
    _row("Error Handling", "-32603 for internal errors", _internal),
    _row("Security", "all inputs are validated", _validated),
    _row("Security", "searches are rate-limited, by caller", _limited),
    _row("Security", "each caller finds what is theirs", _own_only),
    _row("User Interaction Model", "clients that know no such method have a tool for it", _plain_tool),
)
