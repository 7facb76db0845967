"""`search-mcp fetch` and `search-mcp fetch-batch`: the tools' own answers, for a person or a pipe."""

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


def _shared(command: F) -> F:
    """Options of both commands."""
    command = click.option("--format", type=FORMAT, help="What to print.  [markdown]")(command)
    return click.option("--render", type=_RENDER, help="auto renders only what needs it.  [auto]")(command)


@click.command(cls=Command)
@click.argument("url")
@_shared
@click.option("--force-refresh", is_flag=True, default=None, help="Read it anew, whatever the cache holds.")
@click.option("--max-age-hours", type=float, help="Take it from the cache only when younger than this.")
@click.option("--start", type=int, help="Begin at this character of the page.  [0]")
@click.option("--length", type=int, help="Print so many characters of it.")
@with_settings(without=SERVER_ONLY)
def fetch(url: str, **given: Any) -> int:
    """Read one page and print it as Markdown."""
    names = ("format", "render", "force_refresh", "max_age_hours", "start", "length")
    return print_answer("fetch", {"url": url}, given, names)


@click.command(cls=Command)
@click.argument("urls", nargs=-1)
@click.option(
    "-f",
    "--file",
    "lines",
    type=click.File("r", encoding="utf-8"),
    help="Read the URLs from a file, one a line; - is stdin.",
)
@_shared
@with_settings(without=SERVER_ONLY)
def fetch_batch(urls: tuple[str, ...], lines: IO[str] | None, **given: Any) -> int:
    """Read many pages at once.

    A - among the URLs takes more of them from standard input, one a line. Lists that are too long for one
    call are for `search-mcp bulk`.
    """
    wanted = [url for word in urls for url in _meant(word)]
    wanted += _urls_in(lines) if lines else []
    if not wanted:
        raise click.UsageError("Give at least one URL, a file of them with -f, or - to read them from stdin.")
    return print_answer("fetch_batch", {"urls": wanted}, given, ("format", "render"))


def print_answer(tool: str, arguments: dict[str, Any], given: dict[str, Any], names: tuple[str, ...]) -> int:
    """Run a tool and print its answer; the exit code."""
    options = {name: given.pop(name) for name in names}
    arguments |= {name: value for name, value in options.items() if value is not None}
    settings = load(given)
    try:
        answer = tool_runner.ask(tool, arguments, settings)
    except SettingsError as error:
        raise click.UsageError(str(error)) from None
    click.echo(answer.text, err=answer.is_error)
    return int(answer.is_error)


def _meant(word: str) -> list[str]:
    return _urls_in(sys.stdin) if word == "-" else [word]


def _urls_in(lines: Iterable[str]) -> list[str]:
    try:
        # Editors of one system begin every file with a mark, which is no part of the first URL.
        wanted = [line.strip().removeprefix("\ufeff") for line in lines]
    except UnicodeDecodeError:
        raise click.UsageError("The list of URLs cannot be read: it is no text in UTF-8.") from None
    return [url for url in wanted if url and not url.startswith("#")]
