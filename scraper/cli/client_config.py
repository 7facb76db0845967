"""Command `client`: print or write the configuration with which an MCP client starts this server.

Sources of paths and keys, November 2026: the documentation of each client; `url` names the page.
"""

from __future__ import annotations

import base64
import difflib
import functools
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import click

from scraper.cli.files import write_file
from scraper.cli.setting_options import Command, FilePath

SERVER_NAME = "search-mcp"

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
    """Path below the home folder by `sys.platform`; the key `other` is for all other platforms."""
    keys: tuple[str, ...]
    """Keys of the object that maps names to servers."""
    fields: Entry
    """Entry with placeholders."""
    syntax: str = "json"
    make_link: Callable[[ServerCommand, Entry], str] | None = None

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
        return self.make_link(server, self.entry(server)) if self.make_link else None

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


def _base64_link(server: ServerCommand, entry: Entry) -> str:
    config = base64.b64encode(json.dumps(entry).encode()).decode()
    return urlencode({"name": SERVER_NAME, "config": config})


def _json_link(server: ServerCommand, entry: Entry) -> str:
    return quote(json.dumps({"name": SERVER_NAME, **entry}), safe="")


def _arguments_link(server: ServerCommand, entry: Entry) -> str:
    about = {"id": SERVER_NAME, "name": SERVER_NAME, "description": "Read the web", "timeout": str(entry["timeout"])}
    parts = [("cmd", server.command), *(("arg", argument) for argument in server.args), *about.items()]
    return urlencode(parts, quote_via=quote)


_LINKS = {"base64": _base64_link, "json": _json_link, "arguments": _arguments_link}
"""Functions that return the part of a link after its start."""


def _read_clients() -> dict[str, ClientFormat]:
    table = tomllib.loads(resources.files(__package__).joinpath("clients.toml").read_text(encoding="utf-8"))
    clients = {}
    for name, row in table.items():
        end, start = _LINKS.get(row.get("link", "")), row.get("link_start", "")
        link = end and functools.partial(lambda start, end, server, entry: start + end(server, entry), start, end)
        keys = tuple(row["keys"])
        clients[name] = ClientFormat(
            row["title"], row["url"], row["paths"], keys, row["entry"], row.get("syntax", "json"), link
        )
    return clients


CLIENTS = _read_clients()


@click.command(cls=Command, examples=["client claude-desktop", "client codex --write", "client cursor --tools reading"])
@click.argument("name", metavar="NAME", type=click.Choice(sorted(CLIENTS)))
@click.option("--write", is_flag=True, help="Add the server to the client's configuration file, after a question.")
@click.option("--yes", is_flag=True, help="Write without a question.")
@click.option("--file", "path", type=FilePath(dir_okay=False, path_type=Path), help="Use another configuration file.")
@click.option("--json", "as_json", is_flag=True, help="Print file, text and link as JSON.")
@click.option(
    "--tools",
    type=click.Choice(("reading", "research", "browsing", "all")),
    help="List only the tools for this, for a small model.",
)
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
    """Return the text of a file, which is empty if there is none."""
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
