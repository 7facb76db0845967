"""`search-mcp cache stats | search | export | clear`: what was read before, for a person at a terminal."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scraper.cli.options import SERVER_ONLY, Command, load, with_settings
from scraper.settings import Settings, SettingsError

if TYPE_CHECKING:
    from scraper.caching.page_cache import PageCache

T = TypeVar("T")

MB = 1_000_000


@click.group()
def cache() -> None:
    """Look into the pages that are kept, or forget them."""


@cache.command(cls=Command)
@with_settings(without=SERVER_ONLY)
def stats(**flags: Any) -> int:
    """Say how many pages are kept, and how large they are."""
    settings = load(flags)
    found = _with_page_cache(settings, lambda page_cache: page_cache.stats())
    click.echo(f"{_pages(found.pages)}, {found.bytes / MB:,.1f} MB of {settings.cache_mb:,} MB, in")
    click.echo(_place(settings))
    return 0


@cache.command(cls=Command)
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=10, help="Pages to print.  [10]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    help="What to print.  [markdown]",
)
@with_settings(without=SERVER_ONLY)
def search(query: str, limit: int, form: str, **flags: Any) -> int:
    """Find kept pages by their words."""
    from scraper.render import search as render
    from scraper.tools.model import new_region

    _check(query)
    found = _with_page_cache(load(flags), lambda page_cache: page_cache.search(query, limit=limit))
    if form == "json":
        click.echo(json.dumps(render.cache_hits_as_json(found), ensure_ascii=False))
    else:
        click.echo(render.cache_hits_as_markdown(query, found, region=new_region(), now=datetime.now(UTC)))
    return 0 if found.usable else 1


@cache.command(cls=Command)
@with_settings(without=SERVER_ONLY)
def export(**flags: Any) -> int:
    """Print every kept page as one line of JSON."""

    async def write(page_cache: PageCache) -> int:
        count = 0
        async for entry in page_cache.entries():
            reading = entry.reading
            line = {
                "url": reading.url,
                "requested_url": reading.requested_url,
                "principal": entry.scope.principal,
                "title": reading.document.title,
                "published": reading.document.published and reading.document.published.isoformat(),
                "method": reading.method,
                "retrieved_at": reading.retrieved_at.isoformat(),
                "markdown": reading.document.markdown,
            }
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
        return count

    count = _with_page_cache(load(flags), write)
    click.echo(_pages(count), err=True)
    return 0


@cache.command(cls=Command)
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_settings(without=SERVER_ONLY)
def clear(yes: bool, **flags: Any) -> int:
    """Forget every kept page."""
    settings = load(flags)
    if not yes:
        where = "the shared database" if settings.database_url else settings.data_dir
        if not _agreed(f"Forget every page kept in {where}?"):
            click.echo("Nothing is forgotten. Where nobody can be asked, say --yes.", err=True)
            return 1
    count = _with_page_cache(settings, lambda page_cache: page_cache.clear())
    click.echo(f"{_pages(count)} forgotten.")
    return 0


def _check(query: str) -> None:
    """Refuse what the tool would refuse."""
    from scraper.tools.cache_search import MAX_QUERY_CHARS
    from scraper.values import InvalidValueError, StringValue

    try:
        StringValue(MAX_QUERY_CHARS).parse(query)
    except InvalidValueError as error:
        raise click.UsageError(f"query must be {error}.") from None


def _place(settings: Settings) -> str:
    """Where pages are kept, without the password; asked when they could be counted there."""
    if settings.database_url is None:
        return str(settings.data_dir)
    from scraper.store.postgres.errors import DatabaseAddress

    return str(DatabaseAddress.parse(settings.database_url))


def _agreed(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        # The end of the input or Ctrl-C, which stand in the middle of the question's line.
        click.echo(err=True)
        return False


def _pages(count: int) -> str:
    return f"{count:,} page{'' if count == 1 else 's'}"


def _with_page_cache(settings: Settings, work: Callable[[PageCache], Awaitable[T]]) -> T:
    """What `work` comes to, where there is a cache; no browser is started for it."""
    from scraper.caching.page_cache import PageCache
    from scraper.store.factory import open_store
    from scraper.store.protocols import IncompleteOperationError

    # What keeps the cache from being used is told below, once.
    logging.basicConfig(level=logging.ERROR)

    async def run() -> T:
        try:
            store = open_store(settings)
        except SettingsError as error:
            raise click.ClickException(str(error)) from None
        try:
            # One that is far away would miss what is asked of it before there is a connection.
            await store.wait_connected()
            page_cache = PageCache(store.pages, settings)
            stands = await page_cache.stats()
            if not stands.usable:
                click.echo(f"The cache cannot be used: {stands.problem or 'it is switched off'}.", err=True)
                raise click.exceptions.Exit(1)
            return await work(page_cache)
        except IncompleteOperationError as error:
            raise click.ClickException(f"This was not done to its end: {error}.") from None
        finally:
            await store.close()

    return asyncio.run(run())
