"""`search-mcp serve` and `search-mcp stdio`."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import click

from scraper.cli.options import WEB_ONLY, Command, load, with_settings
from scraper.cli.version import version

__all__ = ["serve", "stdio"]


@click.command(cls=Command)
@with_settings()
def serve(**flags: Any) -> None:
    """Serve MCP over HTTP, by default at http://127.0.0.1:8000/mcp."""
    settings = load(flags)
    with _without_collecting():  # and here, because half a second is too long for other commands
        from scraper.server import start

    try:
        start.run_http(settings, version=version())
    except start.CannotStart as error:
        raise click.ClickException(str(error)) from None


@click.command(cls=Command)
@with_settings(without=WEB_ONLY)
def stdio(**flags: Any) -> None:
    """Serve MCP to the program that started this one, over standard input and output."""
    settings = load(flags)
    with _without_collecting():
        from scraper.server import start

    start.run_stdio(settings, version=version())


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Load quickly: what is loaded stays, and looking for garbage in it took a seventh of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
