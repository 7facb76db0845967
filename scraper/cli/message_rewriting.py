"""Replace names of tools and arguments in messages by commands and options of the command line."""

from __future__ import annotations

import re
from typing import Any

_VERBS = {
    "cache_search": "cache search",
    "search_index": "index search",
    "search_add_document": "index add",
    "search_create_index": "index create",
}
"""Commands whose names differ from those of their tools."""
TOOLS = (
    "search fetch fetch_batch read_doc research compare map crawl changes see browse extract_structured cache_search "
    "engines web_search instant_answer search_index search_add_document search_create_index find_tools"
).split()
"""Names of all tools that have a command."""
_POSITIONAL = frozenset({"url", "urls", "query", "question", "source", "doc_id", "index_name"})
_OPTIONS = {
    "engines": "--engine",
    "include_domains": "--include-domain",
    "exclude_domains": "--exclude-domain",
    "use_cache": "--no-cache",
    "k": "--limit",
} | {
    name: "--" + name.replace("_", "-")
    for name in (
        "render force_refresh max_age_hours format start length pages outline password max_results freshness category "
        "include_text exclude_text depth limit metadata kind backend crawl include exclude since fields example "
        "records recipe profile tokens"
    ).split()
}
_NAME = "|".join(sorted([*_OPTIONS, *_POSITIONAL], key=len, reverse=True))
_TOOL = "|".join(sorted(TOOLS, key=len, reverse=True))
_CALL = re.compile(rf"\bcall ({_TOOL}) (again|on this URL) with\b")
_QUOTED = re.compile(rf"`({_TOOL}|url|{'|'.join(_OPTIONS)})`")
_THE_TOOL = re.compile(rf"\bthe `({_TOOL})` tool\b")
_IS_THE_TOOL = re.compile(r"(?<=`) is the tool for\b")
_VALUE = re.compile(rf'\b({"|".join(_OPTIONS)})=("[^"]*"|[\w-]+)')
_ENGINES = re.compile(r"\bengines=\[([^\]]*)\]")
_SUBJECT = re.compile(rf"(?:(?<=^)|(?<=\. ))({_NAME})(?= (?:must|has|is|contains)\b)")
_SEARCH_INDEX = re.compile(r'\bsearch_index with index_name="([\w-]+)"')
_CONTINUE_WITH_FETCH = "Continue with fetch, from the `start` of each page."
_ALLOW_NETWORKS = "The operator can allow a private network with SEARCH_MCP_ALLOW_NETS."
_ALLOW_NETWORKS_HERE = "To read pages of your own network, allow it, for example with `--allow-nets 127.0.0.0/8`."
_USE_MEMORY = "Use an index with the backend memory."
"""Advice that is replaced: the command line has no indexes in memory, because they would end with the command."""
_SESSION = re.compile(r"^Session [0-9a-f]{32}: .*\n?", re.MULTILINE)
"""A session ends with the command, so its id is of no use."""
_MESSAGE_KEYS = frozenset({"error", "hint", "warnings"})
"""Keys of a JSON answer, and of its rows, for messages of this server rather than text of pages."""
_ROW_KEYS = frozenset({"pages", "documents", "excerpts"})
"""Keys of a JSON answer for lists of rows, which may contain messages too."""
_MISSING_INDEX = re.compile(r"^Index not found: (\S+)$")
_UNTRUSTED_REGION = re.compile(
    r"(^<<<untrusted ([0-9a-f]{12})>>>$.*?^<<<end untrusted \2>>>$)", re.MULTILINE | re.DOTALL
)


def get_command_name(tool: str) -> str:
    """Return the name of the command for a tool: `read_doc` gives `read-doc`."""
    return _VERBS.get(tool, tool.replace("_", "-"))


def rewrite_message(text: str) -> str:
    """Return a message with commands and options instead of tools and arguments, and without session ids."""
    text = _MISSING_INDEX.sub(r"There is no index \1. Create it with `search-mcp index create \1`.", text)
    text = _SEARCH_INDEX.sub(r"`search-mcp index search \1 QUERY`", _SESSION.sub("", text))
    text = text.replace(
        _CONTINUE_WITH_FETCH, "To go on, run `search-mcp fetch URL --start N` with the start of a page."
    )
    text = text.replace(_ALLOW_NETWORKS, _ALLOW_NETWORKS_HERE).replace(_USE_MEMORY, "See: search-mcp doctor")
    text = _CALL.sub(lambda match: f"run `search-mcp {get_command_name(match[1])}` {match[2]} with", text)
    text = _ENGINES.sub(lambda match: " ".join(f"--engine {name}" for name in re.findall(r"\w+", match[1])), text)
    text = _VALUE.sub(_option_with_value, text)
    text = _SUBJECT.sub(lambda match: _OPTIONS.get(match[1]) or match[1].upper(), text)
    text = _IS_THE_TOOL.sub(" is the command for", _THE_TOOL.sub(r"`\1`", text))
    return _QUOTED.sub(_rewrite_quoted, text)


def rewrite_answer(text: str) -> str:
    """Convert the sentences of an answer with `rewrite_message`; regions of untrusted text stay unchanged."""
    parts = _UNTRUSTED_REGION.split(text)
    # Each sealed region gives two parts: the region and its id.
    return "".join(part if at % 3 else rewrite_message(part) for at, part in enumerate(parts) if at % 3 != 2)


def rewrite_json(data: Any) -> Any:
    """Convert the sentences of a JSON answer with `rewrite_message`; data of pages stays unchanged."""
    if isinstance(data, list):
        return list(map(rewrite_json, data))
    if not isinstance(data, dict):
        return data
    return {
        key: _rewrite_sentences(value) if key in _MESSAGE_KEYS else rewrite_json(value) if key in _ROW_KEYS else value
        for key, value in data.items()
    }


def _rewrite_sentences(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_rewrite_sentences, value))
    return rewrite_message(value) if isinstance(value, str) else value


def _rewrite_quoted(match: re.Match[str]) -> str:
    name = match[1]
    if name == "url":
        return "`URL`"
    return f"`{_OPTIONS.get(name) or f'search-mcp {get_command_name(name)}'}`"


def _option_with_value(match: re.Match[str]) -> str:
    option, value = _OPTIONS[match[1]], match[2].strip('"')
    return option if value in ("true", "false") else f"{option} {value}"
