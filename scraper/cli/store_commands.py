"""Commands on the store: `cache`, `index`, `find-tools`, and the login profiles with `login` and `profiles`."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import click

from scraper.cli import message_rewriting, tool_output
from scraper.cli.exit_codes import ExitCode
from scraper.cli.setting_options import LOG_SETTINGS, READ, SIGNING, STORE_SETTINGS, command, load_settings
from scraper.settings import Settings

if TYPE_CHECKING:
    from scraper.caching import PageCache
    from scraper.store.factory import Store
    from scraper.store.login_profiles import LoginProfiles
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
        return tool_output.mark_for_agent("\n\n".join(row.rstrip() for row in rows)) if rows else "Nothing found."

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
    return tool_output.print_text(text, flags["output"], max_tokens=flags["max_tokens"])


@command("find-tools", _INDEX_SETTINGS)
def find_tools(**flags: Any) -> int:
    """Find the command, prompt or cached text for a task."""

    def plain(answer: ToolAnswer) -> str:
        return _TOOL_LINE.sub(_command_line, message_rewriting.rewrite_for_caller(answer.text))

    return tool_output.run_and_print("find_tools", flags, plain=plain)


def _command_line(tool: re.Match[str]) -> str:
    arguments = "".join(f" {name.upper()}" for name in tool[2].split(", ") if name)
    return f"- search-mcp {message_rewriting.get_command_name(tool[1])}{arguments}: "


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
def search(**flags: Any) -> int:
    """Search the text of cached pages."""
    return tool_output.run_and_print("cache_search", flags)


@command("cache export", LOG_SETTINGS | STORE_SETTINGS, parent=cache)
def export(as_json: bool, **flags: Any) -> int:
    """Print every cached page as one line of JSON."""
    lines, notice = list[str](), tool_output.notice_for_agent()

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
            lines.append(json.dumps(line | notice, ensure_ascii=False) + "\n")
            if not notice:
                sys.stdout.write(lines.pop())
            count += 1
        return count

    count = _with_page_cache(load_settings(flags), write)
    click.echo(_count_pages(count), err=True)
    return tool_output.print_text("".join(lines), None, name="cache export", is_json=True) if lines else 0


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
    from scraper.caching import PageCache
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


_DAY_S = 86_400.0


@command("login", READ | {"profile_key"})
def login(name: str, hosts: str, url: str | None, file: Path | None, caller: str, as_json: bool, **flags: Any) -> int:
    """Sign in to a site in a window, and save the login as an encrypted profile for `fetch` and `browse`."""
    from scraper.errors import ScraperError
    from scraper.reading.browsing import check_profile_name, import_login_state, parse_hosts, sign_in
    from scraper.urls import parse_target

    settings = load_settings(flags)
    try:
        check_profile_name(name)
        chosen = parse_hosts(tuple(host.strip() for host in hosts.split(",") if host.strip()))
        if file is not None:
            state = import_login_state(file, chosen)
        else:
            target = parse_target(url or f"https://{chosen[0]}/")
            needs_display = sys.platform.startswith("linux")
            if needs_display and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
                raise click.UsageError(
                    "There is no screen here for a window. Sign in on another machine with Playwright, save "
                    "`context.storage_state(path=...)`, and pass the file with --import."
                )
            click.echo(f"Sign in to {target} in the window that opens, then close the window.", err=True)
            state = tool_output.run_coroutine(sign_in(settings, target, chosen))
    except ScraperError as error:
        raise click.UsageError(error.sentence()) from None
    if state.is_empty:
        click.echo(f"Nothing is saved: there are no cookies and no local storage of {', '.join(chosen)}.", err=True)
        return ExitCode.INCOMPLETE
    _with_profiles(settings, lambda profiles: profiles.save(caller, name, chosen, state))
    entries = sum(len(items) for items in state.storage.values())
    if as_json:
        click.echo(json.dumps({"name": name, "hosts": chosen, "cookies": len(state.cookies), "entries": entries}))
        return ExitCode.SUCCESS
    click.echo(
        f"Profile {name} is saved for {', '.join(chosen)}: {len(state.cookies)} cookies, {entries} entries of local"
        " storage."
    )
    return ExitCode.SUCCESS


@command("profiles", LOG_SETTINGS | STORE_SETTINGS | {"profile_key"})
def profiles(remove: str | None, caller: str, as_json: bool, **flags: Any) -> int:
    """List the login profiles with their hosts and ages, or remove one."""
    settings = load_settings(flags)
    if remove is not None:
        is_removed = _with_profiles(settings, lambda store: store.remove(caller, remove))
        click.echo(
            f"Profile {remove} is removed." if is_removed else f"There is no profile {remove}.", err=not is_removed
        )
        return ExitCode.SUCCESS if is_removed else ExitCode.INCOMPLETE
    found = _with_profiles(settings, lambda store: store.list_all(caller))
    now = time.time()
    rows = [(info.name, info.hosts, max(0.0, now - info.saved_at) / _DAY_S) for info in found]
    if as_json:
        click.echo(json.dumps([{"name": name, "hosts": hosts, "age_days": round(age, 2)} for name, hosts, age in rows]))
    elif not rows:
        click.echo("There are no profiles.", err=True)
    else:
        for name, hosts, age in rows:
            count = int(age)
            saved = "today" if count < 1 else f"{count} day{'' if count == 1 else 's'} ago"
            click.echo(f"{name}  {', '.join(hosts)}  saved {saved}")
    return ExitCode.SUCCESS


@command("identity", LOG_SETTINGS | {"data_dir", *SIGNING})
def identity(rotate: bool, **flags: Any) -> int:
    """Print the public keys that sign requests, for a site that publishes them itself."""
    from scraper.settings.signing import rotate_key

    settings = replace(load_settings(flags), identity="signed")
    if rotate:
        rotate_key(settings.data_dir)
    signer = settings.signer()
    assert signer is not None
    click.echo(signer.directory(urlsplit(signer.agent).netloc)[0].decode())
    return ExitCode.SUCCESS


def _with_profiles(settings: Settings, work: Callable[[LoginProfiles], Awaitable[T]]) -> T:
    from scraper.store.login_profiles import LoginProfiles, ProfileKeyError

    try:
        return tool_output.with_store(
            settings, lambda store: work(LoginProfiles(store.records, settings.data_dir, settings.profile_key))
        )
    except ProfileKeyError as error:
        raise click.ClickException(str(error)) from None
