"""Compare search-mcp, with and without its third-party policy, with the peers on the same 60 pages."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.common.command_line import Figures, print_table
from benchmarks.common.contender import Contender, Reading
from benchmarks.common.own_product import own_server
from benchmarks.common.rounds import Entry, Result, interleaved, percentile
from benchmarks.real_web.world import MARKS, SITES
from benchmarks.real_web.world_server import WorldServer, mapped_peer

AT_ONCE = 10
"""Pages that each reader reads at once."""
ROUNDS = 3
_WARM_UP_PAGES = 4
_OWN, _ALL = "search-mcp", "search-mcp, all third parties"
_PEERS = (
    ("crawl4ai", ()),
    ("crawl4ai", ("--text",)),
    ("crawl4ai", ("--avoid-ads",)),
    ("free_search_mcp", ()),
    ("playwright", ()),
)
_RENDER = {_OWN: "auto", _ALL: "auto", "free_search_mcp": "browser"}


async def compare(server: WorldServer, *, quick: bool, with_peers: bool) -> Figures:
    """Return the completeness, CPU and rate of all readers; a peer that is not set up is left out with a notice."""
    pages = 8 if quick else SITES // ROUNDS
    rounds = 1 if quick else ROUNDS
    with ExitStack() as stack:
        contenders = [
            stack.enter_context(own_server(_OWN, server.settings)),
            stack.enter_context(own_server(_ALL, {**server.settings, "SEARCH_MCP_THIRD_PARTIES": "all"})),
        ]
        for reader, options in _PEERS if with_peers else ():
            try:
                contenders.append(stack.enter_context(mapped_peer(server, reader, *options)))
            except FileNotFoundError as missing:
                print(f"{' '.join((reader, *options))} is left out: {missing}")
        entries = [_entry(contender, server, pages) for contender in contenders]
        results = await interleaved(entries, rounds)
    _print_results(results)
    return _figures(results)


def _entry(contender: Contender, server: WorldServer, pages: int) -> Entry:
    def reading(turn: int) -> Reading:
        # The pages of the warm-up are those of sites after the last.
        numbers = range((turn - 1) * pages, turn * pages) if turn else range(SITES, SITES + _WARM_UP_PAGES)
        return Reading(
            tuple(map(server.url, numbers)), _RENDER.get(contender.name, ""), at_once=AT_ONCE, trailing_s=1.0
        )

    return Entry(contender, reading, MARKS)


def _figures(results: dict[str, Result]) -> Figures:
    ours = results[_OWN]
    figures: Figures = {
        "content.complete": ours.complete,
        "content.complete.off": results[_ALL].complete,
        "content.pages": ours.pages,
        "cpu_ratio.policy": ours.cpu_ratio(results[_ALL]),
        "cpu_ms": ours.cpu_ms,
    }
    for name, result in results.items():
        if name not in (_OWN, _ALL):
            key = name.replace(" ", "_").replace("-", "_")
            figures[f"cpu_ratio.{key}"] = ours.cpu_ratio(result)
            figures[f"rate.{key}"] = ours.speed_ratio(result)
            figures[f"content.complete.{key}"] = result.complete
    return figures


def _print_results(results: dict[str, Result]) -> None:
    ours = results[_OWN]
    rows = [
        (
            name,
            f"{result.complete}/{result.pages}",
            result.pages_per_s,
            result.cpu_ms,
            percentile(result.latencies, 0.5),
            percentile(result.latencies, 0.95),
            None if result is ours else f"x {ours.speed_ratio(result):.2f}",
            None if result is ours else f"x {ours.cpu_ratio(result):.3f}",
        )
        for name, result in results.items()
    ]
    columns = ("", "complete", "pages/s", "CPU ms", "p50 s", "p95 s", "our speed", "our CPU")
    print_table(f"60 pages on 60 hosts, {AT_ONCE} at once", columns, rows)
    for name, result in results.items():
        for url, what in result.failures[:3]:
            print(f"  {name} failed on {url}: {what}")
