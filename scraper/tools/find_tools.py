"""`find_tools`: what somebody wants to do in, the tools, prompts or kept texts for it out.

The same as the methods `tools/search`, `prompts/search` and `resources/search`, for clients that know none
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scraper.errors import InvalidArgumentError
from scraper.extract.text.sanitize import clean_line
from scraper.render.untrusted_region import EXPLANATION, seal
from scraper.settings import Settings
from scraper.tools.arguments import ChoiceArgument, IntegerArgument, Parameter, Parameters, StringArgument
from scraper.tools.cached_resources import CachedResource, found
from scraper.tools.common_parameters import new_region
from scraper.tools.descriptions import described
from scraper.tools.error_boundary import guarded
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from scraper.tools.prompts import Prompt, prompts_for
from scraper.tools.tool_ranking import SearchableItem, ranked, uses_of

if TYPE_CHECKING:
    from scraper.app import App

NAME = "find_tools"
PAGE_ITEMS = 10
"""At once; the contract of the search methods has the same bound."""
DEEPEST = 1_000
"""Texts that can be paged through in all: who wants more must ask better."""
MAX_QUERY_CHARS = 2_000
_SNIPPET_CHARS = 300

_PARAMETERS = Parameters(
    Parameter("query", StringArgument(), "What you want to do or read.", required=True),
    Parameter(
        "kind",
        ChoiceArgument(("tools", "prompts", "resources")),
        "resources: what is kept.",
        default="tools",
    ),
    Parameter("start", IntegerArgument(0, DEEPEST), "Place to begin at.", default=0),
)


def tool(settings: Settings, others: Sequence[Tool]) -> Tool:
    """The tool that finds the others."""

    async def run(app: App, given: dict[str, Any], call: ToolCall) -> ToolAnswer:
        query, kind, start = given["query"], given["kind"], given["start"]
        if len(query) > MAX_QUERY_CHARS:
            raise InvalidArgumentError(
                f"query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are taken."
            )
        if kind == "resources":
            items, more = await found(app, call.principal, query, start, PAGE_ITEMS)
            return ToolAnswer(_kept_text(items, start) + _continued(start, more=more))
        every = _tool_lines(query, others) if kind == "tools" else _prompt_lines(query, prompts_for(others))
        end = start + PAGE_ITEMS
        told = "\n".join(every[start:end]) or _nothing(
            start, f"None of the {kind} fits. Say it in other words."
        )
        return ToolAnswer(told + _continued(start, more=len(every) > end))

    return Tool(
        name=NAME,
        title="Find a tool",
        description=described(NAME),
        input_schema=_PARAMETERS.schema(),
        run=guarded(NAME, _PARAMETERS, run),
        open_world=False,
    )


def offer_of_tool(offered: Tool) -> SearchableItem:
    """A tool as it is searched: names, title, description and what its arguments are for."""
    properties = offered.input_schema.get("properties", {})
    arguments = " ".join(f"{name} {entry.get('description', '')}" for name, entry in properties.items())
    return SearchableItem(
        offered.name, offered.title, f"{offered.description} {arguments}", uses_of(offered.name)
    )


def offer_of_prompt(prompt: Prompt) -> SearchableItem:
    """A prompt as it is searched."""
    arguments = " ".join(f"{argument.name} {argument.about}" for argument in prompt.arguments)
    return SearchableItem(prompt.name, prompt.title, f"{prompt.about} {arguments}", uses_of(prompt.name))


def _tool_lines(query: str, tools: Sequence[Tool]) -> list[str]:
    return [_tool_line(tools[at]) for at in ranked(query, [offer_of_tool(offered) for offered in tools])]


def _tool_line(offered: Tool) -> str:
    required = ", ".join(offered.input_schema.get("required", ()))
    return f"- {offered.name}({required}): {offered.description.partition(chr(10))[0]}"


def _prompt_lines(query: str, prompts: Sequence[Prompt]) -> list[str]:
    places = ranked(query, [offer_of_prompt(prompt) for prompt in prompts])
    return [
        f"- {prompts[at].name}({', '.join(argument.name for argument in prompts[at].arguments)}): "
        f"{prompts[at].about}"
        for at in places
    ]


def _kept_text(items: Sequence[CachedResource], start: int) -> str:
    if not items:
        return _nothing(start, "Nothing that is kept holds these words. `search` finds pages on the web.")
    region = new_region()
    rows = "\n\n".join(_kept_row(item) for item in items)
    return f"{EXPLANATION.format(region=region)}\n\n{seal(rows, region)}"


def _kept_row(item: CachedResource) -> str:
    title = f"{item.title}\n" if item.title else ""
    snippet = clean_line(item.snippet, _SNIPPET_CHARS)
    return f"- {title}<{item.uri}> {item.about}\n{snippet}".rstrip()


def _nothing(start: int, why: str) -> str:
    return f"Nothing more fits: there are at most {start}." if start else why


def _continued(start: int, *, more: bool) -> str:
    """The line that says how to go on, where there is more."""
    end = start + PAGE_ITEMS
    return f"\n\nMore fit: call find_tools again with start={end}." if more and end < DEEPEST else ""
