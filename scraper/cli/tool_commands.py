"""Commands that run one tool and print its answer: fetch, search, research and others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import IO, Any, TypeVar

import click

from scraper.cli import tool_runner
from scraper.cli.options import SERVER_ONLY, Command, load, with_settings
from scraper.settings import SettingsError

F = TypeVar("F", bound=Callable[..., Any])

_RENDER = click.Choice(["auto", "http", "browser"])
FORMAT = click.Choice(["markdown", "json"])


def _reading_options(command: F) -> F:
    """Add the options of fetch and fetch-batch."""
    command = click.option("--format", type=FORMAT, help="Output format.  [markdown]")(command)
    return click.option("--render", type=_RENDER, help="auto renders only pages that need it.  [auto]")(command)


@click.command(cls=Command)
@click.argument("url")
@_reading_options
@click.option("--force-refresh", is_flag=True, default=None, help="Ignore the cache.")
@click.option("--max-age-hours", type=float, help="Use a cached page only if it is younger than this.")
@click.option("--start", type=int, help="First character to print.  [0]")
@click.option("--length", type=int, help="Number of characters to print.")
@with_settings(without=SERVER_ONLY)
def fetch(url: str, **flags: Any) -> int:
    """Read one page and print it as Markdown."""
    names = ("format", "render", "force_refresh", "max_age_hours", "start", "length")
    return print_answer("fetch", {"url": url}, flags, names)


@click.command(cls=Command)
@click.argument("urls", nargs=-1)
@click.option(
    "-f",
    "--file",
    "lines",
    type=click.File("r", encoding="utf-8"),
    help="Read the URLs from a file, one per line; - is stdin.",
)
@_reading_options
@with_settings(without=SERVER_ONLY)
def fetch_batch(urls: tuple[str, ...], lines: IO[str] | None, **flags: Any) -> int:
    """Read many pages at once.

    A - among the URLs reads further ones from standard input, one per line. For long lists, use `search-mcp bulk`.
    """
    all_urls = [url for word in urls for url in (_read_urls(sys.stdin) if word == "-" else [word])]
    all_urls += _read_urls(lines) if lines else []
    if not all_urls:
        raise click.UsageError("Give at least one URL, a file of them with -f, or - to read them from stdin.")
    return print_answer("fetch_batch", {"urls": all_urls}, flags, ("format", "render"))


def print_answer(tool: str, arguments: dict[str, Any], flags: dict[str, Any], names: tuple[str, ...]) -> int:
    """Run a tool, print its answer and return the exit code.

    Args:
        tool: Name of the tool.
        arguments: Arguments of the call.
        flags: All options of the command; those not in `names` are settings.
        names: Options that are arguments of the tool.
    """
    options = {name: flags.pop(name) for name in names}
    arguments |= {name: value for name, value in options.items() if value is not None}
    settings = load(flags)
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
        raise click.UsageError("The list of URLs cannot be read: it is no text in UTF-8.") from None
    return [url for url in urls if url and not url.startswith("#")]


_FRESHNESS = click.Choice(["day", "week", "month", "year"])
_CATEGORY = click.Choice(["news", "pdf", "github", "paper", "forum", "blog"])
_MAX_RESULTS = "Maximum number of results.  [10]"


@click.command(cls=Command)
@click.argument("query")
@click.option("--engine", "engines", multiple=True, help="Use this engine; may be repeated.")
@click.option("--max-results", type=int, help=_MAX_RESULTS)
@click.option("--freshness", type=_FRESHNESS, help="Maximum age of pages.")
@click.option("--include-domain", "include_domains", multiple=True, help="Only this domain; may be repeated.")
@click.option("--exclude-domain", "exclude_domains", multiple=True, help="Not this domain; may be repeated.")
@click.option("--category", type=_CATEGORY, help="Only this kind of page.")
@click.option("--include-text", help="Text that title or snippet must contain.")
@click.option("--exclude-text", help="Text that title and snippet must not contain.")
@click.option("--no-cache", is_flag=True, help="Ignore cached answers.")
@click.option("--max-age-hours", type=float, help="Use a cached answer only if it is younger than this.")
@click.option("--format", type=FORMAT, help="Output format.  [markdown]")
@with_settings(without=SERVER_ONLY)
def search(query: str, no_cache: bool, **flags: Any) -> int:
    """Query several search engines at once and print one list."""
    lists = {name: list(flags.pop(name)) for name in ("engines", "include_domains", "exclude_domains")}
    arguments = {"query": query, "use_cache": not no_cache}
    arguments |= {name: values for name, values in lists.items() if values}
    names = ("max_results", "freshness", "category", "include_text", "exclude_text", "max_age_hours", "format")
    return print_answer("search", arguments, flags, names)


@click.command(cls=Command)
@click.argument("query")
@click.option("--max-results", type=int, help=_MAX_RESULTS)
@with_settings(without=SERVER_ONLY)
def web_search(query: str, **flags: Any) -> int:
    """Query DuckDuckGo only and print its results."""
    return print_answer("web_search", {"query": query}, flags, ("max_results",))


@click.command(cls=Command)
@click.argument("query")
@with_settings(without=SERVER_ONLY)
def instant_answer(query: str, **flags: Any) -> int:
    """Print DuckDuckGo's instant answer, if it has one."""
    return print_answer("instant_answer", {"query": query}, flags, ())


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
@click.option("--format", type=FORMAT, help="Output format.  [markdown]")
@with_settings(without=SERVER_ONLY)
def research(question: str, engines: tuple[str, ...], no_fetch: bool, no_cache: bool, **flags: Any) -> int:
    """Search, read the best pages and print the passages that answer the question."""
    arguments = {
        "question": question,
        "engines": list(engines) or None,
        "fetch": not no_fetch,
        "use_cache": not no_cache,
    }
    return print_answer("research", arguments, flags, ("depth", "max_age_hours", "format"))


@click.command(cls=Command)
@click.argument("question")
@click.argument("urls", nargs=-1, required=True)
@click.option("--format", type=FORMAT, help="Output format.  [markdown]")
@with_settings(without=SERVER_ONLY)
def compare(question: str, urls: tuple[str, ...], **flags: Any) -> int:
    """Read two to five pages and print the passages of each that answer the question."""
    return print_answer("compare", {"question": question, "urls": list(urls)}, flags, ("format",))


@click.command(cls=Command)
@click.argument("source")
@click.option("--format", type=FORMAT, help="Output format.  [markdown]")
@click.option("--start", type=int, help="First character to print.  [0]")
@click.option("--length", type=int, help="Number of characters to print.")
@click.option("--pages", help='Only these pages, e.g. "3-5,9".')
@click.option("--outline", is_flag=True, default=None, help="Print the headings with their offsets.")
@click.option("--password", help="Password of an encrypted PDF.")
@with_settings(without=SERVER_ONLY)
def read_doc(source: str, **flags: Any) -> int:
    """Read one document (PDF, Word, Excel, ...) and print it as Markdown.

    SOURCE is a URL, or a path in the folder of --document-root.
    """
    names = ("format", "start", "length", "pages", "outline", "password")
    return print_answer("read_doc", {"source": source}, flags, names)


@click.command(cls=Command)
@click.argument("url")
@click.option("--format", type=FORMAT, help="Output format.  [markdown]")
@with_settings(without=SERVER_ONLY)
def extract_structured(url: str, **flags: Any) -> int:
    """Print the machine-readable data of a page: JSON-LD, microdata, OpenGraph, RDFa, product facts."""
    return print_answer("extract_structured", {"url": url}, flags, ("format",))
