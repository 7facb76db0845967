"""The files for registries, desktop clients and editors are correct and valid."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from devtools.client_files import FILES, ROOT, manifest_json, server_json, write_bundle
from scraper.cli.main import group
from scraper.cli.setting_options import WEB_ONLY
from scraper.settings import setting_table

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "docs" / "clients.md").read_text(encoding="utf-8"))
COMMANDS = frozenset(group.commands)
NOT_GENERATORS = frozenset(
    {
        "code_figures",
        "demo_engines",
        "docstring_numbers",
        "fetch_path",
        "language_gaps",
        "release",
        "size_gate",
        "third_parties",
    }
)
"""Programs of devtools that change no file, or one from data outside the repository."""


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_up_to_date(name: str) -> None:
    assert json.loads((ROOT / name).read_text(encoding="utf-8")) == FILES[name](), "run: make docs"


def test_one_command_writes_all_generated_files() -> None:
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8").split("\n\n")
    (recipe,) = (recipe for recipe in recipes if recipe.startswith("docs:"))
    runnable = (file for file in (ROOT / "devtools").glob("*.py") if "__main__" in file.read_text("utf-8"))
    makers = {file.stem for file in runnable} - NOT_GENERATORS
    assert makers and all(f"-m devtools.{maker}\n" in f"{recipe}\n" for maker in makers)


def test_the_registry_rules_are_followed() -> None:
    told = server_json()
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", told["name"])
    assert len(told["description"]) <= 100
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", told["version"])
    (package,) = told["packages"]
    assert (package["identifier"], package["version"]) == ("search-mcp", told["version"])
    named = {variable["name"]: variable for variable in package["environmentVariables"]}
    assert set(named) <= {setting.variable for setting in setting_table()}
    assert named["SEARCH_MCP_PROXY"]["isSecret"] is True
    elsewhere = [setting for setting in setting_table() if setting.name in WEB_ONLY or "test" in setting.name]
    assert not named.keys() & {setting.variable for setting in elsewhere}
    assert not any("for tests" in variable["description"].lower() for variable in named.values())
    # The registry searches it in the package's description as proof of common ownership.
    assert f"<!-- mcp-name: {told['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_bundle_contains_the_program_of_its_manifest(tmp_path: Path) -> None:
    write_bundle(tmp_path / "search.mcpb")
    with zipfile.ZipFile(tmp_path / "search.mcpb") as bundle:
        names = set(bundle.namelist())
        told = json.loads(bundle.read("manifest.json"))
        project = tomllib.loads(bundle.read("pyproject.toml").decode())["project"]
    assert told == manifest_json()
    assert told["server"]["entry_point"] in names
    assert project["readme"] in names
    assert set(project["license-files"]) <= names
    script = told["server"]["mcp_config"]["args"]
    assert script[-2] in project["scripts"]
    assert script[-1] in COMMANDS
    assert {"scraper/extract/content/weights.npz", "scraper/server/playground/people.js"} <= names
    assert not any("__pycache__" in name for name in names)
    asked = set(re.findall(r"user_config\.(\w+)", json.dumps(told["server"])))
    assert asked == set(told["user_config"])


def test_every_client_has_a_configuration() -> None:
    kinds = [kind for kind, _ in BLOCKS]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "sh": 2, "json": 5, "toml": 1, "yaml": 1, "python": 2
    }  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), BLOCKS, ids=[f"{n}-{kind}" for n, (kind, _) in enumerate(BLOCKS)])
def test_a_configuration_is_valid_and_starts_an_existing_command(kind: str, text: str) -> None:
    if kind == "sh":
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if words[0] == "search-mcp":
                assert words[1] in COMMANDS
            elif words[:2] != ["npx", "skills"]:
                assert words[:3] == ["claude", "mcp", "add"]
                assert "search-mcp stdio" in line or "http://127.0.0.1:8000/mcp" in words
    elif kind == "python":
        ast.parse(text)
    else:
        for server in _servers(_read(kind, text)):
            if "command" in server:
                assert server["command"] == "search-mcp"
                assert server["args"][0] in COMMANDS
            else:
                assert server.get("url", server.get("httpUrl")) == "http://127.0.0.1:8000/mcp"


def _read(kind: str, text: str) -> Any:
    if kind == "json":
        return json.loads(text)
    if kind == "toml":
        return tomllib.loads(text)
    return _yaml(text)


def _yaml(text: str) -> dict[str, Any]:
    """Parse the subset of YAML that the file needs: names, and one list of servers."""
    assert "\t" not in text
    found = dict(re.findall(r"^\s+(?:- )?(name|command): (\S+)$", text, re.MULTILINE))
    return {"mcpServers": [{**found, "args": re.findall(r"^\s+- ([\w.-]+)$", text, re.MULTILINE)}]}


def _servers(read: dict[str, Any]) -> list[dict[str, Any]]:
    (name,) = {"mcpServers", "servers", "context_servers", "mcp_servers"} & read.keys()
    held = read[name]
    servers = list(held.values()) if isinstance(held, dict) else held
    assert servers
    return servers
