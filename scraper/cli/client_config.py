"""Command `client`: print or write the configuration with which an MCP client starts this server.

Sources of paths and keys, November 2026: the documentation of each client; `url` names the page.
"""

from __future__ import annotations

import base64
import difflib
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import click

from scraper.cli.files import write_file
from scraper.cli.setting_options import Command

SERVER_NAME = "search-mcp"
_TIMEOUT_S = 120
"""Seconds. Clients stop waiting after 30 to 60 s by default, and a research call may take longer."""

_UVX_CACHE = re.compile(r"/uv/(?:archive|environments)-v\d+/")
"""Folder of environments that uvx creates; uv may delete them at any time."""

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """Command line that starts the server over stdio."""

    command: str
    args: tuple[str, ...] = ("stdio",)

    @classmethod
    def of_this_process(cls) -> ServerCommand:
        """Return the command of the running program with its absolute path, so that it also starts without a PATH.

        In an environment of uvx, which may be deleted, the command starts uvx.
        """
        program = shutil.which(sys.argv[0]) or sys.argv[0]
        if _UVX_CACHE.search(program):
            return cls(shutil.which("uvx") or "uvx", ("search-mcp", "stdio"))
        if Path(program).name == "search-mcp":
            return cls(str(Path(program).absolute()))
        beside = Path(sys.executable).with_name("search-mcp")
        return cls(str(beside) if beside.exists() else "search-mcp")


@dataclass(frozen=True, slots=True)
class ClientFormat:
    """A client, its configuration file, and the format of a server entry in that file."""

    title: str
    url: str
    paths: Mapping[str, str]
    """Path below the home folder by `sys.platform`; the key "" is for all other platforms."""
    keys: tuple[str, ...]
    """Keys of the object that maps names to servers."""
    entry: Callable[[ServerCommand], Entry] = field(default=lambda server: _standard_entry(server))
    syntax: str = "json"
    link: Callable[[ServerCommand], str] | None = None
    """Return a link that installs the server after the client has asked the user."""

    def path(self) -> Path:
        """Return the path of the user's configuration file."""
        return Path.home() / self.paths.get(sys.platform, self.paths[""])

    def snippet(self, server: ServerCommand) -> str:
        """Return the text that a user adds to the file."""
        return _DUMP[self.syntax](self.keys, self.entry(server))

    def merge(self, text: str, server: ServerCommand) -> str:
        """Return the configuration `text` with the server added or replaced.

        Raises:
            MergeError: The text cannot be changed without loss.
        """
        return _MERGE[self.syntax](text, self.keys, self.entry(server))


class MergeError(Exception):
    """A configuration file cannot be changed; the message states the reason."""


def _standard_entry(server: ServerCommand) -> Entry:
    return {"command": server.command, "args": list(server.args)}


def _typed_entry(server: ServerCommand) -> Entry:
    return {"type": "stdio", **_standard_entry(server)}


def _goose_entry(server: ServerCommand) -> Entry:
    return {
        "name": SERVER_NAME,
        "type": "stdio",
        "enabled": True,
        "cmd": server.command,
        "args": list(server.args),
        "timeout": _TIMEOUT_S,
        # Goose writes these itself.
        "description": None,
        "bundled": None,
        "envs": {},
        "env_keys": [],
    }


def _base64_of(value: Entry) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


def _cursor_link(server: ServerCommand) -> str:
    query = urlencode({"name": SERVER_NAME, "config": _base64_of(_standard_entry(server))})
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{query}"


def _vs_code_link(server: ServerCommand) -> str:
    return f"vscode:mcp/install?{quote(json.dumps({'name': SERVER_NAME, **_typed_entry(server)}), safe='')}"


def _lm_studio_link(server: ServerCommand) -> str:
    return "lmstudio://add_mcp?" + urlencode({"name": SERVER_NAME, "config": _base64_of(_standard_entry(server))})


