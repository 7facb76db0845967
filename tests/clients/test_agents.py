"""Agents read the configuration that `search-mcp client --write` writes, and connect to the server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.clients.environments import AGENTS
from tests.clients.product import run_client
from tests.clients.required import require_environment
from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.process import output_of

pytestmark = [pytest.mark.slow, pytest.mark.full_size]

COMMANDS = {
    "claude-code": (("claude", "mcp", "list"), "Connected"),
    "codex": (("codex", "mcp", "list", "--json"), '"tool_timeout_sec": 120.0'),
    "gemini-cli": (("gemini", "mcp", "list"), "Connected"),
    "opencode": (("opencode", "mcp", "list"), "connected"),
}
"""Command that lists the servers, and text of a usable one. Codex does not connect for its list."""


@pytest.mark.parametrize("name", COMMANDS)
async def test_an_agent_uses_the_written_configuration(name: str, tmp_path: Path) -> None:
    require_environment(AGENTS)
    home = {"HOME": str(tmp_path), "SEARCH_MCP_DATA": str(tmp_path / "data")}
    written = await output_of(*SEARCH_MCP, "client", name, "--write", "--yes", env=home)
    assert written.code == 0, written.err
    (program, *arguments), expected = COMMANDS[name]
    env = {
        **home,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "XDG_CONFIG_HOME": str(tmp_path / ".config"),
        # Some programs of the package are native, others are scripts of node.
        "PATH": os.pathsep.join((str(AGENTS.folder / "bin"), os.environ["PATH"])),
    }
    installed = AGENTS.node_folder / "node_modules" / ".bin" / program
    code, out, err = await run_client((str(installed), *arguments), tmp_path, env)
    assert code == 0, out + err
    assert "search-mcp" in out + err and expected in out + err
