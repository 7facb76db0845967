"""One of several servers with shared state, in a separate process and without a browser.

python -m benchmarks.shared_state.member fetch URL PAGE   read a page; print the length of its text
python -m benchmarks.shared_state.member limit URL SECONDS  take from a rate limit; print the number of permits

Both commands print `ready` and start when a line arrives on stdin.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import cast
from urllib.parse import urlsplit

from browsers import Browsers
from browsers.model import Request, Snapshot
from browsers.navigation.visit import IsSufficient
from scraper.coordination.state import RateLimit
from scraper.coordination.valkey_state import ValkeyState
from scraper.model import Document, ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.settings import Settings
from scraper.store.protocols import NullPageStore
from scraper.workers import WorkerPool

RATE = RateLimit("benchmark", burst=20, per_second=100)


class _PlainBrowser:
    """Minimal HTTP client: the benchmark measures which process requests the page, not how."""

    async def visit(self, request: Request, enough: IsSufficient | None = None) -> Snapshot:
        parts = urlsplit(request.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        head = f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        text = (await reader.read()).decode("utf-8", "replace")
        writer.close()
        return Snapshot(request.url, request.url, 200, {}, "text/html", text.encode(), text)


class _PlainWorkers:
    async def run(self, function: object, snapshot: Snapshot, **limits: float) -> Document:
        return Document(snapshot.url, text=snapshot.html, markdown=snapshot.html)


async def _fetch(valkey_state: ValkeyState, page: str) -> str:
    workers = cast(WorkerPool, _PlainWorkers())
    fetcher = Fetcher(cast(Browsers, _PlainBrowser()), workers, NullPageStore(), Settings(), shared=valkey_state)
    await _wait_for_start()
    reading = await fetcher.fetch(ReadRequest(page, render="http"))
    await fetcher.close()
    return str(len(reading.document.text))


async def _take(valkey_state: ValkeyState, seconds: float) -> str:
    await _wait_for_start()
    granted, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        wait_s = await valkey_state.limits.take(RATE, "everybody")
        granted += not wait_s
        # Retry before the wait is over: clients that always wait would not test the limit.
        await asyncio.sleep(wait_s / 4)
    return str(granted)


async def _wait_for_start() -> None:
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)


async def _main() -> None:
    command, url, argument = sys.argv[1:]
    valkey_state = ValkeyState(url)
    await valkey_state.wait_connected(10)
    try:
        print(
            await (_fetch(valkey_state, argument) if command == "fetch" else _take(valkey_state, float(argument))),
            flush=True,
        )
    finally:
        await valkey_state.close()


if __name__ == "__main__":
    asyncio.run(_main())
