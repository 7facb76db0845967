"""Tool `find_tools`, and the ranking of tools, prompts and cached texts for a task.

It offers `tools/search`, `prompts/search` and `resources/search` to clients without these methods.
"""

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from scraper.errors import InvalidArgumentError
from scraper.render.untrusted_text import mark_untrusted
from scraper.text.sanitize import clean_line
from scraper.text.terms import ENGLISH_STOP_WORDS, inverse_document_frequency, split_terms, stem
from scraper.tools import cached_resources
from scraper.tools.cached_resources import CachedResource
from scraper.tools.model import Parameter, Parameters, Tool, ToolAnswer, ToolCall, make_tool, new_region
from scraper.tools.prompts import Prompt, prompts_for
from scraper.values.text import read_file
from scraper.values.types import ChoiceValue, IntegerValue, StringValue
from scraper.words.matcher import WordPattern, read_topic

_CLOSEST_PHRASES, _NEXT_PHRASE = 3, 0.5
"""Phrases of a tool that count, and the weight of each relative to the one before."""
_UNSEEN, _SPREAD = 0.2, 4.0
"""Ratio to the expected count for a word that a tool lacks, and the log likelihood that divides a score by e."""
_STOP_WORD = 0.5
"""Weight of words such as `which`, relative to others: few, but they tell some tools apart."""
_MIN_SIMILARITY = 0.8
"""Minimum similarity of the known word for a misspelled one."""
_MIN_SHARE = 0.2
"""Minimum score of a result, relative to the best; lower scores are accidental."""

_ANY_TOPIC, _TOPIC_WORD, _TOPIC_WORDS = "*", 0.15, 3
"""Phrase of a tool that takes any topic, its score for each word that no tool knows, and the most words that count."""
_CACHED_TEXTS = 1_024
"""Texts whose terms are cached; the tools have some 700 phrases."""

_MEANINGS = "tasks"
_MEANING = WordPattern("|".join(rf"(?P<{name}_>\b{{{_MEANINGS}.{name}}}\b)" for name in read_topic(_MEANINGS)))
"""Words with one meaning; `read` and `open`, for example, are in the table `read`."""

_NOT_ITS_USES = ("Not recommended for:", "Returns:", "Common mistakes:")
"""Lines of a description that have the words of other tools."""


@dataclass(frozen=True, slots=True)
class SearchableItem:
    """Searchable texts of a tool or prompt."""

    name: str
    phrases: tuple[str, ...]
    """Name, title, description, parameters and what users say when they want it."""


def rank_items(query: str, items: Sequence[SearchableItem]) -> list[int]:
    """Return the indexes of the matching items, best first, in a deterministic order."""
    scores = _phrase_scores(" ".join("url" if "://" in word else word for word in query.split()), items)
    best, words = max(scores, default=0.0), query.lower().split()
    # The query contains a name; a name of one word must be the whole query.
    named = [words == [item.name] or ("_" in item.name and item.name in words) for item in items]
    total = [score + best * is_named for score, is_named in zip(scores, named, strict=True)]
    fitting = [at for at, score in enumerate(total) if score > best * _MIN_SHARE]
    return sorted(fitting, key=lambda at: (-total[at], at))


@functools.cache
def read_uses() -> Mapping[str, tuple[str, ...]]:
    """Return the phrases of `uses.txt` for each tool and prompt."""
    lines = read_file(__package__, "uses.txt").splitlines()
    pairs = (line.partition(": ") for line in lines)
    return {name: tuple(uses.split("; ")) for name, _, uses in pairs}


def _phrase_scores(query: str, items: Sequence[SearchableItem]) -> list[float]:
    """Return how well each item fits: by its three closest phrases, and by how usual the words are in all of them."""
    phrases = [[_terms(phrase) for phrase in item.phrases] for item in items]
    counts = [Counter(term for phrase in item for term in phrase) for item in phrases]
    total, all_phrases = sum(counts, Counter[str]()), sum(map(len, phrases))
    wanted, topics = _wanted_terms(query, items, total)

    def weigh(terms: frozenset[str]) -> float:
        frequency = {term: sum(term in count for count in counts) for term in sorted(terms)}
        return sum(inverse_document_frequency(number, len(items)) * _factor(term) for term, number in frequency.items())

    closest, likelihood = [], []
    for item, count in zip(phrases, counts, strict=True):
        matches = sorted((weigh(one & wanted) / math.sqrt(weigh(one)) for one in item if one & wanted), reverse=True)
        closest.append(sum(score * _NEXT_PHRASE**at for at, score in enumerate(matches[:_CLOSEST_PHRASES])))
        expected = {term: total[term] * len(item) / all_phrases for term in sorted(wanted)}
        likelihood.append(
            sum(_factor(term) * math.log(count[term] / mean + _UNSEEN) for term, mean in expected.items())
        )
    best, most_likely = max(closest, default=0.0) or 1.0, max(likelihood, default=0.0)
    topic = [topics * _TOPIC_WORD * (_ANY_TOPIC in item.phrases) for item in items]
    return [
        close / best + math.exp((likely - most_likely) / _SPREAD) + bonus if close else 0.0
        for close, likely, bonus in zip(closest, likelihood, topic, strict=True)
    ]


