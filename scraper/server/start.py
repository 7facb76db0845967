"""Starts the server of a process: the full set of tools, over HTTP or over standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from scraper.server import logs
from scraper.server.access import CannotStart
from scraper.server.household import Opening
from scraper.settings import Settings
from scraper.tools import registry

if TYPE_CHECKING:
    from scraper.app import App

__all__ = ["CannotStart", "run_http", "run_stdio"]


def run_http(settings: Settings, *, version: str) -> None:
    """Serve over HTTP until told to stop.

    Raises:
        CannotStart: the port is taken, or the address would be open to everyone.
    """
    from scraper.server import web

    logs.configure(settings.log_level, settings.log_format)
    asyncio.run(web.serve(settings, registry.tools(settings), _opening(settings), version=version))


def run_stdio(settings: Settings, *, version: str) -> None:
    """Serve the client at standard input and output until it hangs up."""
    from scraper.server import stdio

    logs.configure(settings.log_level, settings.log_format)
    asyncio.run(stdio.serve(settings, registry.tools(settings), _opening(settings), version=version))


def _opening(settings: Settings) -> Opening[App]:
    def opening() -> AbstractAsyncContextManager[App]:
        from scraper.app import App

        return App.open(settings)

    return opening
