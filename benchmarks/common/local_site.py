"""Serve the test site in a separate process under thirty loopback addresses.

A browser treats each address as a different host. So pages can be spread over hosts without mapping names, and
every peer reads the same URLs as search-mcp.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from benchmarks.common.subprocess_module import run_module

_ADDRESSES = tuple(f"127.0.0.{last}" for last in range(2, 32))
_BACKLOG = 1024
_STOP_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class LocalSite:
    """A running site. It never returns a URL twice, so that no reader can answer from a cache."""

    port: int
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def fresh(self, path: str, count: int) -> tuple[str, ...]:
        """Return `count` new URLs `path/NUMBER`, each on the next host."""
        return tuple(self._url(path, number, number) for number in itertools.islice(self._numbers, count))

    def fresh_of_one_host(self, path: str, count: int) -> tuple[str, ...]:
        """Return new URLs of one host."""
        numbers = list(itertools.islice(self._numbers, count))
        return tuple(self._url(path, number, numbers[0]) for number in numbers)

    def _url(self, path: str, number: int, host: int) -> str:
        return f"http://{_ADDRESSES[host % len(_ADDRESSES)]}:{self.port}{path}/{number}"


@asynccontextmanager
async def local_site() -> AsyncIterator[LocalSite]:
    """Run the site in a process outside all CPU accounts."""
    async with run_module("benchmarks.common.local_site") as (port, _):
        yield LocalSite(port)


async def _serve(port: int) -> None:
    from tests.site.server import application

    runner = web.AppRunner(application(), access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        for address in _ADDRESSES:
            await web.TCPSite(runner, address, port, backlog=_BACKLOG).start()
            port = port or runner.addresses[0][1]
        print(json.dumps({"port": port}), flush=True)
        await asyncio.to_thread(os.read, sys.stdin.fileno(), 1)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(runner.cleanup(), _STOP_LIMIT_S)


def _main() -> None:
    parser = argparse.ArgumentParser(description="Serve the test site under thirty loopback addresses.")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(_serve(parser.parse_args().port))


if __name__ == "__main__":
    _main()
