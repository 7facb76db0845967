"""Commands that search the web: search, web-search, instant-answer, research and engines."""

from __future__ import annotations

import json
from typing import Any

from scraper.cli.setting_options import READ, READ_MANY, command
from scraper.cli.tool_output import print_text, run_and_print, wants_json
from scraper.engines.model import DEFAULT_ENGINES


@command("search", READ)
def search(no_cache: bool, **flags: Any) -> int:
    """Query several search engines at once and print one list."""
    lists = {name: flags[name] or None for name in ("engines", "include_domains", "exclude_domains")}
    return run_and_print("search", {**flags, **lists, "use_cache": not no_cache})


@command("web-search", READ)
def web_search(**flags: Any) -> int:
    """Query DuckDuckGo only and print its results."""
    if wants_json(flags):
        # The answer of the tool `web_search` is only text.
        return run_and_print("search", {**flags, "engines": ["duckduckgo"]})
    return run_and_print("web_search", flags)


@command("instant-answer", READ)
def instant_answer(**flags: Any) -> int:
    """Print DuckDuckGo's instant answer, if it has one."""
    return run_and_print("instant_answer", flags)


@command("engines")
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


@command("research", READ_MANY)
def research(engines: tuple[str, ...], no_fetch: bool, no_cache: bool, **flags: Any) -> int:
    """Search, read the best pages and print the passages that answer the question."""
    arguments = {"engines": engines or None, "fetch": not no_fetch, "use_cache": not no_cache}
    return run_and_print("research", flags | arguments)
