"""Answers of twelve ordinary tasks, as clients of each kind show them to a model."""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.command_line import Figures, print_table
from benchmarks.contract.rows.testbed import Testbed, testbed
from tests.scraper.server.client_views import shown_by_clients

_CHARACTERS = 4
"""Characters of a token."""
CLIENTS = {"claude-code": "structured only", "codex": "structured only", "cursor": "both", "plain": "content only"}
"""What a client shows of answers with structured content (Claude Code 2.1.280, September 2026)."""


@dataclass(frozen=True, slots=True)
class _Task:
    """A call, and what a model must see of its answer: words of a line, or the type of an image."""

    name: str
    tool: str
    shown: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    """Paths on the test site: the value of `url`, `urls` or `source`."""


TASKS = (
    _Task("whole page", "fetch", "# Tides in the harbour", {}, ("/guide/tides",)),
    _Task("question", "fetch", "4.8 m", {"question": "How high is the spring tide?"}, ("/guide/tides",)),
    _Task("product", "extract_structured", "## product", {}, ("/shop/injected",)),
    _Task("table", "fetch", "| Ship | Tons |", {}, ("/rich",)),
    _Task("search", "search", "tidal", {"query": "tidal power"}),
    _Task("research", "research", "## ", {"question": "How does tidal power work?"}),
    _Task("compare", "compare", "high water", {"question": "When is high water?"}, ("/guide/tides", "/guide/ferries")),
    _Task(
        "PDF question",
        "read_doc",
        "line 3 of the printed log",
        {"question": "What is on line 3?"},
        ("/document/log.pdf",),
    ),
    _Task("picture", "see", "image image/webp", {}, ("/guide/tides",)),
    _Task("whole picture", "see", "image image/webp", {"what": "full"}, ("/colored/plain",)),
    _Task("map", "map", "/rich", {"max_pages": 20}, ("/",)),
    _Task("changes", "changes", "/guide/tides", {}, ("/guide/tides",)),
)


_URL = re.compile(r"https?://[^\s)>\]]+")
_REGION = re.compile(r"<<<untrusted \w+>>>\n(.*?)\n<<<end untrusted \w+>>>", re.DOTALL)
_WITH_PASSAGES = ("question", "research", "compare", "PDF question")
_SMALL, _SMALL_CHARACTERS = "whole page", 670
"""A small answer, and the characters of page text for which its noise is stated."""


def share_of_links(texts: Sequence[str]) -> float:
    """Return the share of characters that are URLs."""
    return sum(len(url) for text in texts for url in _URL.findall(text)) / max(1, sum(map(len, texts)))


def share_of_noise(text: str) -> float:
    """Return the share of header and marks in an answer with `_SMALL_CHARACTERS` of page text."""
    noise = len(text) - sum(map(len, _REGION.findall(text)))
    return noise / (noise + _SMALL_CHARACTERS)


async def measure_tasks() -> Figures:
    """Return tokens, shares of links and noise, and for each client how many answers a model sees whole and once."""
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    readable = dict.fromkeys(CLIENTS, 0)
    tokens, rows, texts = 0.0, [], {}
    with tempfile.TemporaryDirectory(prefix="benchmark-", ignore_cleanup_errors=True) as folder:
        async with testbed(Path(folder)) as bed:
            for task in TASKS:
                views = shown_by_clients((await bed.call(task.tool, **_arguments(task, bed))).result)
                content = views["content only"]
                seen = {name: views[view] == content and _shows(task, content) for name, view in CLIENTS.items()}
                readable = {name: readable[name] + seen[name] for name in readable}
                tokens += (size := len(content[0]) / _CHARACTERS)
                texts[task.name] = content[0]
                rows.append((task.name, round(size), *("yes" if one else "no" for one in seen.values())))
    print_table("Tasks", ("task", "tokens", *CLIENTS), rows)
    shares = {
        "passages.links": share_of_links([texts[name] for name in _WITH_PASSAGES]),
        "small.noise": share_of_noise(texts[_SMALL]),
    }
    return {"tasks.tokens": tokens, **shares, **{f"client.{name}.readable": count for name, count in readable.items()}}


def _shows(task: _Task, shown: list[str]) -> bool:
    return any(task.shown in line for item in shown for line in item.splitlines())


def _arguments(task: _Task, bed: Testbed) -> dict[str, Any]:
    urls = [bed.site.url(path) for path in task.paths]
    name = {"read_doc": "source", "compare": "urls", "changes": "urls"}.get(task.tool, "url")
    return {**task.arguments, **({name: urls if name == "urls" else urls[0]} if urls else {})}
