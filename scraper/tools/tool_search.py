"""Tool `find_tools`: find tools, prompts or cached texts for a task.

It offers `tools/search`, `prompts/search` and `resources/search` to clients without these methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scraper.errors import InvalidArgumentError
from scraper.render.untrusted_text import UNTRUSTED_EXPLANATION, mark_untrusted
from scraper.text.sanitize import clean_line
from scraper.tools import cached_resources
from scraper.tools.cached_resources import CachedResource
from scraper.tools.model import Parameter, Parameters, Tool, ToolAnswer, ToolCall, make_tool, new_region
from scraper.tools.prompts import Prompt, prompts_for
from scraper.tools.tool_ranking import SearchableItem, rank_items, read_uses
from scraper.values.types import ChoiceValue, IntegerValue, StringValue

if TYPE_CHECKING:
    from scraper.services import Services

NAME = "find_tools"
ITEMS_PER_PAGE = 10
"""Items per answer; the contract of the search methods has the same limit."""
MAX_DEPTH = 1_000
"""Items that paging can reach; a better query finds further ones."""
MAX_QUERY_CHARS = 2_000
_SNIPPET_CHARS = 300


def find_tools_tool(others: Sequence[Tool]) -> Tool:
    """Return `find_tools`, which finds the other tools."""

    async def find(services: Services, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
        query, kind, start = arguments["query"], arguments["kind"], arguments["start"]
        if len(query) > MAX_QUERY_CHARS:
            raise InvalidArgumentError(f"query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are taken.")
        if kind == "resources":
            items, more = await cached_resources.search(services, call.principal, query, start, ITEMS_PER_PAGE)
            return ToolAnswer(_resources_text(items, start) + _next_page_hint(start, more=more))
        if kind == "tools":
            lines = [_tool_line(others[at]) for at in rank_items(query, [searchable_tool(tool) for tool in others])]
        else:
            prompts = prompts_for(others)
            lines = [_prompt_line(prompts[at]) for at in rank_items(query, [searchable_prompt(one) for one in prompts])]
        end = start + ITEMS_PER_PAGE
        text = "\n".join(lines[start:end]) or _no_items(start, f"None of the {kind} fits. Try other words.")
        return ToolAnswer(text + _next_page_hint(start, more=len(lines) > end))

    parameters = Parameters(
        Parameter("query", StringValue(), "What you want to do or read.", required=True),
        Parameter("kind", ChoiceValue(("tools", "prompts", "resources")), "resources: cached texts.", default="tools"),
        Parameter("start", IntegerValue(0, MAX_DEPTH), "First item to return.", default=0),
    )
    return make_tool(NAME, "Find a tool", parameters, find, open_world=False)


def searchable_tool(tool: Tool) -> SearchableItem:
    """Return the searchable texts of a tool: name, title, description, parameter descriptions and uses."""
    properties = tool.input_schema.get("properties", {})
    parameters = " ".join(f"{name} {entry.get('description', '')}" for name, entry in properties.items())
    return SearchableItem(tool.name, tool.title, f"{tool.description} {parameters}", read_uses(tool.name))


def searchable_prompt(prompt: Prompt) -> SearchableItem:
    """Return the searchable texts of a prompt."""
    arguments = " ".join(f"{argument.name} {argument.about}" for argument in prompt.arguments)
    return SearchableItem(prompt.name, prompt.title, f"{prompt.about} {arguments}", read_uses(prompt.name))


def _tool_line(tool: Tool) -> str:
    required = ", ".join(tool.input_schema.get("required", ()))
    return f"- {tool.name}({required}): {tool.description.partition(chr(10))[0]}"


def _prompt_line(prompt: Prompt) -> str:
    return f"- {prompt.name}({', '.join(argument.name for argument in prompt.arguments)}): {prompt.about}"


def _resources_text(items: Sequence[CachedResource], start: int) -> str:
    if not items:
        return _no_items(start, "No cached text has these words. `search` finds pages on the web.")
    region = new_region()
    rows = "\n\n".join(_resource_row(item) for item in items)
    return f"{UNTRUSTED_EXPLANATION.format(region=region)}\n\n{mark_untrusted(rows, region)}"


def _resource_row(item: CachedResource) -> str:
    title = f"{item.title}\n" if item.title else ""
    snippet = clean_line(item.snippet, _SNIPPET_CHARS)
    return f"- {title}<{item.uri}> {item.about}\n{snippet}".rstrip()


def _no_items(start: int, message: str) -> str:
    return f"Nothing more fits: there are at most {start}." if start else message


def _next_page_hint(start: int, *, more: bool) -> str:
    end = start + ITEMS_PER_PAGE
    return f"\n\nMore fit: call find_tools again with start={end}." if more and end < MAX_DEPTH else ""
