"""Rewrite messages of tools for the command line: commands and options instead of tools and arguments."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from scraper.cli.callers import runs_for_agent
from scraper.values.text import read_table

_TABLE = read_table(__package__, "names.toml")
TOOLS: list[str] = _TABLE["tools"]
_NAME = "[a-z][a-z_]*"
_TOOL = "|".join(sorted(TOOLS, key=len, reverse=True))
SESSION_ADVICE = 'Begin again: search-mcp browse "open URL"'
_MESSAGE_KEYS = frozenset({"error", "hint", "warnings"})
"""Keys of a JSON answer, and of its rows, for messages of this server rather than text of pages."""
_ROW_KEYS = frozenset({"pages", "documents", "excerpts"})
"""Keys of a JSON answer for lists of rows, which may contain messages too."""
_UNTRUSTED_REGION = re.compile(
    r"(^<<<untrusted ([0-9a-f]{8})>>>$.*?^<<<end untrusted \2>>>$)", re.MULTILINE | re.DOTALL
)


def get_command_name(tool: str) -> str:
    """Return the name of the command for a tool: `read_doc` gives `read-doc`."""
    return str(_TABLE["verbs"].get(tool, tool.replace("_", "-")))


def address_agent(text: str) -> str:
    """Return an answer in which our own advice for people addresses an agent instead, if one runs the command."""
    # The reason why a step or a page failed stands beside text of the web, in a region.
    for sentence, other in _TABLE["agent"].items() if runs_for_agent() else ():
        text = text.replace(sentence, other)
    return text


def rewrite_message(text: str) -> str:
    """Return a message with commands and options instead of tools and arguments, and without session ids."""
    text = address_agent(text)
    for sentence, other in (_TABLE["sentences"] | _TABLE["person"]).items():
        text = text.replace(sentence, other)
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return text


def rewrite_answer(text: str) -> str:
    """Convert the sentences of an answer with `rewrite_message`; regions of untrusted text stay unchanged."""
    parts = _UNTRUSTED_REGION.split(text)
    # Each sealed region gives two parts: the region and its id.
    return "".join(part if at % 3 else rewrite_message(part) for at, part in enumerate(parts) if at % 3 != 2)


def rewrite_json(data: Any, key: str = "") -> Any:
    """Convert the messages in a JSON answer, or in its `key`, with `rewrite_message`; data of pages stays unchanged."""
    if isinstance(data, list):
        return [rewrite_json(value, key) for value in data]
    if isinstance(data, dict):
        known = _MESSAGE_KEYS | _ROW_KEYS
        return {name: rewrite_json(value, name) if name in known else value for name, value in data.items()}
    return rewrite_message(data) if key in _MESSAGE_KEYS and isinstance(data, str) else data


def _name_option(argument: str) -> str:
    if argument in _TABLE["positional"]:
        return argument.upper()
    return str(_TABLE["options"].get(argument, f"--{argument.replace('_', '-')}"))


def rewrite_for_caller(text: str) -> str:
    """Return an answer or error with commands instead of tools; the marks of untrusted text stay only for agents."""
    from scraper.render.untrusted_text import remove_untrusted_marks

    text = rewrite_answer(text)
    return text if runs_for_agent() else remove_untrusted_marks(text)


_REPLACEMENTS: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^Index not found: (\S+)$", r"There is no index \1. Create it with `search-mcp index create \1`."),
        # A session ends with a command that has a process of its own; those of the warm server have short ids.
        (r"(?m)^Session [0-9a-f]{32}: .*\n?", ""),
        (
            r"(?m)^Session ([0-9a-f]{6}): .*",
            r"Session \1: go on with --session \1; it ends 15 min after the last command.",
        ),
        (r"Leave session out and open the URL again\. .* \(docs/scale\.md\)\.", SESSION_ADVICE),
        (r'\bsearch_index with index_name="([\w-]+)"', r"`search-mcp index search \1 QUERY`"),
        (
            rf"\bcall ({_TOOL}) (again|on this URL) with\b",
            lambda match: f"run `search-mcp {get_command_name(match[1])}` {match[2]} with",
        ),
        (
            r"\bengines=\[([^\]]*)\]",
            lambda match: " ".join("--engine " + name.strip(' "') for name in match[1].split(",")),
        ),
        (rf"\b({_NAME})=(?:true|false)\b", lambda match: _name_option(match[1])),
        (rf'\b({_NAME})=("[^"]*"|[\w-]+)', lambda match: f"{_name_option(match[1])} " + match[2].strip('"')),
        (rf"(?:(?<=^)|(?<=\. ))({_NAME})(?= (?:must|has|is|contains)\b)", lambda match: _name_option(match[1])),
        (rf"\bthe `({_TOOL})` tool\b", r"`\1`"),
        (r"(?<=`) is the tool for\b", " is the command for"),
        (rf"`({_TOOL})`", lambda match: f"`search-mcp {get_command_name(match[1])}`"),
        (rf"`({_NAME})`", lambda match: f"`{_name_option(match[1])}`"),
    )
)
"""Mentions of tools and arguments, and what replaces them, in this order."""
