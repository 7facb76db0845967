"""Command `search-mcp` with all subcommands, and the setup of its process: streams and open files."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import resource
import sys

import click

from scraper.cli import reading_commands as reading
from scraper.cli.client_config import client, skill
from scraper.cli.doctor import doctor, install_browser
from scraper.cli.exit_codes import ExitCode
from scraper.cli.help_commands import PROGRAM_NAME, CommandGroup, completion, serve, show_help, show_version, stdio
from scraper.cli.login_commands import login, profiles
from scraper.cli.setting_options import version
from scraper.cli.site_commands import bulk, changes, crawl, map_site
from scraper.cli.store_commands import cache, find_tools, index
from scraper.cli.watch_commands import watch

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
        bulk,
    ),
    "Search": (reading.search, reading.research, reading.web_search, reading.instant_answer, reading.engines),
    "Stored texts": (cache, index),
    "Logins": (login, profiles),
    "MCP server": (serve, stdio, client),
    "Coding agents": (skill,),
    "Installation": (install_browser, doctor, completion, show_version),
    "Help": (show_help, find_tools),
}
for _command in itertools.chain(*group.sections.values()):
    group.add_command(_command)


def main() -> None:
    """Run the command line of this process and exit."""
    _prepare_streams()
    raise_open_files_limit()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return the exit code."""
    try:
        code = group.main(arguments, prog_name=PROGRAM_NAME, standalone_mode=False)
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
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


def _prepare_streams() -> None:
    """Open closed standard streams on /dev/null, and escape characters that the terminal's encoding lacks."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None and not _is_open(number):
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


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


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
