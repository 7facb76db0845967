"""Commands of the program: serve, stdio, help, version and completion; and the help page with all commands."""

from __future__ import annotations

import contextlib
import json
import platform
from collections.abc import Iterator, Mapping
from typing import Any

import click
from click.shell_completion import get_completion_class

from scraper.cli.exit_codes import EXIT_CODE_MEANINGS
from scraper.cli.setting_options import WEB_ONLY, Command, command, load_settings, version, with_settings
from scraper.server import entrypoints
from scraper.server.access import ServerStartError
from scraper.settings import SettingsError
from scraper.values.text import suggest


@command("serve", None)
def serve(**flags: Any) -> None:
    """Serve MCP over HTTP.

    By default at http://127.0.0.1:8000/mcp, only for programs on this machine. The tools of ChatGPT connectors are at
    /openai/mcp.
    """
    settings = load_settings(flags)
    with _errors_in_one_line():
        entrypoints.run_http(settings, version=version())


@click.command(cls=Command, examples=["stdio", "stdio --tools search,fetch"])
@with_settings(without=WEB_ONLY)
@click.option(
    "--toolset",
    type=click.Choice(entrypoints.TOOLSETS),
    default=entrypoints.TOOLSETS[0],
    help="openai: only search and fetch of ChatGPT connectors.  [full]",
)
def stdio(toolset: str, **flags: Any) -> None:
    """Serve MCP over standard input and output.

    For the program that started it; the log goes to stderr.
    """
    settings = load_settings(flags)
    with _errors_in_one_line():
        entrypoints.run_stdio(settings, version=version(), toolset=toolset)


@contextlib.contextmanager
def _errors_in_one_line() -> Iterator[None]:
    try:
        yield
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    except ServerStartError as error:
        raise click.ClickException(str(error)) from None


PROGRAM_NAME = "search-mcp"
_VARIABLE = "_SEARCH_MCP_COMPLETE"
"""Environment variable with which click completes the command `search-mcp`."""


_SHORT_NAMES = {"extract": "extract-structured"}
"""Commands by their short names."""


class CommandGroup(click.Group):
    """All commands of `search-mcp`; the help lists them in sections."""

    sections: Mapping[str, tuple[click.Command, ...]] = {}
    """Commands of the help by title of their section."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, the name of its tool or a short name: `read_doc` is `read-doc`."""
        name = cmd_name.replace("_", "-")
        return super().get_command(ctx, _SHORT_NAMES.get(name, name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; the error for an unknown one suggests a similar command."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            hint = suggest(name, self.commands, prefix="search-mcp ")
            next_step = "`search-mcp help` lists the commands."
            if "/" in name or "." in name:
                hint, next_step = "", f"`search-mcp fetch {name}` reads a page."
            raise click.UsageError(f"No such command: {name}{hint}. {next_step}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections, then the exit codes."""
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(str(command.name), command.get_short_help_str(100)) for command in commands])
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in EXIT_CODE_MEANINGS.items()])


@command("help")
@click.pass_context
def show_help(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Print the help of a command, or the list of commands."""
    assert ctx.parent is not None
    current, context = ctx.parent.command, ctx.parent
    for word in words:
        if not isinstance(current, click.Group):
            raise click.UsageError(f"`{context.command_path}` has no command {word}.")
        _, found, _ = current.resolve_command(context, [word])
        assert found is not None
        current, context = found, click.Context(found, context, info_name=found.name)
    click.echo(current.get_help(context))


@command("version")
def show_version(as_json: bool) -> None:
    """Print the version."""
    if as_json:
        click.echo(json.dumps({"version": version(), "python": platform.python_version()}))
    else:
        click.echo(f"{PROGRAM_NAME} {version()}")


@command("completion")
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete commands, options and values.

    In fish, COMPLETIONS is ~/.config/fish/completions.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, PROGRAM_NAME, _VARIABLE).source())
