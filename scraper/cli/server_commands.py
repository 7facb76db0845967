"""Commands `serve` and `stdio`, and the installed version."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import click

from scraper.cli.setting_options import WEB_ONLY, Command, load_settings, version, with_settings
from scraper.server import entrypoints
from scraper.server.errors import ServerStartError
from scraper.settings import SettingsError


@click.command(cls=Command, examples=["serve", "serve --port 9000 --log-format json"])
@with_settings()
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
    """Convert errors of settings and of the server start to one line without a traceback."""
    try:
        yield
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    except ServerStartError as error:
        raise click.ClickException(str(error)) from None