def _goose_link(server: ServerCommand) -> str:
    about = {"id": SERVER_NAME, "name": SERVER_NAME, "description": "Read the web", "timeout": str(_TIMEOUT_S)}
    parts = [("cmd", server.command), *(("arg", argument) for argument in server.args), *about.items()]
    return "goose://extension?" + urlencode(parts, quote_via=quote)


_APPLICATION_SUPPORT = "Library/Application Support"
CLIENTS: dict[str, ClientFormat] = {
    "claude-code": ClientFormat(
        "Claude Code", "https://code.claude.com/docs/en/mcp", {"": ".claude.json"}, ("mcpServers",), _typed_entry
    ),
    "claude-desktop": ClientFormat(
        "Claude Desktop",
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        {
            "": ".config/Claude/claude_desktop_config.json",
            "darwin": f"{_APPLICATION_SUPPORT}/Claude/claude_desktop_config.json",
        },
        ("mcpServers",),
    ),
    "codex": ClientFormat(
        "Codex",
        "https://developers.openai.com/codex/mcp",
        {"": ".codex/config.toml"},
        ("mcp_servers",),
        lambda server: {**_standard_entry(server), "tool_timeout_sec": _TIMEOUT_S},
        syntax="toml",
    ),
    "cursor": ClientFormat(
        "Cursor", "https://cursor.com/docs/context/mcp", {"": ".cursor/mcp.json"}, ("mcpServers",), link=_cursor_link
    ),
    "gemini-cli": ClientFormat(
        "Gemini CLI",
        "https://geminicli.com/docs/tools/mcp-server",
        {"": ".gemini/settings.json"},
        ("mcpServers",),
        lambda server: {**_standard_entry(server), "timeout": _TIMEOUT_S * 1000},
    ),
    "goose": ClientFormat(
        "Goose",
        "https://block.github.io/goose/docs/getting-started/using-extensions",
        {"": ".config/goose/config.yaml"},
        ("extensions",),
        _goose_entry,
        syntax="yaml",
        link=_goose_link,
    ),
    "lm-studio": ClientFormat(
        "LM Studio",
        "https://lmstudio.ai/docs/app/mcp",
        {"": ".lmstudio/mcp.json"},
        ("mcpServers",),
        link=_lm_studio_link,
    ),
    "opencode": ClientFormat(
        "opencode",
        "https://opencode.ai/docs/mcp-servers",
        {"": ".config/opencode/opencode.json"},
        ("mcp",),
        lambda server: {"type": "local", "command": [server.command, *server.args], "enabled": True},
    ),
    "vscode": ClientFormat(
        "VS Code",
        "https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
        {"": ".config/Code/User/mcp.json", "darwin": f"{_APPLICATION_SUPPORT}/Code/User/mcp.json"},
        ("servers",),
        _typed_entry,
        link=_vs_code_link,
    ),
    "windsurf": ClientFormat(
        "Windsurf",
        "https://docs.windsurf.com/windsurf/cascade/mcp",
        {"": ".codeium/windsurf/mcp_config.json"},
        ("mcpServers",),
    ),
    "zed": ClientFormat(
        "Zed",
        "https://zed.dev/docs/ai/mcp",
        {"": ".config/zed/settings.json"},
        ("context_servers",),
        lambda server: {**_standard_entry(server), "env": {}},
    ),
}


