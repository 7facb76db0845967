"""All tools in the order in which clients see them."""

from __future__ import annotations

import difflib

from scraper.settings import Settings, SettingsError
from scraper.tools import (
    cache_search,
    compare,
    engines,
    extract_structured,
    fetch,
    fetch_batch,
    find_tools,
    instant_answer,
    openai_toolset,
    read_doc,
    research,
    search,
    search_add_document,
    search_create_index,
    search_index,
    web_search,
)
from scraper.tools.model import Tool

_ALL = (
    search.tool,
    fetch.tool,
    fetch_batch.tool,
    read_doc.tool,
    research.tool,
    compare.tool,
    extract_structured.tool,
    cache_search.tool,
    engines.tool,
    web_search.tool,
    instant_answer.tool,
    search_index.tool,
    search_add_document.tool,
    search_create_index.tool,
)


def tools(settings: Settings | None = None) -> tuple[Tool, ...]:
    """The tools that these settings offer; all when they name none.

    Raises:
        SettingsError: they name a tool that does not exist.
    """
    chosen = settings or Settings()
    offered = {tool.name: tool for tool in (make(chosen) for make in _ALL)}
    known = [*offered, find_tools.NAME]
    for name in chosen.tools:
        if name not in known:
            raise SettingsError(_unknown(name, known))
    wanted = chosen.tools or tuple(known)
    others = tuple(tool for name, tool in offered.items() if name in wanted)
    return (*others, find_tools.tool(chosen, others)) if find_tools.NAME in wanted else others


def openai_tools(settings: Settings | None = None) -> tuple[Tool, ...]:
    """`search` and `fetch` as ChatGPT's connectors know them, whatever else the settings offer."""
    return openai_toolset.pair(settings or Settings())


def _unknown(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"SEARCH_MCP_TOOLS names {name!r}, which is no tool; there are {', '.join(known)}{hint}"
