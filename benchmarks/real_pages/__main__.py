"""Read two hundred real pages under their own host names with an MCP client; every page must be answered.

This machine serves the pages of `wcxb` and answers 404 for their resources. Every host from which they may load
resources is mapped, so no request leaves the machine.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.contender import running_server
from benchmarks.common.corpora import corpus_folder
from benchmarks.common.cpu import open_account
from benchmarks.common.own_product import own_server, trusting_chromium
from benchmarks.common.rounds import percentile
from benchmarks.real_pages.saved_pages import SavedPage, hosts_of, select_pages, serve_pages

_PAGES = 200
_PAGES_QUICK = 40
_AT_ONCE = 4
_RENDER_MODES = ("auto", "browser")
_CALL_LIMIT_S = 70.0
_GOALS = (Goal("answered_share", at_least=1), Goal("broken", at_most=0))


@dataclass(frozen=True, slots=True)
class _Answer:
    """Result of reading one page with one value of `render`."""

    page: SavedPage
    render: str
    seconds: float
    text: str
    failure: str
    broken: bool = False
    """True if there was a protocol error instead of a result or a tool error."""


async def measure(options: Options) -> Figures:
    """Read every page with both values of `render`.

    Raises:
        SystemExit: `--corpora` is missing.
    """
    if options.corpora is None:
        raise SystemExit("Use --corpora DIR: a folder that contains wcxb/ or wcxb.tar.xz.")
    corpus = await asyncio.to_thread(corpus_folder, options.corpora, "wcxb")
    pages = select_pages(corpus, _PAGES_QUICK if options.quick else _PAGES)
    async with serve_pages(pages) as port:
        hosts = ",".join(f"{host}=127.0.0.1:{port}" for host in sorted(hosts_of(pages)))
        with trusting_chromium() as settings:
            answers = await _read({"SEARCH_MCP_TEST_HOSTS": hosts, **settings}, pages)
    figures = _print(pages, answers)
    print_goals(figures, _GOALS)
    return figures


async def _read(settings: dict[str, str], pages: Sequence[SavedPage]) -> list[_Answer]:
    with (
        own_server(settings=settings) as ours,
        open_account() as account,
        tempfile.TemporaryDirectory(prefix="benchmark-") as scratch,
    ):
        log = Path(scratch) / "server.log"
        async with (
            running_server(ours.server, ours.environment, account, ours.ready_url, log),
            Client(ours.command[-1]) as client,
        ):
            return [answer for render in _RENDER_MODES for answer in await _read_pages(client, pages, render)]


async def _read_pages(client: Client, pages: Sequence[SavedPage], render: str) -> list[_Answer]:
    waiting = iter(pages)
    answers: list[_Answer] = []

    async def work() -> None:
        for page in waiting:
            answer = await _answer(client, page, render)
            answers.append(answer)

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    return answers


async def _answer(client: Client, page: SavedPage, render: str) -> _Answer:
    arguments = {"url": page.url, "render": render, "force_refresh": True}
    started = time.perf_counter()
    try:
        result = await client.call_tool("fetch", arguments, read_timeout_seconds=_CALL_LIMIT_S)
    except MCPError as error:
        return _Answer(page, render, time.perf_counter() - started, "", str(error), broken=True)
    seconds = time.perf_counter() - started
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    return _Answer(page, render, seconds, text, text if result.is_error else "")


def _print(pages: Sequence[SavedPage], answers: Sequence[_Answer]) -> Figures:
    rows, figures = [], dict[str, float]()
    for render in _RENDER_MODES:
        results = [answer for answer in answers if answer.render == render]
        seconds = sorted(answer.seconds for answer in results)
        answered = sum(not answer.failure for answer in results)
        p50, p95 = percentile(seconds, 0.5), percentile(seconds, 0.95)
        size = percentile(sorted(float(len(answer.text)) for answer in results), 0.5)
        rows.append((render, len(results), answered, p50, p95, seconds[-1], size))
        figures |= {f"{render}.answered": answered, f"{render}.p50_s": p50, f"{render}.p95_s": p95}
    columns = ("render", "pages", "answered", "p50 s", "p95 s", "slowest s", "characters (median)")
    print_table(f"Real pages, {_AT_ONCE} concurrently", columns, rows)
    _print_worst(answers)
    failed = {answer.page.name for answer in answers if answer.failure}
    seconds = sorted(answer.seconds for answer in answers)
    return figures | {
        "pages": len(pages),
        "answered": len(pages) - len(failed),
        "broken": sum(answer.broken for answer in answers),
        "answered_share": (len(pages) - len(failed)) / len(pages),
        "p50_s": percentile(seconds, 0.5),
        "p95_s": percentile(seconds, 0.95),
    }


def _print_worst(answers: Sequence[_Answer]) -> None:
    slowest = sorted(answers, key=lambda answer: answer.seconds, reverse=True)[:8]
    rows = [(answer.page.url[:80], answer.render, answer.page.kind, answer.seconds) for answer in slowest]
    print_table("Slowest", ("page", "render", "type", "s"), rows)
    failures = [answer for answer in answers if answer.failure]
    rows_failed = [(a.page.url[:80], a.render, a.page.kind, a.failure.splitlines()[0][:110]) for a in failures]
    print_table(f"Failed: {len(failures)}", ("page", "render", "type", "error"), rows_failed)


if __name__ == "__main__":
    run(__doc__ or "", measure)
