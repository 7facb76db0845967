"""Measure CPU and memory of a crawl of static pages, beside Scrapy on the same site in the same run."""

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from benchmarks.common.command_line import Figures, print_table
from benchmarks.common.contender import REPOSITORY
from benchmarks.common.cpu import open_account
from benchmarks.common.processes import pss_bytes
from benchmarks.peers.launch import peer_python
from tests.site.prose import paragraph

_HOST = "static.example"
_SECTIONS, _PAGES = 30, 100
"""Sections of the site, and pages of each."""
_POLL_S = 0.5
_WORDS = paragraph("", 0).split()


@dataclass(frozen=True, slots=True)
class CrawlCost:
    """Cost of a crawl with all its processes, and the pages that it wrote."""

    name: str
    pages: int
    cpu_s: float
    peak_bytes: int


async def measure_cost(pages: int) -> Figures:
    """Crawl some pages of a static site with the product and with the peer."""
    app = web.Application()
    app.router.add_get("/{path:.*}", _answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
            folder = Path(name)
            crawl = (
                sys.executable,
                "-m",
                "scraper.cli.main",
                "crawl",
                f"http://{_HOST}/",
                "--out",
                str(folder / "search-mcp"),
            )
            own = await _run("search-mcp", (*crawl, "--out-format", "jsonl", "--max-pages", str(pages)), folder, port)
            spider = (str(peer_python("scrapy")), "-m", "benchmarks.peers.runners.scrapy_crawl")
            output = folder / "scrapy" / "pages.jsonl"
            peer = await _run("scrapy", (*spider, f"http://127.0.0.1:{port}/", str(pages), str(output)), folder, port)
    finally:
        await runner.cleanup()
    rows = [(one.name, one.pages, round(one.cpu_s, 2), one.peak_bytes // 1_000_000) for one in (own, peer)]
    print_table("Crawls of static pages", ("crawler", "pages", "CPU s", "peak MB"), rows)
    return {
        "crawl.cpu_ms": round(1_000 * own.cpu_s / own.pages, 1),
        "crawl.cpu_ratio.scrapy": round(own.cpu_s / own.pages / (peer.cpu_s / peer.pages), 2),
        "crawl.memory_ratio.scrapy": round(own.peak_bytes / peer.peak_bytes, 2),
    }


async def _run(name: str, command: Sequence[str], folder: Path, port: int) -> CrawlCost:
    environment = os.environ | {
        "SEARCH_MCP_TEST_HOSTS": f"{_HOST}=127.0.0.1:{port}",
        "SEARCH_MCP_DATA": str(folder / "data"),
        "SEARCH_MCP_LOG_LEVEL": "error",
    }
    with open_account() as account:
        process = await asyncio.create_subprocess_exec(
            *account.command(command), cwd=REPOSITORY, env=environment, stdout=asyncio.subprocess.DEVNULL
        )
        account.adopt(process.pid)
        waiting, peak = asyncio.create_task(process.wait()), 0
        while not (await asyncio.wait({waiting}, timeout=_POLL_S))[0]:
            peak = max(peak, pss_bytes(account.pids()))
        written = await asyncio.to_thread(_count_lines, folder / name)
        return CrawlCost(name, written, account.usage().total_s, peak)


def _count_lines(folder: Path) -> int:
    return sum(len(file.read_text("utf-8").splitlines()) for file in folder.glob("*.jsonl"))


async def _answer(request: web.Request) -> web.Response:
    section, _, page = request.path.strip("/").partition("/")
    if request.path == "/":
        links = [f"/s{number}" for number in range(_SECTIONS)]
    elif section[:1] == "s" and section[1:].isdigit():
        links = [f"/{section}/p{number}" for number in range(_PAGES)] if not page else [f"/{section}"]
    else:
        return web.Response(status=404, text="<h1>Not found</h1>", content_type="text/html")
    listed = "".join(f'<li><a href="{link}">Report {link[1:]}</a>' for link in links)
    words = random.Random(request.path).choices(_WORDS, k=220)
    text = "".join(f"<p>{' '.join(words[at : at + 55])}.</p>" for at in range(0, len(words), 55))
    body = f"<main><h1>Report {request.path}</h1>{text}<ul>{listed}</ul></main>"
    text = f"<!doctype html><html lang=en><title>Report {request.path}</title><nav><a href=/>Home</a></nav>{body}"
    return web.Response(text=text, content_type="text/html")
