"""Kill crawls of `crawl --out` at random moments, continue them, and count the pages of the output."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.contender import REPOSITORY
from tests.site.traps.ordinary import Robots
from tests.site.traps.serving import ServedSite, serving

_LIMIT_S = 300.0
_MOST_PAGES = 4
"""Pages after which a crawl is killed, at most; the site has fifty."""


@dataclass(frozen=True, slots=True)
class ResumeRating:
    """Result of a crawl that was killed again and again."""

    kills: int
    lost: int
    """True pages of the site that are not in the output."""
    twice: int
    """Rows of pages that have a row already."""
    again: int
    """Requests for pages that were requested before: those in progress when the crawl was killed."""


async def rate_resuming(kills: int) -> ResumeRating:
    """Crawl a made site with real processes, and kill them."""
    with serving(Robots) as (made, served), tempfile.TemporaryDirectory(prefix="benchmark-crawl-") as folder:
        command = [sys.executable, "-m", "scraper.cli.main", "crawl", served.url, "--out", f"{folder}/out"]
        command += ["--out-format", "jsonl"]
        for _ in range(kills):
            await _run(command, folder, served, kill_after=random.randint(1, _MOST_PAGES))
        await _run(command, folder, served)
        urls = _count_rows(Path(folder, "out"))
        read = {made.get(url).page for url in urls}
        requests = [count for path, count in served.requests.items() if path.startswith("/open/")]
        return ResumeRating(
            kills, len(made.pages.keys() - read), urls.total() - len(urls), sum(requests) - len(requests)
        )


async def _run(command: list[str], folder: str, served: ServedSite, kill_after: int | None = None) -> None:
    """Run a crawl to its end, or kill it after some requests for pages."""
    hosts = ",".join(f"{name}={address}:{port}" for name, address, port in served.test_hosts)
    settings = {"TEST_HOSTS": hosts, "DATA": f"{folder}/data", "CACHE_MB": "0", "LOG_LEVEL": "error"}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=REPOSITORY,
        env={**os.environ, **{f"SEARCH_MCP_{name}": value for name, value in settings.items()}},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    before, deadline = _count_pages(served), time.monotonic() + _LIMIT_S
    while process.returncode is None and time.monotonic() < deadline:
        if kill_after is not None and _count_pages(served) >= before + kill_after:
            await asyncio.sleep(random.random() / 2)
            break
        await asyncio.sleep(0.02)
    if process.returncode is None:
        process.kill()
    await process.wait()


def _count_rows(folder: Path) -> Counter[str]:
    files = folder.glob("pages-*.jsonl")
    return Counter(json.loads(line)["url"] for file in files for line in file.read_text("utf-8").splitlines())


def _count_pages(served: ServedSite) -> int:
    return sum(count for path, count in list(served.requests.items()) if path.startswith("/open/"))
