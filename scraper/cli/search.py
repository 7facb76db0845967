"""`search-mcp search`, `web-search`, `instant-answer` and `engines`: the tools' own answers."""

from __future__ import annotations

from typing import Any

import click

from scraper.cli.fetch import FORMAT, print_answer
from scraper.cli.options import SERVER_ONLY, Command, with_settings

_FRESHNESS = click.Choice(["day", "week", "month", "year"])
_CATEGORY = click.Choice(["news", "pdf", "github", "paper", "forum", "blog"])
_MOST = "Print at most so many results.  [10]"


@click.command(cls=Command)
@click.argument("query")
@click.option("--engine", "engines", multiple=True, help="Ask this engine; may be given several times.")
@click.option("--max-results", type=int, help=_MOST)
@click.option("--freshness", type=_FRESHNESS, help="Only pages from this last span of time.")
@click.option("--include-domain", "include_domains", multiple=True, help="Only this domain; may be repeated.")
@click.option("--exclude-domain", "exclude_domains", multiple=True, help="Not this domain; may be repeated.")
@click.option("--category", type=_CATEGORY, help="Only this kind of page.")
@click.option("--include-text", help="Must stand in title or snippet.")
@click.option("--exclude-text", help="Must not stand in title or snippet.")
@click.option("--no-cache", is_flag=True, help="Ask the engines, whatever was kept.")
@click.option("--max-age-hours", type=float, help="Take a kept answer only when younger than this.")
@click.option("--format", type=FORMAT, help="What to print.  [markdown]")
@with_settings(without=SERVER_ONLY)
def search(query: str, no_cache: bool, **given: Any) -> int:
    """Ask several search engines at once and print one list."""
    lists = {name: list(given.pop(name)) for name in ("engines", "include_domains", "exclude_domains")}
    arguments = {"query": query, "use_cache": not no_cache}
    arguments |= {name: values for name, values in lists.items() if values}
    names = (
        "max_results",
        "freshness",
        "category",
        "include_text",
        "exclude_text",
        "max_age_hours",
        "format",
    )
    return print_answer("search", arguments, given, names)


@click.command(cls=Command)
@click.argument("query")
@click.option("--max-results", type=int, help=_MOST)
@with_settings(without=SERVER_ONLY)
def web_search(query: str, **given: Any) -> int:
    """Ask DuckDuckGo alone and print its results."""
    return print_answer("web_search", {"query": query}, given, ("max_results",))


@click.command(cls=Command)
@click.argument("query")
@with_settings(without=SERVER_ONLY)
def instant_answer(query: str, **given: Any) -> int:
    """Print what DuckDuckGo answers at once, where it does."""
    return print_answer("instant_answer", {"query": query}, given, ())


@click.command(cls=Command)
def engines() -> None:
    """List the search engines, and what each is good for."""
    # Imported here: help texts are printed without loading the readers of pages.
    from scraper.engines.names import DEFAULTS
    from scraper.engines.registry import ENGINES

    for engine in ENGINES.values():
        usual = " (asked when none is named)" if engine.name in DEFAULTS else ""
        click.echo(f"{engine.name}{usual}: {engine.about}")
