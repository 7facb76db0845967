"""Start each peer in its own environment, with this machine's Chromium and its fastest settings.

Browser: the peers find a browser through Playwright, in the folder that PLAYWRIGHT_BROWSERS_PATH names.
`setup_peers` creates links to this machine's Chromium there, at the paths that each peer's Playwright expects.
So every peer runs unpatched on the same binary as search-mcp: the headless shell, Playwright's default.

Settings: rate limits are raised, caches are not read, private addresses are allowed for the local site, start-up
notices are off. Behavior without a setting stays: free-search-mcp waits 0.4 to 1.1 s after each render. Each peer
reads with its own function in its own process, without the cost of an MCP server and client, which search-mcp
includes. This doubles the pages per second of free-search-mcp (43 against 22).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from benchmarks.common.contender import Contender
from benchmarks.common.corpora import cache_folder
from benchmarks.common.own_product import free_port, mcp_reader

_ENVIRONMENTS = {
    "crawl4ai": "crawl4ai",
    "free_search_mcp": "free_search_mcp",
    "mcp_server_fetch": "mcp_server_fetch",
    "playwright": "plain",
    "trafilatura": "plain",
}
_FREE_SEARCH_SERVER = ("-m", "search_mcp", "--transport", "streamable-http")


def peer_folder(environment: str) -> Path:
    """Return the folder of one environment."""
    return cache_folder() / "peers" / environment


def peer_python(environment: str) -> Path:
    """Return the interpreter of one environment."""
    return peer_folder(environment) / "bin" / "python"


def browsers_folder(environment: str) -> Path:
    """Return the folder where the Playwright of one environment finds its browsers."""
    return peer_folder(environment) / "browsers"


def is_set_up(reader: str) -> bool:
    """Return True if a peer's environment exists."""
    return peer_python(_ENVIRONMENTS[reader]).exists()


def peer(reader: str, *options: str) -> Contender:
    """Return the contender that runs a peer's reader.

    Raises:
        FileNotFoundError: its environment is not set up.
    """
    environment = _ENVIRONMENTS[reader]
    python = peer_python(environment)
    if not is_set_up(reader):
        raise FileNotFoundError(f"{python} is missing. Run `python -m benchmarks.setup_peers` first.")
    return Contender(
        name=" ".join((reader, *(option.removeprefix("--") for option in options))),
        command=(str(python), "-m", f"benchmarks.peers.runners.{reader}_reader", *options),
        environment=_settings(environment),
    )


def free_search_mcp_server() -> Contender:
    """Return free-search-mcp as an MCP server over streamable HTTP, with the same client as search-mcp."""
    itself, port = peer("free_search_mcp"), free_port()
    address = f"http://127.0.0.1:{port}/mcp"
    return dataclasses.replace(
        itself,
        name="free_search_mcp over mcp",
        command=mcp_reader(address),
        server=(itself.command[0], *_FREE_SEARCH_SERVER, "--port", str(port)),
        ready_url=address,
    )


def _settings(environment: str) -> dict[str, str]:
    folder = peer_folder(environment)
    return {
        "PLAYWRIGHT_BROWSERS_PATH": str(browsers_folder(environment)),
        "CRAWL4_AI_BASE_DIRECTORY": str(folder / "state"),
        "CRAWL4AI_NO_CLOUD_NOTICE": "1",
        "SEARCH_MCP_CACHE_DIR": str(folder / "state"),
        "SEARCH_MCP_CONFIG_DIR": str(folder / "state"),
        "SEARCH_MCP_FETCH_RATE_LIMIT_PER_MINUTE": "1000000",
        "SEARCH_MCP_RATE_LIMIT_PER_MINUTE": "1000000",
        "SEARCH_MCP_ALLOW_PRIVATE_HOSTS": "true",
        "SEARCH_MCP_BROWSER_POOL_SIZE": "8",
        "SEARCH_MCP_LOG_LEVEL": "ERROR",
    }
