"""The command `search-mcp` with all subcommands and exit codes.

Exit codes: 0 success; 1 failure, with the reason on stderr; 2 wrong usage; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys

import click

from scraper.cli.bulk import bulk
from scraper.cli.cache import cache
from scraper.cli.client import client
from scraper.cli.demo_engines import demo_engines
from scraper.cli.doctor import doctor, install_browser
from scraper.cli.process_setup import prepare_streams, raise_open_files_limit
from scraper.cli.server_commands import serve, stdio, version
from scraper.cli.tool_commands import READING_COMMANDS, SEARCH_COMMANDS

_INTERRUPTED = 130
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a write to standard output on a full disk."""
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_HELP, invoke_without_command=True)
@click.version_option(version(), prog_name="search-mcp", message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Read the web for AI agents with a browser on this machine, over the Model Context Protocol.

    Without a command, and if standard input is not a terminal, it runs `stdio`, as MCP clients expect.
    """
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            click.echo(ctx.get_help())
        else:
            ctx.invoke(stdio)


_OTHER_COMMANDS = (serve, stdio, client, bulk, cache, demo_engines, install_browser, doctor)

for _command in (*READING_COMMANDS, *SEARCH_COMMANDS, *_OTHER_COMMANDS):
    group.add_command(_command)


def main() -> None:
    """Run the command line of this process."""
    prepare_streams()
    raise_open_files_limit()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return the exit code."""
    try:
        code = group.main(arguments, prog_name="search-mcp", standalone_mode=False)
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
        return 1
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    return code if isinstance(code, int) else 0


def _discard_output() -> None:
    """Discard buffered output, which Python would try to write again at exit."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


if __name__ == "__main__":
    main()
