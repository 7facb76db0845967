"""Commands that run one tool and print its answer: fetch, search, research and others."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import IO, Any

import click

from scraper.cli import tool_runner
from scraper.cli.options import SERVER_ONLY, Command, load, with_settings
from scraper.settings import SettingsError, setting_table

_RENDER = click.Choice(["auto", "http", "browser"])
_FRESHNESS = click.Choice(["day", "week", "month", "year"])
_CATEGORY = click.Choice(["news", "pdf", "github", "paper", "forum", "blog"])
_URL_FILE = "Read the URLs from a file, one per line; - is stdin."

_format_option = click.option("--format", type=click.Choice(["markdown", "json"]), help="Output format.  [markdown]")
_render_option = click.option("--render", type=_RENDER, help="auto renders only pages that need it.  [auto]")
_max_results_option = click.option("--max-results", type=int, help="Maximum number of results.  [10]")


@click.command(cls=Command)
@click.argument("url")
@_render_option
@_format_option
@click.option("--force-refresh", is_flag=True, default=None, help="Ignore the cache.")
@click.option("--max-age-hours", type=float, help="Use a cached page only if it is younger than this.")
@click.option("--start", type=int, help="First character to print.  [0]")
@click.option("--length", type=int, help="Number of characters to print.")
@with_settings(without=SERVER_ONLY)
def fetch(**flags: Any) -> int:
    """Read one page and print it as Markdown."""
    return _print_answer("fetch", flags)


@click.command(cls=Command)
@click.argument("urls", nargs=-1)
@click.option("-f", "--file", type=click.File("r", encoding="utf-8"), help=_URL_FILE)
@_render_option
@_format_option
@with_settings(without=SERVER_ONLY)
def fetch_batch(urls: tuple[str, ...], file: IO[str] | None, **flags: Any) -> int:
    """Read many pages at once.

    A - among the URLs reads further ones from standard input, one per line. For long lists, use `search-mcp bulk`.
    """
    all_urls = [url for word in urls for url in (_read_urls(sys.stdin) if word == "-" else [word])]
    all_urls += _read_urls(file) if file else []
    if not all_urls:
        raise click.UsageError("Give at least one URL, a file of them with -f, or - to read them from stdin.")
    return _print_answer("fetch_batch", {"urls": all_urls, **flags})


def _print_answer(tool: str, flags: dict[str, Any]) -> int:
    """Run a tool with the flags that are no settings, print its answer and return the exit code."""
    settings = load(flags)
    names = {setting.name for setting in setting_table()}
    arguments = {name: value for name, value in flags.items() if value is not None and name not in names}
    try:
        answer = tool_runner.run_tool(tool, arguments, settings)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    click.echo(answer.text, err=answer.is_error)
    return int(answer.is_error)


def _read_urls(lines: Iterable[str]) -> list[str]:
    try:
        # Some editors begin every file with a byte order mark.
        urls = [line.strip().removeprefix("\ufeff") for line in lines]
    except UnicodeDecodeError:
        raise click.UsageError("The list of URLs cannot be read: it is not UTF-8 text.") from None
    return [url for url in urls if url and not url.startswith("#")]


@click.command(cls=Command)
@click.argument("query")
@click.option("--engine", "engines", multiple=True, help="Use this engine; may be repeated.")
@_max_results_option
@click.option("--freshness", type=_FRESHNESS, help="Maximum age of pages.")
@click.option("--include-domain", "include_domains", multiple=True, help="Only this domain; may be repeated.")
@click.option("--exclude-domain", "exclude_domains", multiple=True, help="Not this domain; may be repeated.")
@click.option("--category", type=_CATEGORY, help="Only this kind of page.")
@click.option("--include-text", help="Text that title or snippet must contain.")
@click.option("--exclude-text", help="Text that title and snippet must not contain.")
@click.option("--no-cache", is_flag=True, help="Ignore cached answers.")
@click.option("--max-age-hours", type=float, help="Use a cached answer only if it is younger than this.")
@_format_option
@with_settings(without=SERVER_ONLY)
def search(no_cache: bool, **flags: Any) -> int:
    """Query several search engines at once and print one list."""
    lists = {name: flags[name] or None for name in ("engines", "include_domains", "exclude_domains")}
    return _print_answer("search", {**flags, **lists, "use_cache": not no_cache})


@click.command(cls=Command)
@click.argument("query")
@_max_results_option
@with_settings(without=SERVER_ONLY)
def web_search(**flags: Any) -> int:
    """Query DuckDuckGo only and print its results."""
    return _print_answer("web_search", flags)


@click.command(cls=Command)
@click.argument("query")
@with_settings(without=SERVER_ONLY)
def instant_answer(**flags: Any) -> int:
    """Print DuckDuckGo's instant answer, if it has one."""
    return _print_answer("instant_answer", flags)


@click.command(cls=Command)
def engines() -> None:
    """List the search engines and their purpose."""
    # Imported late, so that help is printed without loading the page readers.
    from scraper.engines.names import DEFAULTS
    from scraper.engines.registry import ENGINES

    for engine in ENGINES.values():
        default = " (default)" if engine.name in DEFAULTS else ""
        click.echo(f"{engine.name}{default}: {engine.about}")


@click.command(cls=Command)
@click.argument("question")
@click.option("--depth", type=int, help="Number of pages to read, 1 to 8.  [3]")
@click.option("--engine", "engines", multiple=True, help="Use this engine; may be repeated.")
@click.option("--no-fetch", is_flag=True, help="List the sources without reading them.")
@click.option("--no-cache", is_flag=True, help="Ignore the cache.")
@click.option("--max-age-hours", type=float, help="Use cached searches and pages only if they are younger than this.")
@_format_option
@with_settings(without=SERVER_ONLY)
def research(engines: tuple[str, ...], no_fetch: bool, no_cache: bool, **flags: Any) -> int:
    """Search, read the best pages and print the passages that answer the question."""
    arguments = {"engines": engines or None, "fetch": not no_fetch, "use_cache": not no_cache}
    return _print_answer("research", flags | arguments)


@click.command(cls=Command)
@click.argument("question")
@click.argument("urls", nargs=-1, required=True)
@_format_option
@with_settings(without=SERVER_ONLY)
def compare(**flags: Any) -> int:
    """Read two to five pages and print the passages of each that answer the question."""
    return _print_answer("compare", flags)


@click.command(cls=Command)
@click.argument("source")
@_format_option
@click.option("--start", type=int, help="First character to print.  [0]")
@click.option("--length", type=int, help="Number of characters to print.")
@click.option("--pages", help='Only these pages, e.g. "3-5,9".')
@click.option("--outline", is_flag=True, default=None, help="Print the headings with their offsets.")
@click.option("--password", help="Password of an encrypted PDF.")
@with_settings(without=SERVER_ONLY)
def read_doc(**flags: Any) -> int:
    """Read one document (PDF, Word, Excel, ...) and print it as Markdown.

    SOURCE is a URL, or a path in the folder of --document-root.
    """
    return _print_answer("read_doc", flags)


@click.command(cls=Command)
@click.argument("url")
@_format_option
@with_settings(without=SERVER_ONLY)
def extract_structured(**flags: Any) -> int:
    """Print the machine-readable data of a page: JSON-LD, microdata, OpenGraph, RDFa, product facts."""
    return _print_answer("extract_structured", flags)


READING_COMMANDS = (fetch, fetch_batch, read_doc, research, compare, extract_structured)
SEARCH_COMMANDS = (search, web_search, instant_answer, engines)
