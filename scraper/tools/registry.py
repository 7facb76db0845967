"""List the tools in the order in which clients see them."""

from __future__ import annotations

from scraper.settings import Settings, SettingsError
from scraper.tools import cache_search, fetch, find_tools, index_tools, openai_toolset, read_doc, research, search
from scraper.tools.model import Tool
from scraper.values import closest_match

_MAKERS = (
    search.search_tool,
    fetch.fetch_tool,
    fetch.fetch_batch_tool,
    read_doc.read_doc_tool,
    research.research_tool,
    research.compare_tool,
    fetch.extract_structured_tool,
    cache_search.cache_search_tool,
    search.engines_tool,
    search.web_search_tool,
    search.instant_answer_tool,
    index_tools.search_index_tool,
    index_tools.search_add_document_tool,
    index_tools.search_create_index_tool,
)


def tools(settings: Settings | None = None) -> tuple[Tool, ...]:
    """Return the tools that the settings name, or all tools.

    Raises:
        SettingsError: The settings name an unknown tool.
    """
    settings = settings or Settings()
    available = {tool.name: tool for tool in (make(settings) for make in _MAKERS)}
    known = [*available, find_tools.NAME]
    for name in settings.tools:
        if name not in known:
            closest = closest_match(name, known)
            hint = f"; did you mean {closest}?" if closest else ""
            names = ", ".join(known)
            raise SettingsError(f"SEARCH_MCP_TOOLS names {name!r}, which is no tool; there are {names}{hint}")
    selected = settings.tools or tuple(known)
    others = tuple(tool for name, tool in available.items() if name in selected)
    return (*others, find_tools.find_tools_tool(others)) if find_tools.NAME in selected else others


def openai_tools(settings: Settings | None = None) -> tuple[Tool, ...]:
    """Return `search` and `fetch` of ChatGPT connectors."""
    return openai_toolset.openai_tools()
