"""List the tools in the order in which clients see them, and select those of the settings."""

from dataclasses import replace

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
from scraper.values.text import read_table, suggest

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


_ACTING = (browser_tools.BROWSE,)
"""Tools that may change something on sites. They can be called only if the operator offers them."""


def all_tools(settings: Settings) -> tuple[Tool, ...]:
    """Return all tools, regardless of the selection in the settings."""
    others = tuple(make(settings) for make in _MAKERS)
    return (*others, tool_search.find_tools_tool(others))


def available_tools(settings: Settings) -> tuple[Tool, ...]:
    """Return the tools that can be called, `listed` or not; those that act only if the settings offer them."""
    known = {tool.name: tool for tool in all_tools(settings)}
    for name in settings.tools:
        if name not in known:
            hint, names = suggest(name, known), ", ".join(known)
            raise SettingsError(f"SEARCH_MCP_TOOLS names {name!r}, which is not a tool{hint}; there are {names}")
    toolsets = read_table(__package__, "toolsets.toml") | {"all": tuple(known), "acting": _ACTING}
    toolsets["default"] = tuple(name for name in known if name not in _ACTING)
    listed = settings.tools or {name for toolset in settings.toolsets for name in toolsets[toolset]}
    refused = () if settings.tools else tuple(known[name] for name in _ACTING if name not in listed)
    callable_names = listed if settings.tools else known.keys() - {tool.name for tool in refused}
    others = [
        replace(tool, listed=name in listed)
        for name, tool in known.items()
        if name in callable_names and name != tool_search.NAME
    ]
    if tool_search.NAME not in callable_names:
        return tuple(others)
    finder = tool_search.find_tools_tool(others, refused=refused)
    return (*others, replace(finder, listed=tool_search.NAME in listed))


def tools(settings: Settings | None = None) -> tuple[Tool, ...]:
    """Return the tools that clients see in the list."""
    return tuple(tool for tool in available_tools(settings or Settings()) if tool.listed)
