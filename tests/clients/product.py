"""The product as third-party clients use it: a command to start, or a URL with a token."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.scraper.process import REPOSITORY, START_S, browsers_say, serving
from tests.site.running import Site

TRANSPORTS = ("http", "stdio")
_TOKEN = "a-token-of-the-tests"
_LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Product:
    """The running product: its URL over HTTP and its command over stdio."""

    url: str
    command: dict[str, Any]
    """`command`, `args` and `env`, as most clients' settings hold them."""

    @property
    def headers(self) -> dict[str, str]:
        """Headers that the server over HTTP requires."""
        return {"Authorization": f"Bearer {_TOKEN}"}

    def task(self, transport: str, site: Site) -> dict[str, Any]:
        """Return the task of a client program."""
        where: dict[str, Any] = (
            {"url": self.url, "headers": self.headers} if transport == "http" else {"command": self.command}
        )
        good = {"url": site.url("/static/7"), "render": "http"}
        return {**where, "good": good, "bad": {"url": "ftp://site.example/"}, "see": {"url": good["url"]}}


@asynccontextmanager
async def product(site: Site, folder: Path) -> AsyncIterator[Product]:
    """Start a server over HTTP; yield it with the command of a server over stdio."""
    env = {"SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable, "SEARCH_MCP_DATA": str(folder / "http")}
    # Clients start it in another folder and pass few environment variables.
    surroundings = {"PYTHONPATH": str(REPOSITORY), "PATH": os.environ["PATH"]}
    command = {
        "command": sys.executable,
        "args": ["-m", "scraper.cli.main", "stdio"],
        "env": {**env, **surroundings, "SEARCH_MCP_DATA": str(folder / "stdio")},
    }
    started = ("-m", "scraper.cli.main", "serve", "--port", "0")
    async with serving(*started, env={**env, "SEARCH_MCP_TOKEN": _TOKEN}) as program:
        await browsers_say(program.base, "ready", True, limit_s=START_S)
        yield Product(program.url, command)


async def run_client(
    command: tuple[str, ...], folder: Path | None = None, env: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a client program; return its exit code, stdout and stderr."""
    environment = {**os.environ, "NO_PROXY": "127.0.0.1,localhost", **(env or {})}
    running = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE
    )
    try:
        async with asyncio.timeout(_LIMIT_S):
            out, err = await running.communicate()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return running.returncode or 0, out.decode(), err.decode()


async def observe(command: tuple[str, ...], folder: Path | None = None) -> dict[str, Any]:
    """Return the observations of a client program."""
    code, out, err = await run_client(command, folder)
    assert code == 0, err[-3000:]
    seen: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return seen
