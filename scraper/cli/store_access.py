"""Open the store for one command, without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import click

from scraper.settings import Settings, SettingsError

if TYPE_CHECKING:
    from scraper.store.factory import Store

T = TypeVar("T")


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store, run `work` on it and return its result.

    Raises:
        ClickException: The store is unavailable.
    """
    from scraper.store.factory import open_store
    from scraper.store.record_logs import RecordsUnavailableError

    async def run() -> T:
        store = open_store(settings)
        try:
            # A distant database would miss queries before it is connected.
            await store.wait_connected()
            return await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(run())
    except RecordsUnavailableError:
        raise click.ClickException("The store cannot be used. See: search-mcp doctor") from None
    except SettingsError as error:
        raise click.ClickException(str(error)) from None
