"""One server of several that share their state, as a process of its own, without a browser.

python -m benchmarks.shared_state.member fetch URL PAGE   reads a page when told, prints how
python -m benchmarks.shared_state.member limit URL SECONDS  asks for all it can get, prints how much that was

Both say `ready` first, and begin when a line comes in.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import cast
from urllib.parse import urlsplit

from browsers import Browsers
from browsers.model import Request, Snapshot
from browsers.navigation.visit import Enough
from scraper.coordination.protocols import Limit
from scraper.coordination.valkey_state import ValkeyState
from scraper.model import Document, ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.settings import Settings
from scraper.store.protocols import NullPageStore
from scraper.workers import WorkerPool

RATE = Limit("benchmark", burst=20, per_second=100)


class _PlainDoor:
    """Asks for a page as simply as can be: what is measured is who asks, not how."""

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot:
        where = urlsplit(request.url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        head = f"GET {where.path} HTTP/1.1\r\nHost: {where.netloc}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        text = (await reader.read()).decode("utf-8", "replace")
        writer.close()
        return Snapshot(request.url, request.url, 200, {}, "text/html", text.encode(), text)


class _PlainWorkers:
    async def run(self, function: object, snapshot: Snapshot, *, limit_s: float) -> Document:
        return Document(snapshot.url, text=snapshot.html, markdown=snapshot.html)


async def _fetch(together: ValkeyState, page: str) -> str:
    workers = cast(WorkerPool, _PlainWorkers())
    fetcher = Fetcher(cast(Browsers, _PlainDoor()), workers, NullPageStore(), Settings(), shared=together)
    await _told()
    reading = await fetcher.fetch(ReadRequest(page, render="http"))
    await fetcher.close()
    return str(len(reading.document.text))


async def _take(together: ValkeyState, seconds: float) -> str:
    await _told()
    granted, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        wait_s = await together.limits.take(RATE, "everybody")
        granted += not wait_s
        # Not the whole wait: whoever only comes when told to shows nothing of the limit.
        await asyncio.sleep(wait_s / 4)
    return str(granted)


async def _told() -> None:
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)


async def _main() -> None:
    what, url, word = sys.argv[1:]
    together = ValkeyState(url)
    await together.wait_connected(10)
    try:
        print(await (_fetch(together, word) if what == "fetch" else _take(together, float(word))), flush=True)
    finally:
        await together.close()


if __name__ == "__main__":
    asyncio.run(_main())
