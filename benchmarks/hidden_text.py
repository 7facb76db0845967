"""Test hidden text: which techniques leak hidden text through `fetch`, and which visible text is lost.

Our server's `fetch` with both render modes is compared with `textContent` and `innerText` in a plain browser.
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
_METHODS = ("browser", "http", "textContent", "innerText")
_GOALS = (
    Goal("through", at_most=3),
    Goal("http.through", at_most=3),
    Goal("more.through", at_most=1),
    Goal("more.http.through", at_most=1),
)


@dataclass(frozen=True, slots=True)
class HiddenSample:
    """A text of the test site, its marker, and whether a person sees it."""

    name: str
    marker: str
    visible: bool
    page: str


async def measure(options: Options) -> Figures:
    """Read the pages of hidden text with every method."""
    with running_site() as site:
        samples = await asyncio.to_thread(read_samples, site)
        texts = {page: await _texts(site, page) for page in (_FIRST, _MORE)}
    figures = _print_page("Techniques", [one for one in samples if one.page == _FIRST], texts[_FIRST], "")
    figures |= _print_page("More techniques", [one for one in samples if one.page == _MORE], texts[_MORE], "more.")
    print_goals(figures, _GOALS)
    return figures


def read_samples(site: Site) -> list[HiddenSample]:
    """Return the texts that the site lists."""
    with urllib.request.urlopen(site.direct("/hidden/manifest.json"), timeout=_LIMIT_S) as answer:
        rows = json.load(answer)
    return [HiddenSample(row["name"], row["marker"], row["seen"], row["page"]) for row in rows]


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
            fetched = {method: await _fetched(client, url, method) for method in ("browser", "http")}
    async with running(mapped_playwright(site)) as plain:
        return fetched | {
            "textContent": await _markers(plain, url, "text_content"),
            "innerText": await _markers(plain, url, "inner_text"),
        }


async def _fetched(client: Client, url: str, render: str) -> str:
    result = await client.call_tool("fetch", {"url": url, "render": render})
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def _markers(plain: Running, url: str, method: str) -> str:
    await plain.read(Reading((url,), method))
    return "\n".join(await plain.texts())


def _print_page(title: str, samples: Sequence[HiddenSample], texts: Mapping[str, str], prefix: str) -> Figures:
    rows = []
    for one in samples:
        found = [one.marker in texts[method].replace("\\", "") for method in _METHODS]
        verdict = "" if found[0] == one.visible else "LEAKED" if found[0] else "LOST"
        rows.append((one.name, "visible" if one.visible else "", *("in" if it else "" for it in found), verdict))
    print_table(title, ("technique", "visible", *_METHODS, "browser"), rows)
    figures: Figures = {f"{prefix}hidden": sum(not one.visible for one in samples)}
    for method, key in zip(_METHODS, ("", "http.", "text_content.", "inner_text."), strict=True):
        text = texts[method].replace("\\", "")
        figures[f"{prefix}{key}through"] = sum(one.marker in text for one in samples if not one.visible)
        figures[f"{prefix}{key}lost"] = sum(one.marker not in text for one in samples if one.visible)
    print_table("Totals", ("", ""), figures.items())
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
