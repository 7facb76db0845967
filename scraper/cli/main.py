"""The command `search-mcp`: which word starts what, and what its exit code says.

Exit codes: 0 done; 1 it did not work, the reason is on stderr; 2 it was called wrongly; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys

import click

from scraper.cli.bulk import bulk
from scraper.cli.cache import cache
from scraper.cli.demo_engines import demo_engines
from scraper.cli.doctor import doctor
from scraper.cli.extract import extract_structured
from scraper.cli.fetch import fetch, fetch_batch
from scraper.cli.file_limits import allow_many
from scraper.cli.install import install_browser
from scraper.cli.read_doc import read_doc
from scraper.cli.research import compare, research
from scraper.cli.search import engines, instant_answer, search, web_search
from scraper.cli.serve import serve, stdio
from scraper.cli.stdio_encoding import make_usable
from scraper.cli.version import version

_INTERRUPTED = 130
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says where standard output is a file that has no room for more."""
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=_HELP, invoke_without_command=True)
@click.version_option(version(), prog_name="search-mcp", message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """The web for AI agents: pages read by a real browser on this machine, over the Model Context Protocol.

    Without a command, and where standard input is not a terminal, it serves as `stdio`: that is how MCP
    clients start it.
    """
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            click.echo(ctx.get_help())
        else:
            ctx.invoke(stdio)


for _command in (
    serve,
    stdio,
    search,
    fetch,
    fetch_batch,
    read_doc,
    research,
    compare,
    extract_structured,
    bulk,
    cache,
    engines,
    web_search,
    instant_answer,
    demo_engines,
    install_browser,
    doctor,
):
    group.add_command(_command)


def main() -> None:
    """Run the command line of this process."""
    make_usable()
    allow_many()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code."""
    try:
        code = group.main(arguments, prog_name="search-mcp", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except OSError as error:
        if error.errno not in _FULL:
            raise
        with contextlib.suppress(OSError):
            click.echo(f"Error: The answer cannot be written: {error.strerror}.", err=True)
        _give_up_output()
        return 1
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    return code if isinstance(code, int) else 0


def _give_up_output() -> None:
    """What is left of the answer goes nowhere: Python would try to write it at its end, and fail again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    main()