@click.command(cls=Command, examples=["client claude-desktop", "client codex --write", "client cursor --json"])
@click.argument("name", metavar="NAME", type=click.Choice(sorted(CLIENTS)))
@click.option("--write", is_flag=True, help="Add the server to the client's configuration file, after a question.")
@click.option("--yes", is_flag=True, help="Write without a question.")
@click.option("--file", "path", type=click.Path(dir_okay=False, path_type=Path), help="Use another configuration file.")
@click.option("--json", "as_json", is_flag=True, help="Print file, text and link as JSON.")
def client(name: str, write: bool, yes: bool, path: Path | None, as_json: bool) -> int:
    """Print the configuration that lets an MCP client start this server."""
    known = CLIENTS[name]
    server = ServerCommand.of_this_process()
    path = path or known.path()
    if as_json and not write:
        link = known.link and known.link(server)
        click.echo(json.dumps({"file": str(path), "text": known.snippet(server), "link": link}, ensure_ascii=False))
        return 0
    if not write:
        click.echo(f"Add this to {path}:\n", err=True)
        click.echo(known.snippet(server))
        if known.link is not None:
            click.echo(f"\nOr open this link, which installs it:\n{known.link(server)}", err=True)
        click.echo(f"\n`search-mcp client {name} --write` does it. Documentation: {known.url}", err=True)
        return 0
    old = _read(path)
    try:
        new = known.merge(old, server)
    except MergeError as error:
        click.echo(known.snippet(server))
        raise click.ClickException(f"{path} was not changed: {error} Add the text above yourself.") from None
    if new == old:
        click.echo(f"{path} contains this server already.")
        return 0
    click.echo("".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(path), "new")))
    if not yes:
        click.confirm(f"Write {path}?", abort=True, err=True)
    write_file(path, new)
    click.echo(f"{path} was written. Restart {known.title}.")
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(
            f"{path} cannot be read: {error}. Check the file, or name another with --file."
        ) from None


def _dump_json(keys: tuple[str, ...], entry: Entry) -> str:
    content: Entry = {SERVER_NAME: entry}
    for key in reversed(keys):
        content = {key: content}
    return json.dumps(content, indent=2, ensure_ascii=False)


def _merge_json(text: str, keys: tuple[str, ...], entry: Entry) -> str:
    try:
        content = json.loads(text) if text.strip() else {}
    except ValueError:
        raise MergeError("it is not plain JSON (comments would be lost).") from None
    servers = content
    for key in keys:
        servers = servers.setdefault(key, {}) if isinstance(servers, dict) else None
    if not isinstance(servers, dict):
        raise MergeError(f"{'.'.join(keys)} is not an object there.")
    if servers.get(SERVER_NAME) == entry:
        return text
    servers[SERVER_NAME] = entry
    indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return json.dumps(content, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _dump_toml(keys: tuple[str, ...], entry: Entry) -> str:
    # A JSON string, number or array of strings is also one of TOML.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    return "\n".join([f"[{'.'.join(keys)}.{SERVER_NAME}]", *lines])


def _merge_toml(text: str, keys: tuple[str, ...], entry: Entry) -> str:
    try:
        servers = tomllib.loads(text)
        for key in keys:
            servers = servers.get(key, {})
        if servers.get(SERVER_NAME) == entry:
            return text
        merged = text + ("\n" if text and not text.endswith("\n") else "") + ("\n" if text else "")
        merged += _dump_toml(keys, entry) + "\n"
        tomllib.loads(merged)
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise MergeError(f"with the server added it is not valid TOML ({error}).") from None
    return merged


def _dump_yaml(keys: tuple[str, ...], entry: Entry) -> str:
    # A JSON value is also a YAML value.
    lines = [f"    {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    return "\n".join([f"{keys[0]}:", f"  {SERVER_NAME}:", *lines])


def _merge_yaml(text: str, keys: tuple[str, ...], entry: Entry) -> str:
    block = _dump_yaml(keys, entry).partition("\n")[2] + "\n"
    if block in text:
        return text
    if re.search(rf"^\s+{SERVER_NAME}:", text, re.MULTILINE):
        raise MergeError("it contains an entry of this name.")
    if (start := re.search(rf"^{keys[0]}:[ \t]*(?:\{{\}}[ \t]*)?\n", text, re.MULTILINE)) is not None:
        return f"{text[: start.start()]}{keys[0]}:\n{block}{text[start.end() :]}"
    if re.search(rf"^{keys[0]}:", text, re.MULTILINE):
        raise MergeError(f"{keys[0]} is written in one line there.")
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{keys[0]}:\n{block}"


_DUMP = {"json": _dump_json, "toml": _dump_toml, "yaml": _dump_yaml}
_MERGE = {"json": _merge_json, "toml": _merge_toml, "yaml": _merge_yaml}
