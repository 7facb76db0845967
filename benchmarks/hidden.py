"""Text that a person does not see: which carriers get through `fetch`, and which visible ones are lost.

Our server's `fetch` in both ways beside the body's `textContent` and `innerText` in a plain browser.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp import Client
from mcp.types import TextContent

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import Reading, Running, running, running_server
from benchmarks.common.cpu import open_account
from benchmarks.common.mapped_site import mapped_playwright
from benchmarks.common.own_product import own_server
from tests.site.running import Site, running_site

_FIRST = "/hidden"
_MORE = "/hidden/more"
_LIMIT_S = 60.0
_WAYS = ("browser", "http", "textContent", "innerText")
_GOALS = (
    Goal("through", at_most=3),
    Goal("http.through", at_most=3),
    Goal("more.through", at_most=1),
    Goal("more.http.through", at_most=1),
)


@dataclass(frozen=True, slots=True)
class _Carrier:
    name: str
    marker: str
    seen: bool
    page: str


async def measure(options: Options) -> Figures:
    """Read the pages of carriers in every way."""
    with running_site() as site:
        carriers = await asyncio.to_thread(_carriers, site)
        texts = {page: await _texts(site, page) for page in (_FIRST, _MORE)}
    figures = _print_page("The carriers", [one for one in carriers if one.page == _FIRST], texts[_FIRST], "")
    figures |= _print_page("More of them", [one for one in carriers if one.page == _MORE], texts[_MORE], "more.")
    print_goals(figures, _GOALS)
    return figures


def _carriers(site: Site) -> list[_Carrier]:
    with urllib.request.urlopen(site.direct("/hidden/manifest.json"), timeout=_LIMIT_S) as answer:
        rows = json.load(answer)
    return [_Carrier(row["name"], row["marker"], row["seen"], row["page"]) for row in rows]


async def _texts(site: Site, page: str) -> Mapping[str, str]:
    url = site.url(page)
    settings = {"SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable}
    with (
        own_server(settings=settings) as ours,
        open_account() as account,
        tempfile.TemporaryDirectory(prefix="benchmark-") as scratch,
    ):
        log = Path(scratch) / "server.log"
        async with (
            running_server(ours.server, ours.environment, account, ours.ready_url, log),
            asyncio.timeout(_LIMIT_S),
            Client(ours.command[-1]) as client,
        ):
            fetched = {way: await _fetched(client, url, way) for way in ("browser", "http")}
    async with running(mapped_playwright(site)) as plain:
        return fetched | {
            "textContent": await _markers(plain, url, "text_content"),
            "innerText": await _markers(plain, url, "inner_text"),
        }


async def _fetched(client: Client, url: str, render: str) -> str:
    result = await client.call_tool("fetch", {"url": url, "render": render})
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def _markers(plain: Running, url: str, how: str) -> str:
    await plain.read(Reading((url,), how))
    return "\n".join(await plain.texts())


def _print_page(title: str, carriers: Sequence[_Carrier], texts: Mapping[str, str], prefix: str) -> Figures:
    rows = []
    for one in carriers:
        seen = [one.marker in texts[way].replace("\\", "") for way in _WAYS]
        verdict = "" if seen[0] == one.seen else "GETS THROUGH" if seen[0] else "LOST"
        rows.append((one.name, "seen" if one.seen else "", *("in" if it else "" for it in seen), verdict))
    print_table(title, ("carrier", "by a person", *_WAYS, "browser"), rows)
    figures: Figures = {f"{prefix}hidden": sum(not one.seen for one in carriers)}
    for way, key in zip(_WAYS, ("", "http.", "text_content.", "inner_text."), strict=True):
        text = texts[way].replace("\\", "")
        figures[f"{prefix}{key}through"] = sum(one.marker in text for one in carriers if not one.seen)
        figures[f"{prefix}{key}lost"] = sum(one.marker not in text for one in carriers if one.seen)
    print_table("Together", ("", ""), figures.items())
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
