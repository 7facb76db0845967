"""List the tools in the order in which clients see them, and select those of the settings."""

from __future__ import annotations

from scraper.settings import Settings, SettingsError
from scraper.tools import (
    browser_tools,
    index_tools,
    reading_tools,
    search_tools,
    site_tools,
    structured_tools,
    tool_search,
)
from scraper.tools.model import Tool
from scraper.values.text import suggest

_MAKERS = (
    search_tools.search_tool,
    reading_tools.fetch_tool,
    reading_tools.fetch_batch_tool,
    reading_tools.read_doc_tool,
    search_tools.research_tool,
    search_tools.compare_tool,
    site_tools.map_tool,
    site_tools.crawl_tool,
    site_tools.changes_tool,
    browser_tools.see_tool,
    browser_tools.browse_tool,
    structured_tools.extract_structured_tool,
    search_tools.cache_search_tool,
    search_tools.engines_tool,
    search_tools.web_search_tool,
    search_tools.instant_answer_tool,
    index_tools.search_index_tool,
    index_tools.search_add_document_tool,
    index_tools.search_create_index_tool,
)


_CORE = ("search", "fetch", "fetch_batch", "read_doc", "research")
_ACTING = (browser_tools.BROWSE,)
"""Tools that may change something on sites. They are not in the default toolset."""


def all_tools(settings: Settings) -> tuple[Tool, ...]:
    """Return all tools, regardless of the selection in the settings."""
    others = tuple(make(settings) for make in _MAKERS)
    return (*others, tool_search.find_tools_tool(others))


def tools(settings: Settings | None = None) -> tuple[Tool, ...]:
    """Return the tools that the settings select by name or toolset; raise SettingsError for an unknown name."""
    settings = settings or Settings()
    available = {tool.name: tool for tool in all_tools(settings)}
    for name in settings.tools:
        if name not in available:
            hint, names = suggest(name, available), ", ".join(available)
            raise SettingsError(f"SEARCH_MCP_TOOLS names {name!r}, which is not a tool{hint}; there are {names}")
    toolsets = {"default": tuple(name for name in available if name not in _ACTING), "core": _CORE, "acting": _ACTING}
    selected = settings.tools or {name for toolset in settings.toolsets for name in toolsets[toolset]}
    others = tuple(tool for name, tool in available.items() if name in selected and name != tool_search.NAME)
    return (*others, tool_search.find_tools_tool(others)) if tool_search.NAME in selected else others
