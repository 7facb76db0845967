"""Tool `find_tools`, and the ranking of tools, prompts and cached texts for a task.

It offers `tools/search`, `prompts/search` and `resources/search` to clients without these methods.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from scraper.errors import InvalidArgumentError
from scraper.render.untrusted_text import UNTRUSTED_EXPLANATION, mark_untrusted
from scraper.text.sanitize import clean_line
from scraper.text.terms import fold_text, inverse_document_frequency, split_terms, stem
from scraper.tools import cached_resources
from scraper.tools.cached_resources import CachedResource
from scraper.tools.model import Parameter, Parameters, Tool, ToolAnswer, ToolCall, make_tool, new_region
from scraper.tools.prompts import Prompt, prompts_for
from scraper.values.types import ChoiceValue, IntegerValue, StringValue
from scraper.words.matcher import Words

_TRIGRAM_WEIGHT = 0.5
"""Weight of spelling similarity relative to BM25; both are scaled to their best score.
Of the 35 requests in tests/scraper/tools/test_tool_ranking.py, 31 rank their tool first without it,
34 from 0.1 on, 35 from 0.5 to 1."""
_MIN_COSINE = 0.14
"""Minimum cosine of similar texts. Words of other topics ("xylophon", "screenshot", "translate") reach 0.09, misspelled
ones ("serach", "reserch qustion") 0.2 and more."""
_MIN_SHARE = 0.2
"""Minimum score of a result, relative to the best; lower scores are accidental."""

_STOP_WORDS = Words("stop_words.any_topic", "stop_words.request", language="en")
"""Words that occur in requests on any topic."""


@dataclass(frozen=True, slots=True)
class SearchableItem:
    """Searchable texts of a tool or prompt."""

    name: str
    title: str
    text: str
    uses: str = ""
    """Words that users use for the task; never displayed."""


def rank_items(query: str, items: Sequence[SearchableItem]) -> list[int]:
    """Return the indexes of the matching items, best first, in a deterministic order."""
    content = " ".join(word for word in split_terms(query) if word not in _STOP_WORDS.all)
    if not content:
        content = query
    word_scores = _scale(_word_scores(content, items))
    spelling_scores = _scale([_spelling_similarity(content, item) for item in items])
    name_scores = [float(_is_named(item.name, query)) for item in items]
    total = [
        words + _TRIGRAM_WEIGHT * spelling + name
        for words, spelling, name in zip(word_scores, spelling_scores, name_scores, strict=True)
    ]
    best = max(total, default=0.0)
    fitting = [at for at, score in enumerate(total) if score > best * _MIN_SHARE]
    return sorted(fitting, key=lambda at: (-total[at], at))


def read_uses(name: str) -> str:
    """Return the line of `uses.txt` for a tool or prompt, or an empty string."""
    return _read_all_uses().get(name, "")


@functools.cache
def _read_all_uses() -> Mapping[str, str]:
    lines = resources.files(__package__).joinpath("uses.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip(): uses.strip() for name, _, uses in pairs}


def _is_named(name: str, query: str) -> bool:
    """Return True if the query contains the name; a name of one word must be the whole query."""
    words = query.lower().split()
    return words == [name] or ("_" in name and name in words)


def _word_scores(content: str, items: Sequence[SearchableItem]) -> list[float]:
    """Return the BM25 score of each item by the stems of the query, without the length of the item."""
    terms = sorted(set(map(stem, split_terms(content))))
    rows = []
    for item in items:
        counts = Counter(map(stem, split_terms(f"{item.text} {item.uses}")))
        counts.update(set(map(stem, split_terms(f"{item.name} {item.title} {item.uses}"))))
        rows.append([counts[term] for term in terms])
    found = (sum(map(bool, column)) for column in zip(*rows, strict=True))
    rarity = [inverse_document_frequency(frequency, len(rows)) for frequency in found]
    return [sum(rare * count / (count + 1) for rare, count in zip(rarity, row, strict=True)) for row in rows]


def _spelling_similarity(content: str, item: SearchableItem) -> float:
    """Return the cosine of the trigrams of the query and of name, title and uses."""
    query, other = _trigrams(content), _trigrams(f"{item.name} {item.title} {item.uses}")
    shared = sum(count * other[trigram] for trigram, count in query.items() if trigram in other)
    cosine = shared / (_norm(query) * _norm(other) or 1.0)
    return cosine if cosine >= _MIN_COSINE else 0.0


def _trigrams(text: str) -> Counter[str]:
    """Count the trigrams of the words, with a space at both ends of each word."""
    found: Counter[str] = Counter()
    for word in split_terms(fold_text(text)):
        padded = f" {word} "
        found.update(padded[at : at + 3] for at in range(len(padded) - 2))
    return found


def _norm(counts: Counter[str]) -> float:
    return math.sqrt(sum(count * count for count in counts.values()))


def _scale(values: list[float]) -> list[float]:
    best = max(values, default=0.0)
    return [value / best for value in values] if best > 0 else values


NAME = "find_tools"
ITEMS_PER_PAGE = 10
"""Items per answer; the contract of the search methods has the same limit."""
MAX_DEPTH = 1_000
"""Items that paging can reach; a better query finds further ones."""
MAX_QUERY_CHARS = 2_000
_SNIPPET_CHARS = 300


def find_tools_tool(others: Sequence[Tool]) -> Tool:
    """Return `find_tools`, which finds the other tools."""

    async def find(services: cached_resources.ResourceSources, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
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
