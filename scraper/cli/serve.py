"""`search-mcp serve` and `search-mcp stdio`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import click

from scraper.cli.options import WEB_ONLY, Command, load, with_settings
from scraper.cli.version import version
from scraper.server import entrypoints
from scraper.server.access.rules import ServerStartError
from scraper.settings import SettingsError


@click.command(cls=Command)
@with_settings()
def serve(**flags: Any) -> None:
    """Serve MCP over HTTP.

    By default at http://127.0.0.1:8000/mcp, for programs on this machine alone; search and fetch as ChatGPT
    asks for them at /openai/mcp.
    """
    settings = load(flags)
    with _told_in_one_line():
        entrypoints.run_http(settings, version=version())


@click.command(cls=Command)
@with_settings(without=WEB_ONLY)
@click.option(
    "--toolset",
    type=click.Choice(entrypoints.TOOLSETS),
    default=entrypoints.TOOLSETS[0],
    help="openai: search and fetch alone, as ChatGPT asks for them.  [full]",
)
def stdio(toolset: str, **flags: Any) -> None:
    """Serve MCP over standard input and output.

    For the one program that started it; its log goes to stderr.
    """
    settings = load(flags)
    with _told_in_one_line():
        entrypoints.run_stdio(settings, version=version(), toolset=toolset)


@contextlib.contextmanager
def _told_in_one_line() -> Iterator[None]:
    """What the operator must change is a message, not a traceback."""
    try:
        yield
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    except ServerStartError as error:
        raise click.ClickException(str(error)) from None
