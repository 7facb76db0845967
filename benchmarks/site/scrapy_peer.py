"""Crawl sites breadth first with Scrapy's link extractor and request fingerprints, as its spiders do by default."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from benchmarks.common.contender import REPOSITORY
from benchmarks.peers.launch import peer_python
from benchmarks.site.crawling import CrawlRating, OfflineSite
from benchmarks.site.offline_reader import OfflineReader

_ENVIRONMENT = "scrapy"
_MAX_LINE_BYTES = 1 << 24


class ScrapyPeer:
    """A process of the peer's environment that extracts links."""

    def __init__(self, process: Process) -> None:
        """Use a running process."""
        self._process = process

    async def extract_links(self, url: str, html: str) -> list[tuple[str, str]]:
        """Return the URL and the request fingerprint of each link."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"url": url, "html": html}).encode() + b"\n")
        await self._process.stdin.drain()
        answer = json.loads(await self._process.stdout.readline())
        return [(link, fingerprint) for link, fingerprint in answer["links"]]


@asynccontextmanager
async def open_scrapy() -> AsyncIterator[ScrapyPeer]:
    """Run the peer.

    Raises:
        FileNotFoundError: Its environment is not set up.
    """
    python = peer_python(_ENVIRONMENT)
    if not python.exists():
        raise FileNotFoundError("Scrapy is missing: run `python -m benchmarks.setup_peers`.")
    process = await asyncio.create_subprocess_exec(
        str(python),
        "-m",
        "benchmarks.peers.runners.scrapy_links",
        cwd=REPOSITORY,
        stdin=PIPE,
        stdout=PIPE,
        limit=_MAX_LINE_BYTES,
    )
    try:
        yield ScrapyPeer(process)
    finally:
        process.terminate()
        await process.wait()


async def rate_scrapy(site: OfflineSite, peer: ScrapyPeer) -> CrawlRating:
    """Crawl a site within its budget: robots.txt, then each new link of its host in the order of discovery."""
    reader = OfflineReader(site.get)
    rules = await reader.load_robots(site.origin)
    host = urlsplit(site.origin).netloc
    waiting, seen = deque([f"{site.origin}/"]), {""}
    while waiting and len(reader.visits) < site.budget:
        response, final = reader.visit(waiting.popleft())
        if response.status != 200 or response.media_type != "text/html":
            continue
        for url, fingerprint in await peer.extract_links(final, response.body.decode("utf-8", "replace")):
            if fingerprint not in seen and urlsplit(url).netloc == host and rules.allows(url):
                seen.add(fingerprint)
                waiting.append(url)
    read = {visit.page for visit in reader.visits if visit.page in site.pages}
    return CrawlRating(
        site.name,
        len(read) / len(site.pages),
        len(reader.visits) - len(read),
        kept_copies=0,
        kept_junk=0,
        decide_ms=0.0,
    )
