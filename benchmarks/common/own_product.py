"""Contenders for search-mcp: a server with its client, or browser visits in one process."""

from __future__ import annotations

import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.common.contender import Contender
from browsers.chromium import locate
from browsers.model import Tier

_LOCAL = {"SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8", "SEARCH_MCP_MAX_ANSWER_TOKENS": "25000"}


def _server_command(port: int) -> tuple[str, ...]:
    """Return the command that serves MCP over streamable HTTP."""
    return (sys.executable, "-m", "scraper.cli.main", "serve", "--port", str(port))


def stdio_command() -> tuple[str, ...]:
    """Return the command that serves MCP over stdin and stdout, as the console script `search-mcp stdio` does."""
    return (sys.executable, "-c", "from scraper.cli.entry import main; main()", "stdio")


@contextmanager
def own_server(name: str = "search-mcp", settings: Mapping[str, str] | None = None) -> Iterator[Contender]:
    """Yield our server with its client. Only the server is measured; its cache is removed on exit."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="benchmark-data-") as data:
        yield Contender(
            name=name,
            command=mcp_reader(f"http://127.0.0.1:{port}/mcp"),
            environment={**_LOCAL, "SEARCH_MCP_DATA": data, **(settings or {})},
            server=_server_command(port),
            ready_url=f"http://127.0.0.1:{port}/ready",
        )


def mcp_reader(address: str) -> tuple[str, ...]:
    """Return the command of a client that reads through the MCP server at a URL."""
    return (sys.executable, "-m", "benchmarks.peers.mcp_reader", address)


def own_visits(name: str = "search-mcp, visits alone") -> Contender:
    """Return the contender that visits pages in one process."""
    return Contender(name=name, command=(sys.executable, "-m", "benchmarks.peers.own_reader"))


@contextmanager
def trusting_chromium() -> Iterator[Mapping[str, str]]:
    """Yield settings under which Chromium accepts the invalid certificates of the test hosts.

    The server has no such setting on purpose. A wrapper script replaces the browser executable.
    """
    with tempfile.TemporaryDirectory(prefix="benchmark-chromium-") as folder:
        settings = {}
        for tier in Tier:
            found = locate.find_chromium(tier, None)
            if found is not None:
                script = Path(folder) / tier
                script.write_text(f'#!/bin/sh\nexec "{found.executable}" --ignore-certificate-errors "$@"\n')
                script.chmod(0o755)
                settings[f"SEARCH_MCP_{tier.upper()}_CHROMIUM"] = str(script)
        yield settings


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
