"""Commands `client` and `skill`: print or write what lets an MCP client or a coding agent use this program.

Sources of paths and keys, November 2026: the documentation of each client; `url` names the page. The stub of the skill
never changes with the guides, so that an agent always reads the guide of the installed version.
"""

import base64
import difflib
import json
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode

import click

from scraper.cli.callers import check_path
from scraper.cli.exit_codes import ExitCode
from scraper.cli.files import write_file
from scraper.cli.setting_options import command
from scraper.tools.skills import GUIDES, read_guide
from scraper.values.text import read_table

SERVER_NAME = "search-mcp"

_UVX_CACHE = ("/uv/archive-v", "/uv/environments-v")
"""Folders of environments that uvx creates; uv may delete them at any time."""

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """Command line that starts the server over stdio."""

    command: str
    args: tuple[str, ...] = ("stdio",)

    @classmethod
    def of_this_process(cls) -> Self:
        """Return the command of the running program by its absolute path, or uvx, whose environments may be deleted."""
        program = shutil.which(sys.argv[0]) or sys.argv[0]
        if any(folder in program for folder in _UVX_CACHE):
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
    """Path below the home folder by `sys.platform`; the key `other` is for all other platforms."""
    keys: Sequence[str]
    fields: Entry
    """Entry with placeholders."""
    syntax: str = "json"
    link_start: str = ""
    """Start of a link that installs the server, if there is one."""
    link_kind: str = ""
    """Format of its rest: `base64`, `json` or `arguments`."""

    def path(self) -> Path:
        """Return the path of the user's configuration file."""
        return Path.home() / self.paths.get(sys.platform, self.paths["other"])

    def entry(self, server: ServerCommand) -> Entry:
        """Return the entry of the server."""
        args = list(server.args)
        values: Entry = {"{command}": server.command, "{args}": args, "{none}": None}
        values["{command and args}"] = [server.command, *args]
        return {
            name: values.get(value, value) if isinstance(value, str) else value for name, value in self.fields.items()
        }

    def link(self, server: ServerCommand) -> str | None:
        """Return a link that installs the server after the client has asked the user, if there is one."""
        entry = self.entry(server)
        match self.link_kind:
            case "base64":
                config = base64.b64encode(json.dumps(entry).encode()).decode()
                return self.link_start + urlencode({"name": SERVER_NAME, "config": config})
            case "json":
                return self.link_start + quote(json.dumps({"name": SERVER_NAME, **entry}), safe="")
            case "arguments":
                about = {"id": SERVER_NAME, "name": SERVER_NAME, "description": "Read the web"}
                about["timeout"] = str(entry["timeout"])
                parts = [("cmd", server.command), *(("arg", argument) for argument in server.args), *about.items()]
                return self.link_start + urlencode(parts, quote_via=quote)
        return None

    def snippet(self, server: ServerCommand) -> str:
        """Return the text that a user adds to the file."""
        return _DUMP[self.syntax](self.keys, self.entry(server))

    def merge(self, text: str, server: ServerCommand) -> str:
        """Return the configuration `text` with the server; raise MergeError if it cannot be changed without loss."""
        return _MERGE[self.syntax](text, self.keys, self.entry(server))


class MergeError(Exception):
    """A configuration file cannot be changed; the message states the reason."""


CLIENTS = {name: ClientFormat(**row) for name, row in read_table(__package__, "clients.toml").items()}


@command("client")
def client(name: str, write: bool, yes: bool, path: Path | None, as_json: bool, tools: str | None) -> int:
    """Print the configuration that lets an MCP client start this server."""
    known = CLIENTS[name]
    server = ServerCommand.of_this_process()
    if tools is not None:
        server = replace(server, args=(*server.args, "--toolsets", tools))
    path = path or known.path()
    if as_json and not write:
        found = {"file": str(path), "text": known.snippet(server), "link": known.link(server)}
        click.echo(json.dumps(found, ensure_ascii=False))
        return 0
    if not write:
        click.echo(f"Add this to {path}:\n", err=True)
        click.echo(known.snippet(server))
        if (link := known.link(server)) is not None:
            click.echo(f"\nOr open this link, which installs it:\n{link}", err=True)
        click.echo(f"\n`search-mcp client {name} --write` does it. Documentation: {known.url}", err=True)
        return 0
    old = read_text(path)
    try:
        new = known.merge(old, server)
    except MergeError as error:
        click.echo(known.snippet(server))
        raise click.ClickException(f"{path} was not changed: {error} Add the text above yourself.") from None
    if write_after_question(path, old, new, yes=yes):
        click.echo(f"Restart {known.title}.")
    return 0


