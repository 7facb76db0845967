"""Call every tool in every format against the test site, and store the answers for the documentation.

python -m devtools.tool_answers
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.contract.rows.testbed import Testbed
from tests.site.engine_server import running_engines
from tests.site.running import running_site

FILE = Path(__file__).with_suffix(".json")

_KETTLES = "http://site.example/shop/late-list"
_TIDES, _FERRIES = "http://site.example/guide/tides", "http://site.example/guide/ferries"
_VALUES = ({"url": _KETTLES, "records": True}, {"fields": {"author": "", "title": ""}})
_QUESTION = "Where does the ferry land at low tide?"
_BOTH: tuple[Mapping[str, Any], ...] = ({}, {"format": "json"})
_DEFAULT: tuple[Mapping[str, Any], ...] = ({},)

CALLS: tuple[tuple[str, str, tuple[dict[str, Any], ...]], ...] = tuple(
    (toolset, tool, tuple({**arguments, **variant} for variant in variants))
    for toolset, tool, arguments, variants in (
        ("full", "engines", {}, _DEFAULT),
        ("full", "fetch", {"url": _TIDES}, (*_BOTH, {"start": 150, "length": 120})),
        ("full", "fetch_batch", {"urls": [_TIDES, _FERRIES]}, _BOTH),
        ("full", "extract_structured", {"url": _TIDES}, (*_BOTH, *_VALUES)),
        ("full", "read_doc", {"source": "http://site.example/document/table.csv"}, _BOTH),
        ("full", "compare", {"question": _QUESTION, "urls": [_TIDES, _FERRIES]}, _BOTH),
        ("full", "map", {"url": "http://site.example/static/0", "question": "static 3"}, _BOTH),
        ("full", "crawl", {"url": "http://site.example/", "include_paths": ["/guide/*"], "question": _QUESTION}, _BOTH),
        ("full", "changes", {"urls": [_TIDES]}, _BOTH),
        ("full", "see", {"url": _TIDES}, _DEFAULT),
        ("full", "cache_search", {"query": "spring tide"}, _BOTH),
        ("full", "search", {"query": "tidal power", "max_results": 2}, _BOTH),
        ("full", "research", {"question": "tidal power", "depth": 1, "engines": ["duckduckgo"]}, _BOTH),
        ("full", "web_search", {"query": "tidal power", "max_results": 2}, _DEFAULT),
        ("full", "instant_answer", {"query": "tidal power"}, _DEFAULT),
        ("full", "search_create_index", {"index_name": "notes"}, _DEFAULT),
        (
            "full",
            "search_add_document",
            {"doc_id": "a", "content": "Tides turn twice a day.", "index_name": "notes"},
            _DEFAULT,
        ),
        ("full", "search_index", {"query": "tides", "index_name": "notes"}, _DEFAULT),
        (
            "full",
            "find_tools",
            {"query": "read a PDF"},
            ({}, {"kind": "prompts"}, {"query": "tide", "kind": "resources"}),
        ),
        ("pair", "search", {"query": "tidal power"}, _DEFAULT),
        ("pair", "fetch", {"id": _FERRIES}, _DEFAULT),
        ("acting", "browse", {"steps": [f"open {_TIDES}", "scroll end", "look water"]}, _DEFAULT),
    )
)
"""Toolset, tool and arguments of each call, in an order that fills the cache and the index first."""

_CHANGING = (
    (re.compile(r"(?<=untrusted )[0-9a-f]{8}(?=>>>)"), "01234567"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "0123456789ab"),
    (re.compile(r"\b20(?:2[5-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"), "2026-01-01T12:00:00+00:00"),
    (re.compile(r"\b20(?:2[5-9]|[3-9]\d)-\d\d-\d\d(?!T)\b"), "2026-01-01"),
    (re.compile(r'(?<=crawl=")[\w-]{12}(?=")|(?<="crawl":")[\w-]{12}(?=")'), "q3ZtT0gYb1cA"),
    (re.compile(r"(?<=^Session )[0-9a-f]{32}"), "0123456789abcdef0123456789abcdef"),
    (re.compile(r"(?m)(?<=^)( *)e\d+(?= [a-z]+ \")"), r"\1e12"),
    (re.compile(r"\b\d+ (?:s|min) ago"), "0 s ago"),
)
"""Parts that differ between two runs: ids of regions, times and ages."""


async def answers() -> dict[str, list[dict[str, Any]]]:
    """Return the arguments and the answer of each call by toolset and tool."""
    async with contextlib.AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tool-answers-", ignore_cleanup_errors=True))
        site = stack.enter_context(running_site())
        engines = await stack.enter_async_context(running_engines())
        http = await stack.enter_async_context(aiohttp.ClientSession())
        testbed = Testbed(site, engines, Path(folder), http, stack)
        await testbed.start()
        return {f"{toolset}/{tool}": await _answers(testbed, toolset, tool, calls) for toolset, tool, calls in CALLS}


async def _answers(
    testbed: Testbed, toolset: str, tool: str, calls: tuple[dict[str, Any], ...]
) -> list[dict[str, Any]]:
    results = []
    if toolset == "acting":
        # The last one: it is served by a server of its own.
        testbed.program = await testbed.serve({"SEARCH_MCP_TOOLSETS": toolset})
        toolset = "full"
    for arguments in calls:
        answer = await testbed.call(tool, at=toolset, **arguments)
        if answer.is_error:
            raise RuntimeError(f"{tool} {arguments}: {answer.text}")
        results.append({"arguments": arguments, "text": _stable(answer.text)})
    return results


def _stable(text: str) -> str:
    for pattern, constant in _CHANGING:
        text = pattern.sub(constant, text)
    return text


def load() -> dict[str, list[dict[str, Any]]]:
    """Return the stored answers."""
    stored: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def main() -> None:
    """Store the answers."""
    FILE.write_text(json.dumps(asyncio.run(answers()), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
