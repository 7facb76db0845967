"""Run the parsers of peers on the saved pages, each in its own environment."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.peers.launch import peer_python
from benchmarks.serp.pages import SerpPage
from benchmarks.serp.score import ReadPage, ReadRow

PEERS: Mapping[str, frozenset[str]] = {
    "ddgs": frozenset({"duckduckgo html", "mojeek web", "startpage web", "brave web", "bing web"}),
    "free_search_mcp": frozenset(
        {"duckduckgo html", "mojeek web", "googlenews rss", "startpage web", "brave web", "bing web", "baidu web"}
    ),
}
"""Engines and page variants that each peer requests; other pages do not count for it.

SearXNG is missing because it is not on the package index (`searx` there is its predecessor of 2020).
"""

_LIMIT_S = 300
_ROOT = Path(__file__).resolve().parents[2]


def parse_with_peer(peer: str, pages: Sequence[SerpPage]) -> list[ReadPage]:
    """Return the results of a peer for pages, in order.

    Raises:
        FileNotFoundError: its environment is not set up.
    """
    python = peer_python(peer)
    if not python.exists():
        raise FileNotFoundError(f"{python} is missing. Run `python -m benchmarks.setup_peers` first.")
    jobs = [{"engine": page.engine, "file": str(page.file.resolve())} for page in pages]
    done = subprocess.run(
        [str(python), "-m", f"benchmarks.peers.runners.{peer}_serp"],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        cwd=_ROOT,
    )
    if done.returncode != 0:
        raise SystemExit(f"{peer} failed:\n{done.stderr[-2000:]}")
    return [
        ReadPage(answer["status"], tuple(ReadRow(row["title"], row["url"], row["snippet"]) for row in answer["rows"]))
        for answer in json.loads(done.stdout.splitlines()[-1])
    ]
