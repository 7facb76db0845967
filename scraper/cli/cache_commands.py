"""Command `cache` with stats, search, export and clear."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import LOG_SETTINGS, STORE_SETTINGS, Command, load_settings, with_settings
from scraper.cli.store_access import with_store
from scraper.cli.tool_output import print_text, rewrite_answer, wants_json, with_output_options
from scraper.settings import Settings

if TYPE_CHECKING:
    from scraper.caching.page_cache import PageCache
    from scraper.store.factory import Store

T = TypeVar("T")

MB = 1_000_000
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def cache() -> None:
    """Inspect or clear the page cache."""


@cache.command(cls=Command, examples=["cache stats", "cache stats --json"])
@_json_option
@with_settings(LOG_SETTINGS | STORE_SETTINGS)
def stats(as_json: bool, **flags: Any) -> int:
    """Print the number and size of cached pages."""
    settings = load_settings(flags)
    found = _with_page_cache(settings, lambda page_cache: page_cache.store.stats())
    if as_json:
        sizes = {"pages": found.pages, "bytes": found.bytes, "limit_bytes": settings.cache_mb * MB}
        click.echo(json.dumps({**sizes, "location": _location(settings)}))
        return 0
    click.echo(f"{_count_pages(found.pages)}, {found.bytes / MB:,.1f} MB of {settings.cache_mb:,} MB, in")
    click.echo(_location(settings))
    return 0


@cache.command(cls=Command, examples=['cache search "tidal power"', 'cache search "asyncio.gather OR 非同期" --json'])
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=10, help="Maximum number of pages.  [10]")
@with_output_options()
@with_settings(LOG_SETTINGS | STORE_SETTINGS)
def search(query: str, limit: int, output: Path | None, marked: bool, **flags: Any) -> int:
    """Search the text of cached pages."""
    from scraper.render import search as render
    from scraper.render.untrusted_text import remove_untrusted_marks
    from scraper.tools.model import new_region
    from scraper.tools.search_tools import MAX_CACHE_QUERY_CHARS
    from scraper.values.types import InvalidValueError, StringValue

    try:
        StringValue(MAX_CACHE_QUERY_CHARS).parse(query)
    except InvalidValueError as error:
        raise click.UsageError(f"query must be {error}.") from None
    found = _with_page_cache(load_settings(flags), lambda page_cache: page_cache.search(query, limit=limit))
    if wants_json(flags):
        text = json.dumps(render.cache_hits_as_json(found), ensure_ascii=False)
    else:
        text = render.cache_hits_as_markdown(query, found, region=new_region(), now=datetime.now(UTC))
        text = text if marked else remove_untrusted_marks(rewrite_answer(text))
    print_text(text, output)
    return ExitCode.SUCCESS if found.usable and found.hits else ExitCode.INCOMPLETE


@cache.command(cls=Command, examples=["cache export > pages.jsonl"])
@click.option("--json", "as_json", is_flag=True, help="No effect: the output is always one line of JSON per page.")
@with_settings(LOG_SETTINGS | STORE_SETTINGS)
def export(as_json: bool, **flags: Any) -> int:
    """Print every cached page as one line of JSON."""

    async def write(page_cache: PageCache) -> int:
        count = 0
        async for entry in page_cache.store.iter_entries():
            reading, document = entry.reading, entry.reading.document
            line = {
                "url": reading.url,
                "requested_url": reading.requested_url,
                "principal": entry.scope.principal,
                "title": document.title,
                "published": document.published and document.published.isoformat(),
                "method": reading.method,
                "retrieved_at": reading.retrieved_at.isoformat(),
                "markdown": document.markdown,
            }
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
        return count

    count = _with_page_cache(load_settings(flags), write)
    click.echo(_count_pages(count), err=True)
    return 0


@cache.command(cls=Command, examples=["cache clear", "cache clear --yes"])
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_json_option
@with_settings(LOG_SETTINGS | STORE_SETTINGS)
def clear(yes: bool, as_json: bool, **flags: Any) -> int:
    """Delete all cached pages."""
    settings = load_settings(flags)
    where = "the shared database" if settings.database_url else settings.data_dir
    if not yes:
        click.confirm(f"Delete all pages cached in {where}?", abort=True, err=True)
    count = _with_page_cache(settings, lambda page_cache: page_cache.store.clear())
    click.echo(json.dumps({"deleted": count}) if as_json else f"{_count_pages(count)} deleted.")
    return 0


def _location(settings: Settings) -> str:
    """Return the folder or database of the cache, without a password."""
    if settings.database_url is None:
        return str(settings.data_dir)
    from scraper.store.postgres.errors import DatabaseAddress

    return str(DatabaseAddress.parse(settings.database_url))


def _count_pages(count: int) -> str:
    return f"{count:,} page{'' if count == 1 else 's'}"


def _with_page_cache(settings: Settings, work: Callable[[PageCache], Awaitable[T]]) -> T:
    """Open the page cache without a browser, run `work` on it and return its result."""
    from scraper.caching.page_cache import PageCache
    from scraper.store.protocols import IncompleteOperationError

    # Problems of the cache are printed below, once.
    logging.basicConfig(level=logging.ERROR)

    async def run(store: Store) -> T:
        page_cache = PageCache(store.pages, settings)
        state = await page_cache.store.stats()
        if not state.usable:
            click.echo(f"The cache cannot be used: {state.problem or 'it is disabled'}.", err=True)
            raise click.exceptions.Exit(1)
        return await work(page_cache)

    try:
        return with_store(settings, run)
    except IncompleteOperationError as error:
        raise click.ClickException(f"The command was not completed: {error}.") from None
