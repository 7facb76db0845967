"""How each peer is started: its own environment, this machine's Chromium, its best settings for this race.

Browser: the peers find a browser through Playwright, and Playwright finds it in the folder that
PLAYWRIGHT_BROWSERS_PATH names. `setup_peers` lays links to this machine's Chromium there, under the very
paths that each peer's Playwright expects. So every peer runs its own unchanged code on the same binary as we
do (the headless shell, which Playwright takes for headless work by default), and nothing of it is patched.

Settings: rate limits are raised, caches are not read, the guards against private addresses are opened for the
local site, start-up notices are off. What a peer has no setting for stays: free-search-mcp waits 0.4 to 1.1 s
after each render. Each reads in its own process by its own function, without the cost of an MCP server and
client, which we bear: free-search-mcp reads twice as many pages a second so (43 against 22).
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
    """Where the Playwright of one environment looks for its browsers."""
    return peer_folder(environment) / "browsers"


def is_set_up(reader: str) -> bool:
    """Whether a peer's environment is there."""
    return peer_python(_ENVIRONMENTS[reader]).exists()


def peer(reader: str, *options: str) -> Contender:
    """Return the contender that runs a peer's reader.

    Raises:
        FileNotFoundError: its environment was not set up.
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
    """free-search-mcp as an MCP server over streamable HTTP, asked by the same client as ours."""
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