def write_after_question(path: Path, old: str, new: str, *, yes: bool) -> bool:
    """Show the change of a file, ask unless `yes`, and write it; return False if there is no change."""
    if new == old:
        click.echo(f"{path} is up to date.")
        return False
    click.echo("".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(path), "new")))
    if not yes:
        click.confirm(f"Write {path}?", abort=True, err=True)
    write_file(path, new)
    click.echo(f"{path} was written.")
    return True


def read_text(path: Path) -> str:
    """Return the text of a file to change, empty if there is none; raise RefusedError if an agent may not change it."""
    check_path(path)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(
            f"{path} cannot be read: {error}. Check the file, or name another with --file."
        ) from None


def _dump_json(keys: Sequence[str], entry: Entry) -> str:
    content: Entry = {SERVER_NAME: entry}
    for key in reversed(keys):
        content = {key: content}
    return json.dumps(content, indent=2, ensure_ascii=False)


def _merge_json(text: str, keys: Sequence[str], entry: Entry) -> str:
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
    indented = next((line for line in text.splitlines() if line[:1] in (" ", "\t") and line.strip()), "")
    indent = indented[: len(indented) - len(indented.lstrip())]
    return json.dumps(content, indent=indent or 2, ensure_ascii=False) + "\n"


def _dump_toml(keys: Sequence[str], entry: Entry) -> str:
    # A JSON string, number or array of strings is also one of TOML.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    return "\n".join([f"[{'.'.join(keys)}.{SERVER_NAME}]", *lines])


def _merge_toml(text: str, keys: Sequence[str], entry: Entry) -> str:
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


def _dump_yaml(keys: Sequence[str], entry: Entry) -> str:
    # A JSON value is also a YAML value.
    lines = [f"    {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    return "\n".join([f"{keys[0]}:", f"  {SERVER_NAME}:", *lines])


def _merge_yaml(text: str, keys: Sequence[str], entry: Entry) -> str:
    block = _dump_yaml(keys, entry).partition("\n")[2] + "\n"
    if block in text:
        return text
    lines, head = text.splitlines(keepends=True), f"{keys[0]}:"
    if any(line[:1].isspace() and line.strip().startswith(f"{SERVER_NAME}:") for line in lines):
        raise MergeError("it contains an entry of this name.")
    for at, line in enumerate(lines):
        if line.startswith(head):
            if line.removeprefix(head).strip() not in ("", "{}"):
                raise MergeError(f"{keys[0]} is written in one line there.")
            return "".join([*lines[:at], f"{head}\n{block}", *lines[at + 1 :]])
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{head}\n{block}"


_DUMP = {"json": _dump_json, "toml": _dump_toml, "yaml": _dump_yaml}
_MERGE = {"json": _merge_json, "toml": _merge_toml, "yaml": _merge_yaml}


FOLDERS = {"claude-code": Path(".claude/skills"), "agents": Path(".agents/skills")}
"""Folder of skills by the name of its readers, below a working folder or the home folder. Codex, Cursor, Gemini CLI,
OpenCode and others read `agents` (documentation of each, November 2026)."""


def stub_file(skills: Path) -> Path:
    """Return the file of the stub in a folder of skills."""
    return skills / "search-mcp" / "SKILL.md"


def find_other_stubs() -> Iterator[Path]:
    """Return the installed stubs that are not those of this version."""
    for base in (Path.cwd(), Path.home()):
        for file in (stub_file(base / folder) for folder in FOLDERS.values()):
            if file.is_file() and file.read_text(encoding="utf-8", errors="replace") != read_guide("stub"):
                yield file


@command("skill")
def skill(name: str | None, target: str | None, user: bool, yes: bool) -> int:
    """Print a guide for coding agents, or write the skill that announces the guides.

    Without a name, it lists the guides.
    """
    if target is not None:
        base = Path.home() if user else Path()
        path = stub_file(base / FOLDERS[target] if target in FOLDERS else Path(target))
        write_after_question(path, read_text(path), read_guide("stub"), yes=yes)
    elif name is None:
        click.echo("\n".join(f"search-mcp skill {guide}: {about}" for guide, about in GUIDES.items()))
    else:
        click.echo(read_guide(name), nl=False)
    return ExitCode.SUCCESS
