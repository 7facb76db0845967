"""`search-mcp client` prints and writes the configuration of each client."""

from __future__ import annotations

import base64
import json
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from scraper.cli.client_config import CLIENTS, SERVER_NAME, ServerCommand
from tests.scraper.cli.in_process import command_output

PARSERS = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
EXISTING = {
    "json": '{\n    "theme": "dark",\n    "KEY": {"other": {"command": "x"}}\n}\n',
    "toml": '# my settings\nmodel = "m"\n\n[KEY.other]\ncommand = "x"\n',
    "yaml": "# my settings\nmodel: m\nKEY:\n  other:\n    cmd: x\nlast: 1\n",
}
SERVER = ServerCommand("/opt/with space/search-mcp")


def servers(name: str, text: str) -> dict[str, Any]:
    """Return the servers in a configuration file by name."""
    content = PARSERS[CLIENTS[name].syntax](text)
    for key in CLIENTS[name].keys:
        content = content[key]
    return dict(content)


def existing(name: str) -> str:
    return EXISTING[CLIENTS[name].syntax].replace("KEY", CLIENTS[name].keys[0])


@pytest.mark.parametrize("name", CLIENTS)
def test_the_printed_text_is_a_configuration_file(name: str) -> None:
    shown = command_output("client", name)
    assert shown.code == 0 and CLIENTS[name].url in shown.err
    (entry,) = servers(name, shown.out).values()
    command = entry.get("command") or entry["cmd"]
    program = command[0] if isinstance(command, list) else command
    assert Path(program).is_absolute() and Path(program).name == "search-mcp"
    assert [*(command[1:] if isinstance(command, list) else entry["args"])] == ["stdio"]


@pytest.mark.parametrize("text", ["", "existing"])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_merge_keeps_all_other_settings(name: str, text: str) -> None:
    known = CLIENTS[name]
    old = existing(name) if text else ""
    new = known.merge(old, SERVER)
    entry = servers(name, new).pop(SERVER_NAME)
    assert entry == known.entry(SERVER)
    if old:
        assert servers(name, new)["other"] == servers(name, old)["other"]
        before, after = (PARSERS[known.syntax](one) for one in (old, new))
        assert {key: after[key] for key in before if key != known.keys[0]} == {
            key: before[key] for key in before if key != known.keys[0]
        }
        assert ("# my settings" in new) == ("# my settings" in old)
    assert known.merge(new, SERVER) == new


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zed", '// mine\n{"a": 1}'),
        ("vscode", '{"servers": []}'),
        ("cursor", "{"),
        ("codex", "a = "),
        ("codex", 'mcp_servers = {a = {command = "x"}}'),
        ("goose", "extensions: {a: 1}\n"),
        ("goose", "extensions:\n  search-mcp:\n    cmd: old\n"),
    ],
)
def test_a_file_that_would_lose_something_is_not_changed(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "settings"
    path.write_text(text)
    shown = command_output("client", name, "--write", "--yes", "--file", str(path))
    assert shown.code == 1 and "was not changed" in shown.err and SERVER_NAME in shown.out
    assert path.read_text() == text and list(tmp_path.iterdir()) == [path]


def test_writing_asks_first_and_shows_the_change(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "mcp.json"
    arguments = ("client", "cursor", "--write", "--file", str(path))
    refused = command_output(*arguments, stdin=b"n\n")
    assert refused.code == 1 and not path.exists() and '+    "search-mcp": {' in refused.out
    unanswered = command_output(*arguments, stdin=b"")
    assert unanswered.code == 1 and not path.exists()
    assert unanswered.err.splitlines()[-1] == "Nothing was changed. Use --yes where no question can be answered."
    assert command_output(*arguments, stdin=b"y\n").code == 0
    assert SERVER_NAME in servers("cursor", path.read_text())
    again = command_output(*arguments)
    assert again.code == 0 and "is up to date" in again.out


def test_a_link_and_the_mode_of_the_file_stay(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text("{}")
    target.chmod(0o600)
    link = tmp_path / "mcp.json"
    link.symlink_to(target)
    assert command_output("client", "cursor", "--write", "--yes", "--file", str(link)).code == 0
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o600 and SERVER_NAME in target.read_text()


def test_links_carry_the_command() -> None:
    standard = {"command": SERVER.command, "args": ["stdio"]}
    for name in ("cursor", "lm-studio"):
        query = parse_qs(urlsplit(str(CLIENTS[name].link(SERVER))).query)
        assert json.loads(base64.b64decode(query["config"][0])) == standard
    code = str(CLIENTS["vscode"].link(SERVER))
    assert json.loads(unquote(code.partition("?")[2])) == {"name": SERVER_NAME, "type": "stdio", **standard}
    query = parse_qs(urlsplit(str(CLIENTS["goose"].link(SERVER))).query)
    assert (query["cmd"], query["arg"]) == ([SERVER.command], ["stdio"])


def test_a_server_of_uvx_is_started_by_uvx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/home/me/.cache/uv/archive-v0/abc/bin/search-mcp"])
    server = ServerCommand.of_this_process()
    assert Path(server.command).name == "uvx" and server.args == ("search-mcp", "stdio")


def test_an_unknown_client_is_refused_with_the_known_ones() -> None:
    shown = command_output("client", "emacs")
    assert shown.code == 2 and "claude-desktop" in shown.err
