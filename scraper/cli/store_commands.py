"""Commands on the store: `cache` with stats, search, export and clear, `index` and `find-tools`."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scraper.cli import tool_output
from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import LOG_SETTINGS, STORE_SETTINGS, command, load_settings
from scraper.settings import Settings

if TYPE_CHECKING:
    from scraper.caching.page_cache import PageCache
    from scraper.store.factory import Store
    from scraper.tools.model import ToolAnswer


_PRINCIPAL = "local"
_INDEX_SETTINGS = LOG_SETTINGS | {"data_dir", "database_url"}
_TOOL_LINE = re.compile(r"^- (\w+)\(([^)]*)\): ", re.MULTILINE)


@click.group()
def index() -> None:
    """Create, fill, search and list indexes of your own texts."""


@command("index create", _INDEX_SETTINGS, parent=index)
def create(name: str, min_length: int | None, case_sensitive: bool, **flags: Any) -> int:
    """Create the index NAME in the data folder.

    NAME has letters, digits, - and _.
    """
    words: dict[str, Any] = {"lowercase": not case_sensitive}
    if min_length is not None:
        words["min_length"] = min_length
    arguments = {"index_name": name, "backend": "sqlite", "tokenizer_config": words}
    return tool_output.run_and_print(
        "search_create_index", {**flags, **arguments}, plain=lambda answer: f"Created index {name}."
    )


@command("index add", _INDEX_SETTINGS, parent=index)
def add(name: str, files: tuple[str, ...], doc_id: str | None, metadata: str | None, **flags: Any) -> int:
    """Add text files to the index NAME, or replace them.

    FILES are text files; - is standard input.
    """
    if doc_id is not None and len(files) > 1:
        raise click.UsageError("--id is for one file only.")

    def plain(answer: ToolAnswer) -> str:
        data: Any = answer.structured
        verb = "Replaced" if data["status"] == "re-indexed" else "Added"
        return f"{verb} {data['doc_id']}: {data['token_count']:,} words."

    codes = []
    for file in files:
        if file == "-" and doc_id is None:
            raise click.UsageError("Give the text from standard input a name with --id.")
        arguments = {
            "index_name": name,
            "doc_id": doc_id or Path(file).name,
            "content": _read(file),
            "metadata": _parse_object(metadata),
        }
        codes.append(tool_output.run_and_print("search_add_document", {**flags, **arguments}, plain=plain))
    return max(codes)


@command("index search", _INDEX_SETTINGS, parent=index)
def search_texts(name: str, **flags: Any) -> int:
    """Search the texts of the index NAME.

    +word is required, -word is excluded, "exact phrase" works.
    """
    found: list[int] = []

    def plain(answer: ToolAnswer) -> str:
        data: Any = answer.structured
        found.append(data["total_matches"])
        rows = [f"{hit['doc_id']} ({hit['score']:.2f})\n  " + "\n  ".join(hit["highlights"]) for hit in data["results"]]
        return "\n\n".join(row.rstrip() for row in rows) or "Nothing found."

    code = tool_output.run_and_print("search_index", {**flags, "index_name": name}, plain=plain)
    return ExitCode.INCOMPLETE if found == [0] else code


@command("index list", _INDEX_SETTINGS, parent=index)
def list_indexes(**flags: Any) -> int:
    """Print the indexes with their numbers of texts, also those that `crawl` has created."""
    from scraper.store.index_model import IndexFaultError

    try:
        found = tool_output.with_store(
            load_settings(flags), lambda store: store.indexes.names(principal=_PRINCIPAL, needs_store=True)
        )
    except IndexFaultError:
        raise click.ClickException("The store cannot be used. See: search-mcp doctor") from None
    # Indexes in memory are those of a running server.
    rows = [{"name": one.name, "documents": one.documents} for one in found if one.backend != "memory"]
    if tool_output.wants_json(flags):
        text = json.dumps(rows)
    elif rows:
        text = "\n".join(
            f"{row['name']}: {row['documents']:,} {'text' if row['documents'] == 1 else 'texts'}" for row in rows
        )
    else:
        text = "There are no indexes. Create one: search-mcp index create NAME"
    tool_output.print_text(text, flags["output"], max_tokens=flags["max_tokens"])
    return ExitCode.SUCCESS


@command("find-tools", _INDEX_SETTINGS)
def find_tools(**flags: Any) -> int:
    """Find the command, prompt or cached text for a task."""

    def plain(answer: ToolAnswer) -> str:
        return _TOOL_LINE.sub(_command_line, tool_output.rewrite_for_caller(answer.text))

    return tool_output.run_and_print("find_tools", flags, plain=plain)


def _command_line(tool: re.Match[str]) -> str:
    arguments = "".join(f" {name.upper()}" for name in tool[2].split(", ") if name)
    return f"- search-mcp {tool_output.get_command_name(tool[1])}{arguments}: "


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        hint = " `search-mcp read-doc` prints other documents as text." if file != "-" else ""
        raise click.UsageError(f"{file} cannot be read as UTF-8 text.{hint}") from None


def _parse_object(text: str | None) -> dict[str, Any] | None:
    value = None
    with contextlib.suppress(ValueError):
        value = json.loads(text or "null")
    if text is not None and not isinstance(value, dict):
        raise click.UsageError("--metadata must be a JSON object.")
    return value


T = TypeVar("T")

MB = 1_000_000


@click.group()
def cache() -> None:
    """Inspect or clear the page cache."""


@command("cache stats", LOG_SETTINGS | STORE_SETTINGS, parent=cache)
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


@command("cache search", LOG_SETTINGS | STORE_SETTINGS, parent=cache)
def search(query: str, limit: int, output: Path | None, marked: bool, **flags: Any) -> int:
    """Search the text of cached pages."""
    from scraper.render import search as render
    from scraper.tools.model import new_region
    from scraper.tools.search_tools import MAX_CACHE_QUERY_CHARS
    from scraper.values.types import InvalidValueError, StringValue

    try:
        StringValue(MAX_CACHE_QUERY_CHARS).parse(query)
    except InvalidValueError as error:
        raise click.UsageError(f"query must be {error}.") from None
    found = _with_page_cache(load_settings(flags), lambda page_cache: page_cache.search(query, limit=limit))
    if tool_output.wants_json(flags):
        text = json.dumps(render.cache_hits_as_json(found), ensure_ascii=False)
    else:
        text = render.cache_hits_as_markdown(query, found, region=new_region(), now=datetime.now(UTC))
        text = text if marked else tool_output.rewrite_for_caller(text)
    tool_output.print_text(text, output, max_tokens=flags["max_tokens"])
    return ExitCode.SUCCESS if found.usable and found.hits else ExitCode.INCOMPLETE


@command("cache export", LOG_SETTINGS | STORE_SETTINGS, parent=cache)
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


@command("cache clear", LOG_SETTINGS | STORE_SETTINGS, parent=cache)
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
    if settings.database_url is None:
        return str(settings.data_dir)
    from scraper.store.postgres.database import DatabaseAddress

    return str(DatabaseAddress.parse(settings.database_url))


def _count_pages(count: int) -> str:
    return f"{count:,} page{'' if count == 1 else 's'}"


def _with_page_cache(settings: Settings, work: Callable[[PageCache], Awaitable[T]]) -> T:
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
        return tool_output.with_store(settings, run)
    except IncompleteOperationError as error:
        raise click.ClickException(f"The command was not completed: {error}.") from None
