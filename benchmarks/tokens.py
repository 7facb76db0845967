"""Measure the tokens of the tool list, which every client pays, counted as in the contract.

A token is four characters of compact JSON. `tools_list` is the result of `tools/list` in the larger of both
protocol versions, as served by default. The two tools for ChatGPT, the output schemas that a setting adds and the
longest description are reported too, and without --quick the answers of twelve tasks: `tasks.tokens` is their sum, at
most three quarters of the 5,012 of 24 November 2026, `passages.links` the share of URLs in answers with passages, and
`small.noise` that of header and marks beside 670 characters of a page. `idle.memory_mb` is that of all processes of a
server over stdio, some seconds after it has listed its tools.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from asyncio.subprocess import PIPE
from typing import Any

import psutil

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.task_answers import CLIENTS, TASKS, measure_tasks
from tests.scraper.process import running
from tests.scraper.server.pipe import ask
from tests.scraper.server.wire import initialize, modern

_CHARACTERS = 4
_IDLE_S = 5.0
_CORE = frozenset({"search", "fetch", "fetch_batch", "read_doc", "research"})
"""Tools of the smallest useful toolset."""
_GOALS = (
    Goal("tools_list", at_most=5_000),
    Goal("core_tools", at_most=2_200),
    Goal("longest_description", at_most=1_200),
    Goal("tasks.tokens", at_most=3_759),
    Goal("idle.memory_mb", at_most=200),
    Goal("passages.links", at_most=0.08),
    Goal("small.noise", at_most=0.15),
    *(Goal(f"client.{name}.readable", at_least=len(TASKS)) for name in CLIENTS),
)


async def count_list_tokens() -> float:
    """Return the tokens of the tool list, in the larger of both protocol versions."""
    return max(_tokens(await _listed("modern")), _tokens(await _listed("legacy")))


async def measure(options: Options) -> Figures:
    """List the tools in both protocol versions, and the two tools for ChatGPT; run the tasks."""
    newer, older = await _listed("modern"), await _listed("legacy")
    with_schemas = await _listed("modern", SEARCH_MCP_OUTPUT_SCHEMAS="yes")
    pair = await _listed("modern", "openai")
    rows = [
        (tool["name"], len(tool["description"]), round(_tokens(tool["inputSchema"])), round(_tokens(tool)))
        for tool in newer["result"]["tools"]
    ]
    print_table("Tools", ("tool", "description, characters", "schema, tokens", "whole, tokens"), rows)
    figures: Figures = {
        "core_tools": sum(row[3] for row in rows if row[0] in _CORE),
        "tools_list": max(_tokens(newer), _tokens(older)),
        "tools_list.2025": _tokens(older),
        "tools_list.2026": _tokens(newer),
        "pair_list": _tokens(pair),
        "output_schemas": _tokens(with_schemas) - _tokens(newer),
        "tools": len(rows),
        "longest_description": max(row[1] for row in rows),
    }
    if not options.quick:
        figures |= {"idle.memory_mb": await _measure_idle_memory()} | await measure_tasks()
    print_goals(figures, _GOALS)
    return figures


async def _listed(era: str, toolset: str = "full", **variables: str) -> dict[str, Any]:
    command = ("-m", "scraper.cli.main", "stdio", "--toolset", toolset)
    with tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder:
        async with running(*command, env={"SEARCH_MCP_DATA": folder, **variables}, stdin=PIPE, stdout=PIPE) as program:
            if era == "legacy":
                await ask(program, initialize())
                return await ask(program, {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
            return await ask(program, modern("tools/list", {})[1])


async def _measure_idle_memory() -> float:
    with tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder:
        command, variables = ("-m", "scraper.cli.main", "stdio"), {"SEARCH_MCP_DATA": folder}
        async with running(*command, env=variables, stdin=PIPE, stdout=PIPE) as program:
            await ask(program, modern("tools/list", {})[1])
            await asyncio.sleep(_IDLE_S)
            server = psutil.Process(program.process.pid)
            return float(sum(one.memory_info().rss for one in (server, *server.children(recursive=True)))) / 1e6


def _tokens(value: Any) -> float:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) / _CHARACTERS


if __name__ == "__main__":
    run(__doc__ or "", measure)
