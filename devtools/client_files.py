"""Write the files for registries and desktop clients from the code.

python -m devtools.client_files            server.json, bundle/manifest.json and clients.json of the playground
python -m devtools.client_files FILE.mcpb  these, and the bundle for desktop clients
"""

from __future__ import annotations

import json
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scraper.cli.client_config import CLIENTS, ServerCommand
from scraper.cli.setting_options import WEB_ONLY
from scraper.settings import Setting, setting_table
from scraper.tools import registry

ROOT = Path(__file__).resolve().parents[1]
NAME = "io.github.search-mcp/search-mcp"
"""Name in the registry, in reverse domain order; change it to publish under another name."""

_TEST_SETTINGS = frozenset({"test_hosts", "test_key_pin"})
"""Settings that redirect host names, for tests only."""
_USER_SETTINGS = ("language", "document_root", "proxy")
"""Settings that a desktop client asks its user for; the others have suitable defaults."""
_BUNDLED = ("pyproject.toml", "README.md", "LICENSE", "browsers", "scraper")
_EXCLUDED = frozenset({"__pycache__"})


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def server_json() -> dict[str, Any]:
    """Return server.json for the registry of the Model Context Protocol."""
    project = _project()
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": NAME,
        "title": "Search MCP",
        "description": "The web for AI agents: a real browser on your own machine, pages as Markdown.",
        "version": project["version"],
        "packages": [
            {
                "registryType": "pypi",
                "identifier": project["name"],
                "version": project["version"],
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "environmentVariables": [_variable(setting) for setting in _stdio_settings()],
            }
        ],
    }


def manifest_json() -> dict[str, Any]:
    """Return manifest.json for desktop clients that install a bundle."""
    project = _project()
    settings = [setting for setting in setting_table() if setting.name in _USER_SETTINGS]
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "Search MCP",
        "version": project["version"],
        "description": project["description"],
        "author": {"name": "The search-mcp maintainers"},
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "scraper/cli/main.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", project["name"], "stdio"],
                "env": {setting.variable: f"${{user_config.{setting.name}}}" for setting in settings},
            },
        },
        "tools": [{"name": tool.name, "description": tool.title} for tool in registry.tools()],
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": project["requires-python"]}},
        "user_config": {setting.name: _user_field(setting) for setting in settings},
    }


def clients_json() -> list[dict[str, Any]]:
    """Return the client configurations that the playground shows, with a command found on the PATH."""
    server = ServerCommand("search-mcp")
    return [
        {
            "title": client.title,
            "path": client.paths["other"],
            "snippet": client.snippet(server),
            "link": client.link(server),
            "url": client.url,
        }
        for client in CLIENTS.values()
    ]


FILES: dict[str, Callable[[], Any]] = {
    "server.json": server_json,
    "bundle/manifest.json": manifest_json,
    "scraper/server/playground/clients.json": clients_json,
}


def write_bundle(target: Path) -> None:
    """Pack the server and its manifest without Chromium; `search-mcp doctor` tells how to install it."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", _text(manifest_json()))
        for path in _bundled():
            bundle.write(path, path.relative_to(ROOT))


def _bundled() -> Iterator[Path]:
    for name in _BUNDLED:
        top = ROOT / name
        inside = [top] if top.is_file() else sorted(top.rglob("*"))
        yield from (path for path in inside if path.is_file() and not _EXCLUDED & set(path.parts))


def _stdio_settings() -> list[Setting]:
    """Return the settings that apply when a client starts the server over stdio."""
    return [setting for setting in setting_table() if setting.name not in WEB_ONLY | _TEST_SETTINGS]


def _variable(setting: Setting) -> dict[str, Any]:
    described = {"name": setting.variable, "description": setting.help, "isRequired": False}
    return {**described, "isSecret": True} if setting.secret else described


def _user_field(setting: Setting) -> dict[str, Any]:
    kind = "directory" if setting.name == "document_root" else "string"
    settings = {
        "type": kind,
        "title": setting.name.replace("_", " ").capitalize(),
        "description": setting.help,
        "required": False,
        "default": setting.default or "",
    }
    return {**settings, "sensitive": True} if setting.secret else settings


def _text(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files."""
    for name, content in FILES.items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(_text(content()), encoding="utf-8")
    for target in sys.argv[1:]:
        write_bundle(Path(target))


if __name__ == "__main__":
    main()
