"""Commands that search the web: search, web-search, instant-answer, research and engines."""

from __future__ import annotations

import json
from typing import Any

import click

from scraper.cli.setting_options import READ, READ_MANY, Command, complete_from, with_settings
from scraper.cli.tool_output import print_text, run_and_print, wants_json, with_output_options
from scraper.engines.model import CATEGORIES, DEFAULT_ENGINES, ENGINE_NAMES, SOURCE_NAMES

_FRESHNESS = click.Choice(["day", "week", "month", "year"])
_CATEGORY = click.Choice(CATEGORIES)

_engine_option = click.option(
    "--engine",
    "engines",
    multiple=True,
    shell_complete=complete_from((*ENGINE_NAMES, *SOURCE_NAMES)),
    help=f"Use this engine; may be repeated.  [{', '.join(DEFAULT_ENGINES)}]",
)
_max_results_option = click.option("--max-results", type=int, help="Maximum number of results.  [10]")


@click.command(
    cls=Command,
    examples=[
        'search "browser automation" --max-results 5',
        'search "tidal power" --freshness month --include-domain nature.com',
        "search rust --engine mojeek --engine brave --json",
    ],
)
@click.argument("query")
@_engine_option
@_max_results_option
@click.option("--freshness", type=_FRESHNESS, help="Maximum age of pages.")
@click.option("--include-domain", "include_domains", multiple=True, help="Only this domain; may be repeated.")
@click.option("--exclude-domain", "exclude_domains", multiple=True, help="Not this domain; may be repeated.")
@click.option("--category", type=_CATEGORY, help="Only this kind of page.")
@click.option("--include-text", help="Text that title or snippet must contain.")
@click.option("--exclude-text", help="Text that title and snippet must not contain.")
@click.option("--no-cache", is_flag=True, help="Ignore cached answers.")
@click.option("--max-age-hours", type=float, help="Use a cached answer only if it is younger than this.")
@with_output_options()
@with_settings(READ)
def search(no_cache: bool, **flags: Any) -> int:
    """Query several search engines at once and print one list."""
    lists = {name: flags[name] or None for name in ("engines", "include_domains", "exclude_domains")}
    return run_and_print("search", {**flags, **lists, "use_cache": not no_cache})


@click.command(cls=Command, examples=['web-search "tidal power"', 'web-search "tidal power" --json'])
@click.argument("query")
@_max_results_option
@with_output_options(has_marks=False)
@with_settings(READ)
def web_search(**flags: Any) -> int:
    """Query DuckDuckGo only and print its results."""
    if wants_json(flags):
        # The answer of the tool `web_search` is only text.
        return run_and_print("search", {**flags, "engines": ["duckduckgo"]})
    return run_and_print("web_search", flags)


@click.command(cls=Command, examples=['instant-answer "height of Mont Blanc"'])
@click.argument("query")
@with_output_options(has_marks=False)
@with_settings(READ)
def instant_answer(**flags: Any) -> int:
    """Print DuckDuckGo's instant answer, if it has one."""
    return run_and_print("instant_answer", flags)


@click.command(cls=Command, examples=["engines", "engines --json"])
@with_output_options(has_marks=False)
def engines(**flags: Any) -> None:
    """List the search engines and sources, and their purpose."""
    # Imported late, so that help is printed without loading the page readers.
    from scraper.engines.registry import ENGINES
    from scraper.engines.sources import SOURCES

    rows: list[dict[str, Any]] = [
        {"name": one.name, "default": one.name in DEFAULT_ENGINES, "about": one.about} for one in ENGINES.values()
    ]
    lines = [f"{row['name']}{' (default)' if row['default'] else ''}: {row['about']}" for row in rows]
    lines.append("\nSources, used for a category or by name:")
    for one in SOURCES.values():
        limit = f"1 request in {one.spacing_s:g} s" + (f", {one.per_day} a day" if one.per_day else "")
        rows.append(
            {
                "name": one.name,
                "default": False,
                "about": one.about,
                "category": one.category,
                "by_name": one.is_by_name,
                "kind": str(one.kind),
                "limit": limit,
            }
        )
        use = "by name" if one.is_by_name else one.category
        lines.append(f"{one.name} ({use}, {one.kind}, {limit}): {one.about}")
    text = json.dumps(rows, ensure_ascii=False) if wants_json(flags) else "\n".join(lines)
    print_text(text, flags["output"])


@click.command(
    cls=Command,
    examples=['research "how do tidal power plants work"', 'research "price of tidal power" --depth 5 -o report.md'],
)
@click.argument("question")
@click.option("--depth", type=int, help="Number of pages to read, 1 to 8.  [3]")
@_engine_option
@click.option("--no-fetch", is_flag=True, help="List the sources without reading them.")
@click.option("--no-cache", is_flag=True, help="Ignore the cache.")
@click.option("--max-age-hours", type=float, help="Use cached searches and pages only if they are younger than this.")
@with_output_options()
@with_settings(READ_MANY)
def research(engines: tuple[str, ...], no_fetch: bool, no_cache: bool, **flags: Any) -> int:
    """Search, read the best pages and print the passages that answer the question."""
    arguments = {"engines": engines or None, "fetch": not no_fetch, "use_cache": not no_cache}
    return run_and_print("research", flags | arguments)