def _wanted_terms(query: str, items: Sequence[SearchableItem], known: Mapping[str, int]) -> tuple[frozenset[str], int]:
    """Return the known terms of a query, with typing errors corrected, and the number of its other words."""
    words = {word for item in items for phrase in item.phrases for word in split_terms(phrase)} - ENGLISH_STOP_WORDS.all
    unknown = {word for word in split_terms(_MEANING.sub(" ", query)) if len(word) > 1 and stem(word) not in known}
    # Typing errors keep the first letter; those in stop words mean nothing.
    similar = {word: sorted(one for one in words if one[0] == word[0]) for word in unknown}
    matches = {word: get_close_matches(word, near, 1, _MIN_SIMILARITY) for word, near in similar.items()}
    corrected = {word: stem(close) for word, found in matches.items() for close in found}
    others = unknown - ENGLISH_STOP_WORDS.all - corrected.keys()
    return (_terms(query) & known.keys()) | frozenset(corrected.values()), min(len(others), _TOPIC_WORDS)


def _factor(term: str) -> float:
    return _STOP_WORD if term in ENGLISH_STOP_WORDS.all else 1.0


@functools.lru_cache(_CACHED_TEXTS)
def _terms(text: str) -> frozenset[str]:
    """Return the stems of the words, and their meanings in any language: names of tables of `tasks.toml` with `_`."""
    return _stems(text) | {str(found.lastgroup) for found in _MEANING.finditer(text)}


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in split_terms(text) if len(word) > 1 or not word.isascii())


NAME, _INDEX_TOOL = "find_tools", "search_index"
ITEMS_PER_PAGE = 10
"""Items per answer; the contract of the search methods has the same limit."""
MAX_DEPTH = 1_000
"""Items that paging can reach; a better query finds further ones."""
MAX_QUERY_CHARS = 2_000
_REFUSED = "Not offered here: the operator adds it with SEARCH_MCP_TOOLSETS=default,acting."


def find_tools_tool(others: Sequence[Tool], *, refused: Sequence[Tool] = ()) -> Tool:
    """Return `find_tools`, which finds all tools, itself too, and names those that this server refuses."""

    async def find(services: Any, arguments: dict[str, Any], call: ToolCall) -> ToolAnswer:
        query, kind, start = arguments["query"], arguments["kind"], arguments["start"]
        if len(query) > MAX_QUERY_CHARS:
            raise InvalidArgumentError(f"query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are taken.")
        if kind == "resources":
            items, more = await cached_resources.search(services, call.principal, query, start, ITEMS_PER_PAGE)
            text = _resources_text(items, start) + _next_page_hint(start, more=more)
            return ToolAnswer(text, is_empty=not items)
        if kind == "tools":
            tools, notes = [*others, finder, *refused], {tool.name: f" {_REFUSED}" for tool in refused}
            found = [tools[at] for at in rank_items(query, list(map(searchable_tool, tools)))]
            # The errors of index tools have fixed texts, so the names of indexes stand here.
            if any(tool.name == _INDEX_TOOL for tool in found):
                names = [index.name for index in await services.indexes.names(principal=call.principal)]
                notes[_INDEX_TOOL] = f" Existing: {', '.join(names) or 'none'}."
            lines = [f"{_tool_line(tool)}{notes.get(tool.name, '')}" for tool in found]
        else:
            prompts = prompts_for(others)
            fitting = [prompts[at] for at in rank_items(query, list(map(searchable_prompt, prompts)))]
            lines = [f"- {one.name}({', '.join(part.name for part in one.arguments)}): {one.about}" for one in fitting]
        end = start + ITEMS_PER_PAGE
        text = "\n".join(lines[start:end]) or _no_items(start, f"None of the {kind} fits. Try other words.")
        return ToolAnswer(text + _next_page_hint(start, more=len(lines) > end), is_empty=not lines)

    parameters = Parameters(
        Parameter("query", StringValue(), "What you want to do or read.", required=True),
        Parameter("kind", ChoiceValue(("tools", "prompts", "resources")), "resources: cached texts.", default="tools"),
        Parameter("start", IntegerValue(0, MAX_DEPTH), "First item.", default=0),
    )
    finder = make_tool(NAME, "Find a tool", parameters, find, open_world=False)
    return finder


def searchable_tool(tool: Tool) -> SearchableItem:
    """Return the searchable texts of a tool."""
    properties = tool.input_schema.get("properties", {})
    parameters = [f"{name} {entry.get('description', '')}" for name, entry in properties.items()]
    return _searchable(tool.name, tool.title, *tool.description.splitlines(), *parameters)


def searchable_prompt(prompt: Prompt) -> SearchableItem:
    """Return the searchable texts of a prompt."""
    return _searchable(prompt.name, prompt.title, prompt.about, *(one.about for one in prompt.arguments))


def _searchable(name: str, *texts: str) -> SearchableItem:
    used = [text for text in texts if not text.startswith(_NOT_ITS_USES)]
    return SearchableItem(name, (name.replace("_", " "), *used, *read_uses().get(name, ())))


def _tool_line(tool: Tool) -> str:
    required = ", ".join(tool.input_schema.get("required", ()))
    return f"- {tool.name}({required}): {tool.description.partition(chr(10))[0]}"


def _resources_text(items: Sequence[CachedResource], start: int) -> str:
    if not items:
        return _no_items(start, "No cached text has these words. `search` finds pages on the web.")
    rows = []
    for item in items:
        title = f"{item.title}\n" if item.title else ""
        rows.append(f"- {title}<{item.uri}> {item.about}\n{clean_line(item.snippet, 300)}".rstrip())
    return mark_untrusted("\n\n".join(rows), new_region())


def _no_items(start: int, message: str) -> str:
    return f"Nothing more fits: there are at most {start}." if start else message


def _next_page_hint(start: int, *, more: bool) -> str:
    end = start + ITEMS_PER_PAGE
    return f"\n\nMore fit: call find_tools again with start={end}." if more and end < MAX_DEPTH else ""
