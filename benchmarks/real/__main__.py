"""Two hundred real pages under their own host names, read through an MCP client: does every one answer?

The pages of `wcxb` are served from this machine, everything they load is 404, and every host from which they
may load something is mapped here, so nothing leaves the machine.
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
from benchmarks.real.saved_pages import SavedPage, chosen, hosts_of, served

_PAGES = 200
_PAGES_QUICK = 40
_AT_ONCE = 4
_WAYS = ("auto", "browser")
_CALL_LIMIT_S = 70.0
_GOALS = (Goal("answered_share", at_least=1), Goal("broken", at_most=0))


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came of reading one page one way."""

    page: SavedPage
    way: str
    seconds: float
    text: str
    failure: str
    broken: bool = False
    """No answer at all came, not even what was wrong with the page."""


async def measure(options: Options) -> Figures:
    """Read every page in both ways.

    Raises:
        SystemExit: no corpora were given.
    """
    if options.corpora is None:
        raise SystemExit("Give --corpora DIR: a folder with wcxb/ or wcxb.tar.xz in it.")
    corpus = await asyncio.to_thread(corpus_folder, options.corpora, "wcxb")
    pages = chosen(corpus, _PAGES_QUICK if options.quick else _PAGES)
    async with served(pages) as port:
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
            return [answer for way in _WAYS for answer in await _read_one_way(client, pages, way)]


async def _read_one_way(client: Client, pages: Sequence[SavedPage], way: str) -> list[_Answer]:
    waiting = iter(pages)
    answers: list[_Answer] = []

    async def work() -> None:
        for page in waiting:
            answer = await _answer(client, page, way)
            answers.append(answer)

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    return answers


async def _answer(client: Client, page: SavedPage, way: str) -> _Answer:
    arguments = {"url": page.url, "render": way, "force_refresh": True}
    started = time.perf_counter()
    try:
        result = await client.call_tool("fetch", arguments, read_timeout_seconds=_CALL_LIMIT_S)
    except MCPError as error:
        return _Answer(page, way, time.perf_counter() - started, "", str(error), broken=True)
    seconds = time.perf_counter() - started
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    return _Answer(page, way, seconds, text, text if result.is_error else "")


def _print(pages: Sequence[SavedPage], answers: Sequence[_Answer]) -> Figures:
    rows, figures = [], dict[str, float]()
    for way in _WAYS:
        of_way = [answer for answer in answers if answer.way == way]
        seconds = sorted(answer.seconds for answer in of_way)
        answered = sum(not answer.failure for answer in of_way)
        p50, p95 = percentile(seconds, 0.5), percentile(seconds, 0.95)
        size = percentile(sorted(float(len(answer.text)) for answer in of_way), 0.5)
        rows.append((way, len(of_way), answered, p50, p95, seconds[-1], size))
        figures |= {f"{way}.answered": answered, f"{way}.p50_s": p50, f"{way}.p95_s": p95}
    columns = ("render", "pages", "answered", "p50 s", "p95 s", "slowest s", "characters (median)")
    print_table(f"Real pages, {_AT_ONCE} at once", columns, rows)
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
    rows = [(answer.page.url[:80], answer.way, answer.page.kind, answer.seconds) for answer in slowest]
    print_table("Slowest", ("page", "render", "type", "s"), rows)
    failures = [answer for answer in answers if answer.failure]
    rows_failed = [(a.page.url[:80], a.way, a.page.kind, a.failure.splitlines()[0][:110]) for a in failures]
    print_table(f"Nothing to read: {len(failures)}", ("page", "render", "type", "why"), rows_failed)


if __name__ == "__main__":
    run(__doc__ or "", measure)
