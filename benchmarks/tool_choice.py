"""Measure whether `find_tools` and `tools/search` put the right tool first for requests in the words of users.

`--cases FILE` is a JSON list of `{"request": text, "tool": name}`. Both ways are asked over stdio; a line of the table
is a request of which the right tool is not first. `browse` is offered, so that requests for it have a right answer.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from asyncio.subprocess import PIPE
from pathlib import Path

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from tests.scraper.process import Program, running
from tests.scraper.server.pipe import ask
from tests.scraper.server.wire import modern

_FIRST_SHARE, _THREE_SHARE = 34 / 40, 38 / 40
_AMONG = 3
_WAYS = ("find_tools", "tools_search")
_LISTED = re.compile(r"^- (\w+)\(", re.MULTILINE)
_GOALS = tuple(
    goal
    for way in _WAYS
    for goal in (Goal(f"{way}.first", at_least=_FIRST_SHARE), Goal(f"{way}.among_three", at_least=_THREE_SHARE))
)


async def measure(options: Options) -> Figures:
    """Ask for the tool of each request, both ways, and return the shares that are first and among three."""
    cases = json.loads(options.more.cases.read_text(encoding="utf-8"))
    places: dict[str, list[int]] = {way: [] for way in _WAYS}
    rows = []
    with tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder:
        settings = {"SEARCH_MCP_DATA": folder, "SEARCH_MCP_TOOLSETS": "default,acting"}
        async with running("-m", "scraper.cli.main", "stdio", env=settings, stdin=PIPE, stdout=PIPE) as program:
            for case in cases:
                found = await _find(program, case["request"]), await _search(program, case["request"])
                for way, names in zip(_WAYS, found, strict=True):
                    places[way].append(names.index(case["tool"]) + 1 if case["tool"] in names else 0)
                if found[0][:1] != [case["tool"]]:
                    rows.append((case["request"], case["tool"], ", ".join(found[0][:_AMONG])))
    print_table(f"Not first, of {len(cases)}", ("request", "tool", "found"), rows)
    figures: Figures = {"requests": len(cases)}
    for way, ranks in places.items():
        figures[f"{way}.first"] = sum(rank == 1 for rank in ranks) / len(ranks)
        figures[f"{way}.among_three"] = sum(0 < rank <= _AMONG for rank in ranks) / len(ranks)
    print_goals(figures, _GOALS)
    return figures


async def _find(program: Program, request: str) -> list[str]:
    message = modern("tools/call", {"name": "find_tools", "arguments": {"query": request}})[1]
    return _LISTED.findall((await ask(program, message))["result"]["content"][0]["text"])


async def _search(program: Program, request: str) -> list[str]:
    answer = await ask(program, modern("tools/search", {"query": request})[1])
    return [tool["name"] for tool in answer["result"]["tools"]]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", type=Path, metavar="FILE", required=True, help="requests with their tools, as JSON")


if __name__ == "__main__":
    run(__doc__ or "", measure, add_arguments=_add_arguments)
