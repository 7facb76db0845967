"""Compare our MCP server with crawl4ai, free-search-mcp, mcp-server-fetch and others on the same pages.

Two pages are read concurrently; rendered pages are also read one at a time, as a single agent does. Rounds are
interleaved, each contender reads new pages, and a ratio is the median of the ratios of the rounds. search-mcp is
measured as a whole server (Python, driver, browser, workers) over streamable HTTP. The peers run in separate
processes without the cost of a server. The CPU of the client and the site is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import Contender, Reading
from benchmarks.common.local_site import LocalSite, local_site
from benchmarks.common.own_product import own_server
from benchmarks.common.rounds import Entry, Result, interleaved, percentile
from benchmarks.peers.launch import free_search_mcp_server, peer

_OURS = "search-mcp"
_MARKS = 60
_BATCH_MARKS = 5
"""Markers per page of a batch, whose pages share the token budget of one response and are truncated."""
_WARM_UP_DIVISOR = 4
"""The warm-up lap has this many times fewer pages."""
_COLUMNS = (
    "",
    "complete",
    "pages/s",
    "CPU ms",
    "python",
    "node",
    "browser",
    "client",
    "p50 s",
    "p95 s",
    "our speed",
    "our CPU",
)

_GOALS = (
    Goal("http.ratio.crawl4ai", at_least=12),
    Goal("http.ratio.free_search_mcp", at_least=1.5),
    Goal("http.cpu_ratio.crawl4ai", at_most=1 / 12),
    Goal("http.cpu_ratio.mcp_server_fetch", at_most=1 / 30),
    Goal("js.ratio.free_search_mcp", at_least=5),
    Goal("js.cpu_ratio.crawl4ai", at_most=0.6),
    Goal("js.cpu_ratio.crawl4ai_text", at_most=0.8),
    Goal("js.cpu_ratio.playwright", at_most=0.7),
    Goal("host_batch.cpu_ratio.crawl4ai", at_most=0.5),
)


@dataclass(frozen=True, slots=True)
class _Runner:
    """A contender and its pages per round; slow contenders read fewer, so that rounds stay short."""

    contender: Contender
    pages: int
    how: str = ""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One kind of page, and the contenders that read it."""

    key: str
    title: str
    path: str
    runners: Sequence[_Runner]
    together: bool = False
    at_once: int = 2


async def measure(options: Options) -> Figures:
    """Compare the contenders on every kind of page."""
    figures: Figures = {}
    rounds, budget_s = (2, 25.0) if options.quick else (5, 150.0)
    async with local_site() as site:
        with own_server(_OURS) as ours:
            for comparison in _comparisons(ours):
                results = await interleaved(_entries(comparison, site), rounds, budget_s)
                _print_comparison(comparison, results)
                figures |= _figures(comparison.key, results)
    print_goals(figures, _GOALS)
    return figures


def _comparisons(ours: Contender) -> tuple[_Comparison, ...]:
    crawl4ai, text, search = peer("crawl4ai"), peer("crawl4ai", "--text"), peer("free_search_mcp")
    return (
        _Comparison(
            "http",
            "Plain article with 60 paragraphs and 20 images, without a browser",
            "/static",
            (
                _Runner(ours, 100, "http"),
                _Runner(crawl4ai, 8),
                _Runner(text, 8),
                _Runner(search, 60, "http"),
                _Runner(free_search_mcp_server(), 60, "http"),
                _Runner(peer("mcp_server_fetch"), 3),
                _Runner(peer("mcp_server_fetch", "--without-node"), 12),
                _Runner(peer("trafilatura"), 60),
            ),
        ),
        _Comparison(
            "js",
            "Page that needs JavaScript, each on another host",
            "/spa",
            (
                _Runner(ours, 20, "browser"),
                _Runner(crawl4ai, 10),
                _Runner(text, 10),
                _Runner(search, 6, "browser"),
                _Runner(peer("playwright"), 10),
            ),
        ),
        _Comparison(
            "js_alone",
            "The same, one at a time",
            "/spa",
            (
                _Runner(ours, 10, "browser"),
                _Runner(crawl4ai, 6),
                _Runner(search, 4, "browser"),
                _Runner(peer("playwright"), 6),
            ),
            at_once=1,
        ),
        _Comparison(
            "host_batch",
            "JavaScript pages of one host, requested in one call",
            "/spa",
            (_Runner(ours, 20, "browser"), _Runner(crawl4ai, 20), _Runner(search, 20, "browser")),
            together=True,
        ),
    )


def _entries(comparison: _Comparison, site: LocalSite) -> list[Entry]:
    def entry(runner: _Runner) -> Entry:
        urls = site.fresh_of_one_host if comparison.together else site.fresh

        def reading(number: int) -> Reading:
            pages = runner.pages if number else max(2, runner.pages // _WARM_UP_DIVISOR)
            return Reading(
                urls(comparison.path, pages), runner.how, at_once=comparison.at_once, together=comparison.together
            )

        return Entry(runner.contender, reading, _BATCH_MARKS if comparison.together else _MARKS)

    return [entry(runner) for runner in comparison.runners]


def _print_comparison(comparison: _Comparison, results: Mapping[str, Result]) -> None:
    ours = results[_OURS]
    rows = [
        (
            name,
            f"{result.complete}/{result.pages}",
            result.pages_per_s,
            result.cpu_ms,
            result.python_ms,
            result.driver_ms,
            result.browser_ms,
            result.client_ms,
            percentile(result.latencies, 0.5),
            percentile(result.latencies, 0.95),
            None if result is ours else f"x {ours.speed_ratio(result):.2f}",
            None if result is ours else f"x {ours.cpu_ratio(result):.3f}",
        )
        for name, result in results.items()
    ]
    print_table(comparison.title, _COLUMNS, rows)
    for name, result in results.items():
        for url, what in result.failures[:2]:
            print(f"  {name} failed on {url}: {what}")


def _figures(key: str, results: Mapping[str, Result]) -> Figures:
    ours = results[_OURS]
    figures: Figures = {f"{key}.cpu_ms": ours.cpu_ms, f"{key}.pages_per_s": ours.pages_per_s}
    figures[f"{key}.complete"] = ours.complete / ours.pages
    for name, result in results.items():
        if result is not ours:
            short = name.replace(" ", "_").replace("-", "_")
            figures[f"{key}.ratio.{short}"] = ours.speed_ratio(result)
            figures[f"{key}.cpu_ratio.{short}"] = ours.cpu_ratio(result)
    return figures


if __name__ == "__main__":
    run(__doc__ or "", measure)
