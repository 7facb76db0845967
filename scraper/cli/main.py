"""Command `search-mcp` with all subcommands and its help, and the setup of its process: streams and open files."""

import contextlib
import errno
import io
import itertools
import json
import os
import platform
import resource
import sys
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import get_completion_class

from scraper.cli import reading_commands as reading
from scraper.cli import warm_client
from scraper.cli.client_config import client, skill
from scraper.cli.doctor import doctor, install_browser
from scraper.cli.exit_codes import EXIT_CODE_MEANINGS, ExitCode
from scraper.cli.setting_options import WEB_ONLY, command, load_settings
from scraper.cli.site_commands import bulk, changes, crawl, map_site, watch
from scraper.cli.store_commands import cache, find_tools, identity, index, login, profiles
from scraper.server import entrypoints
from scraper.server.access import ServerStartError
from scraper.server.protocol.handshake import FirstMessage
from scraper.settings import SettingsError
from scraper.settings.files import version
from scraper.values.text import suggest


@command("serve", None)
def serve(**flags: Any) -> None:
    """Serve MCP over HTTP.

    By default at http://127.0.0.1:8000/mcp, only for programs on this machine. The tools of ChatGPT connectors are at
    /openai/mcp.
    """
    entrypoints.run_http(load_settings(flags), version=version())


@command("stdio", None, without=WEB_ONLY)
@click.pass_obj
def stdio(first: FirstMessage | None, /, toolset: str, **flags: Any) -> None:
    """Serve MCP over standard input and output.

    For the program that started it; the log goes to stderr.
    """
    entrypoints.run_stdio(load_settings(flags), version=version(), toolset=toolset, first=first)


PROGRAM_NAME = "search-mcp"
_VARIABLE = "_SEARCH_MCP_COMPLETE"


_SHORT_NAMES = {"extract": "extract-structured"}


class CommandGroup(click.Group):
    """All commands of `search-mcp`; the help lists them in sections."""

    sections: Mapping[str, tuple[click.Command, ...]] = {}

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


@command("server")
def server(action: str, every: bool, as_json: bool) -> int:
    """Start, show or stop the warm server, which keeps the browser running between commands of coding agents.

    They start it by themselves, unless a sandbox forbids it; it ends after 15 minutes without a command. Other
    variables have another server: --all shows or stops those too.
    """
    try:
        path = warm_client.socket_path()
        with warm_client.starting_lock(path):
            others = warm_client.find_servers(path) if every else []
        for other in others or [""]:
            connect = warm_client.connect_to(other) if other else warm_client.connect(may_start=action == "start")
            with connect as peer:
                answer = warm_client.ask(peer, {"words": [action], "folder": os.getcwd()})
            lines = (f"{name}: {value}" for name, value in answer.items())
            click.echo(json.dumps(answer) if as_json else "\n".join(lines))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"No warm server runs: {error or type(error).__name__}.") from None
    return ExitCode.SUCCESS


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
    found = {"version": version(), "python": platform.python_version()}
    click.echo(json.dumps(found) if as_json else f"{PROGRAM_NAME} {version()}")


@command("completion")
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete commands, options and values.

    In fish, COMPLETIONS is ~/.config/fish/completions.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, PROGRAM_NAME, _VARIABLE).source())


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers of writing to standard output on a full disk."""


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.version_option(version(), prog_name=PROGRAM_NAME, message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Read the web with a browser on this machine: as Markdown here, and for AI agents over MCP.

    `search-mcp help COMMAND` shows examples and options. Without a command, and if standard input is not a terminal,
    it runs `stdio`, as MCP clients expect.
    """
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            click.echo(ctx.get_help())
        else:
            ctx.invoke(stdio)


assert isinstance(group, CommandGroup)
group.sections = {
    "Read": (
        reading.fetch,
        reading.fetch_batch,
        reading.read_doc,
        reading.extract_structured,
        reading.compare,
        map_site,
        crawl,
        changes,
        watch,
        reading.see,
        reading.browse,
        reading.act,
        bulk,
    ),
    "Search": (reading.search, reading.research, reading.web_search, reading.instant_answer, reading.engines),
    "Stored texts": (cache, index),
    "Logins": (login, profiles, identity),
    "MCP server": (serve, stdio, client),
    "Coding agents": (skill, server),
    "Installation": (install_browser, doctor, completion, show_version),
    "Help": (show_help, find_tools),
}
for _command in itertools.chain(*group.sections.values()):
    group.add_command(_command)


def main(first: FirstMessage | None = None) -> None:
    """Run the command line of this process and exit; `first` was read from standard input before."""
    # Open closed standard streams on /dev/null, and escape characters that the terminal's encoding lacks.
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None and not os.path.exists(number):
            # Otherwise the next socket would get the descriptor and receive the output.
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A stream with a Latin encoding shows other letters as escape sequences.
            stream.reconfigure(errors="backslashreplace")
    raise_open_files_limit()
    sys.exit(run(sys.argv[1:], first))


def run(arguments: list[str], first: FirstMessage | None = None) -> int:
    """Run one command line and return the exit code."""
    try:
        code = group.main(arguments, prog_name=PROGRAM_NAME, standalone_mode=False, obj=first)
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except (click.ClickException, SettingsError, ServerStartError) as error:
        kind = click.UsageError if isinstance(error, SettingsError) else click.ClickException
        shown = error if isinstance(error, click.ClickException) else kind(str(error))
        shown.show()
        return shown.exit_code
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename is None:  # of os.getcwd
            click.echo("Error: The working folder does not exist any more. Change to another one.", err=True)
            return ExitCode.INCOMPLETE
        if error.errno not in _FULL:
            raise
        with contextlib.suppress(OSError):
            click.echo(f"Error: The answer cannot be written: {error.strerror}.", err=True)
        # Python would try to write the buffered output again at exit.
        with contextlib.suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        return ExitCode.INCOMPLETE
    except click.Abort as error:
        # click raises it for a signal too.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return _end_interrupted()
        # Without an answer, the line of the question has no end.
        click.echo("\nNothing was changed. Use --yes where no question can be answered.", err=True)
        return ExitCode.INCOMPLETE
    except KeyboardInterrupt:
        return _end_interrupted()
    return code if isinstance(code, int) else 0


def _end_interrupted() -> ExitCode:
    """Say on a terminal that the command was canceled: its progress bar has disappeared."""
    if sys.stderr.isatty():
        click.echo("Canceled.", err=True)
    return ExitCode.INTERRUPTED


_OPEN_FILES = 8_192
"""Open files. Each connection of a page uses two in this process and more in the browser. With a limit of 90, half of a
dozen pages rendered at once crashed their browser. macOS allows 256 by default and 10,240 at most."""


def raise_open_files_limit() -> None:
    """Raise the limit of open files for this process and its children, as far as permitted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


if __name__ == "__main__":
    main()
