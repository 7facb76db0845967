"""`search-mcp research` and `search-mcp compare`: the tools' own answers, for a person or a pipe."""

from __future__ import annotations

from typing import Any

import click

from scraper.cli.fetch import FORMAT, print_answer
from scraper.cli.options import SERVER_ONLY, Command, with_settings


@click.command(cls=Command)
@click.argument("question")
@click.option("--depth", type=int, help="Read so many of the best pages, 1 to 8.  [3]")
@click.option("--engine", "engines", multiple=True, help="Ask this engine; may be given several times.")
@click.option("--no-fetch", is_flag=True, help="List the sources without reading them.")
@click.option("--no-cache", is_flag=True, help="Search and read anew, whatever the cache holds.")
@click.option(
    "--max-age-hours", type=float, help="Take searches and pages from the cache only when younger than this."
)
@click.option("--format", type=FORMAT, help="What to print.  [markdown]")
@with_settings(without=SERVER_ONLY)
def research(question: str, engines: tuple[str, ...], no_fetch: bool, no_cache: bool, **given: Any) -> int:
    """Search, read the best pages and print what they say of the question."""
    arguments = {
        "question": question,
        "engines": list(engines) or None,
        "fetch": not no_fetch,
        "use_cache": not no_cache,
    }
    return print_answer("research", arguments, given, ("depth", "max_age_hours", "format"))


@click.command(cls=Command)
@click.argument("question")
@click.argument("urls", nargs=-1, required=True)
@click.option("--format", type=FORMAT, help="What to print.  [markdown]")
@with_settings(without=SERVER_ONLY)
def compare(question: str, urls: tuple[str, ...], **given: Any) -> int:
    """Read two to five pages and print what each says of the question."""
    return print_answer("compare", {"question": question, "urls": list(urls)}, given, ("format",))
