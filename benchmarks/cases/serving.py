"""Start a server of the product for the hosts of local sites, and connect a client."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

import aiohttp

from benchmarks.common.contender import REPOSITORY
from benchmarks.common.own_product import free_port
from benchmarks.common.wire_client import ERAS, WireClient, wire_client

_START_S = 240.0


@asynccontextmanager
async def open_client(
    hosts: Iterable[str], site_port: int, settings: Mapping[str, str], *, limit_s: float = 120.0
) -> AsyncIterator[WireClient]:
    """Yield a client of a server that finds `hosts` at `site_port` of this machine; a call may take `limit_s`."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as store:
        environment = {
            "SEARCH_MCP_TEST_HOSTS": ",".join(f"{host}=127.0.0.1:{site_port}" for host in hosts),
            "SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8,::1/128",
            "SEARCH_MCP_DATA": store,
            "SEARCH_MCP_LOG_LEVEL": "ERROR",
            **settings,
        }
        command = [sys.executable, "-m", "scraper.cli.main", "serve", "--port", str(port)]
        process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **environment}, cwd=REPOSITORY)
        try:
            await wait_until_ready(f"http://127.0.0.1:{port}/ready")
            async with wire_client(f"http://127.0.0.1:{port}/mcp", ERAS[0], limit_s=limit_s) as client:
                yield client
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def wait_until_ready(url: str) -> None:
    """Return when a probe has status 200; raise TimeoutError after four minutes."""
    async with asyncio.timeout(_START_S), aiohttp.ClientSession() as http:
        while True:
            try:
                async with http.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.2)
