"""Command `search-mcp` with all subcommands."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import sys

import click

from scraper.cli.bulk import bulk
from scraper.cli.cache import cache
from scraper.cli.client import client
from scraper.cli.demo_engines import demo_engines
from scraper.cli.doctor import doctor, install_browser
from scraper.cli.exit_codes import ExitCode
from scraper.cli.help_commands import PROGRAM, CommandGroup, completion, show_help, show_version
from scraper.cli.index_commands import find_tools, index
from scraper.cli.login_commands import login, profiles
from scraper.cli.picture_commands import see
from scraper.cli.process_setup import prepare_streams, raise_open_files_limit
from scraper.cli.reading_commands import browse, compare, extract_structured, fetch, fetch_batch, read_doc
from scraper.cli.search_commands import engines, instant_answer, research, search, web_search
from scraper.cli.server_commands import serve, stdio, version
from scraper.cli.site_commands import changes, crawl, map_site
from scraper.cli.watch import watch

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers of writing to standard output on a full disk."""
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=CommandGroup, context_settings=_HELP, invoke_without_command=True)
@click.version_option(version(), prog_name=PROGRAM, message="%(prog)s %(version)s")
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
        fetch,
        fetch_batch,
        read_doc,
        extract_structured,
        compare,
        map_site,
        crawl,
        changes,
        watch,
        see,
        browse,
        bulk,
    ),
    "Search": (search, research, web_search, instant_answer, engines),
    "Stored texts": (cache, index),
    "Logins": (login, profiles),
    "MCP server": (serve, stdio, client),
    "Installation": (install_browser, doctor, completion, show_version, demo_engines),
    "Help": (show_help, find_tools),
}
for _command in itertools.chain(*group.sections.values()):
    group.add_command(_command)


def main() -> None:
    """Run the command line of this process and exit."""
    prepare_streams()
    raise_open_files_limit()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return the exit code."""
    try:
        code = group.main(arguments, prog_name=PROGRAM, standalone_mode=False)
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
        _discard_output()
        return ExitCode.INCOMPLETE
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.INTERRUPTED
    return code if isinstance(code, int) else 0


def _discard_output() -> None:
    """Discard buffered output, which Python would try to write again at exit."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


if __name__ == "__main__":
    main()
