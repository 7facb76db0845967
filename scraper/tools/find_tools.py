"""`find_tools`: what somebody wants to do in, the tools, prompts or kept texts for it out.

The same as the methods `tools/search`, `prompts/search` and `resources/search`, for clients that know none
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scraper.errors import BadArgument
from scraper.extract.characters import line
from scraper.render.sealed import EXPLANATION, seal
from scraper.settings import Settings
from scraper.tools.arguments import OneOf, Parameter, Parameters, Text
from scraper.tools.boundary import guarded
from scraper.tools.descriptions import described
from scraper.tools.finding import Offer, ranked, uses_of
from scraper.tools.kept import Item, found
from scraper.tools.model import Answer, Call, Tool
from scraper.tools.prompts import Prompt, prompts_for
from scraper.tools.shared import new_region

if TYPE_CHECKING:
    from scraper.app import App

__all__ = ["MAX_QUERY_CHARS", "NAME", "PAGE_ITEMS", "offer_of_prompt", "offer_of_tool", "tool"]

NAME = "find_tools"
PAGE_ITEMS = 10
"""At once; the contract of the search methods has the same bound."""
MAX_QUERY_CHARS = 2_000
_SNIPPET_CHARS = 300

_PARAMETERS = Parameters(
    Parameter("query", Text(), "What you want to do or read.", required=True),
    Parameter(
        "kind",
        OneOf(("tools", "prompts", "resources")),
        "resources: what is kept.",
        default="tools",
    ),
)


def tool(settings: Settings, others: Sequence[Tool]) -> Tool:
    """The tool that finds the others."""

    async def run(app: App, given: dict[str, Any], call: Call) -> Answer:
        query, kind = given["query"], given["kind"]
        if len(query) > MAX_QUERY_CHARS:
            raise BadArgument(f"query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are taken.")
        if kind == "resources":
            items, _ = await found(app, call.principal, query, 0, PAGE_ITEMS)
            return Answer(_kept_text(items))
        lines = _tool_lines(query, others) if kind == "tools" else _prompt_lines(query, prompts_for(others))
        return Answer("\n".join(lines) or f"None of the {kind} fits. Say it in other words.")

    return Tool(
        name=NAME,
        title="Find a tool",
        description=described(NAME),
        input_schema=_PARAMETERS.schema(),
        run=guarded(NAME, _PARAMETERS, run),
        open_world=False,
    )


def offer_of_tool(offered: Tool) -> Offer:
    """A tool as it is searched: names, title, description and what its arguments are for."""
    properties = offered.input_schema.get("properties", {})
    arguments = " ".join(f"{name} {entry.get('description', '')}" for name, entry in properties.items())
    return Offer(offered.name, offered.title, f"{offered.description} {arguments}", uses_of(offered.name))


def offer_of_prompt(prompt: Prompt) -> Offer:
    """A prompt as it is searched."""
    arguments = " ".join(f"{argument.name} {argument.about}" for argument in prompt.arguments)
    return Offer(prompt.name, prompt.title, f"{prompt.about} {arguments}", uses_of(prompt.name))


def _tool_lines(query: str, tools: Sequence[Tool]) -> list[str]:
    places = ranked(query, [offer_of_tool(offered) for offered in tools])[:PAGE_ITEMS]
    return [_tool_line(tools[at]) for at in places]


def _tool_line(offered: Tool) -> str:
    required = ", ".join(offered.input_schema.get("required", ()))
    return f"- {offered.name}({required}): {offered.description.partition(chr(10))[0]}"


def _prompt_lines(query: str, prompts: Sequence[Prompt]) -> list[str]:
    places = ranked(query, [offer_of_prompt(prompt) for prompt in prompts])[:PAGE_ITEMS]
    return [
        f"- {prompts[at].name}({', '.join(argument.name for argument in prompts[at].arguments)}): "
        f"{prompts[at].about}"
        for at in places
    ]


def _kept_text(items: Sequence[Item]) -> str:
    if not items:
        return "Nothing that is kept holds these words. `search` finds pages on the web."
    region = new_region()
    rows = "\n\n".join(_kept_row(item) for item in items)
    return f"{EXPLANATION.format(region=region)}\n\n{seal(rows, region)}"


def _kept_row(item: Item) -> str:
    title = f"{item.title}\n" if item.title else ""
    snippet = line(item.snippet, _SNIPPET_CHARS)
    return f"- {title}<{item.uri}> {item.about}\n{snippet}".rstrip()
