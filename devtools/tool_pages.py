"""Write `docs/tools/`, a page for each tool, from the tools and from the answers that `devtools.tool_answers` stored.

python -m devtools.tool_pages
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devtools import tool_answers
from scraper.settings import Settings
from scraper.tools import registry, search_tools
from scraper.tools.model import Tool
from scraper.tools.prompts import Prompt, prompts_for

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "tools"
_MADE = "<!-- made by `python -m devtools.tool_pages` from the code: change it there -->\n"
_PARTS = ("Best for", "Not recommended for", "Returns", "Common mistakes")


_MAX_TEXT, _MAX_JSON = 2_000, 700
"""Characters of an answer that a page shows, as text and as JSON."""

Answers = Mapping[str, Sequence[Mapping[str, Any]]]


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    tools, pair = registry.tools(Settings(toolsets=("default", "acting"))), search_tools.openai_tools()
    answers = tool_answers.load()
    made = {f"{tool.name}.md": _page(tool, answers) for tool in tools}
    made["openai.md"] = _pair_page(pair, answers)
    made["prompts.md"] = _prompts_page(prompts_for(tools))
    made["README.md"] = _list(tools)
    return made


def write(folder: Path) -> None:
    """Write all pages, and delete the pages of tools that no longer exist."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def _page(tool: Tool, answers: Answers) -> str:
    examples = _examples(tool, answers.get(f"full/{tool.name}") or answers[f"acting/{tool.name}"], level=2)
    return f"{_MADE}# {tool.name}\n\n{_body(tool)}\n{examples}"


def _body(tool: Tool) -> str:
    return "\n".join([_described(tool), _arguments(tool.input_schema), _hints(tool)])


def _examples(tool: Tool, answers: Sequence[Mapping[str, Any]], *, level: int) -> str:
    """Return the calls of a tool with their real answers."""
    heading = "#" * level + (" Examples" if len(answers) > 1 else " Example")
    parts = [heading, "Real answers on the test site; ids, times and ages are replaced."]
    for answer in answers:
        call = json.dumps({"name": tool.name, "arguments": answer["arguments"]}, ensure_ascii=False)
        parts += [_fenced("json", call), "answers", _fenced(*_shown_answer(answer["text"]))]
    return "\n\n".join(parts) + "\n"


def _shown_answer(text: str) -> tuple[str, str]:
    """Return the syntax and the text of an answer; JSON is indented."""
    syntax, limit = "text", _MAX_TEXT
    if text.startswith(("{", "[{")):
        syntax, limit, text = "json", _MAX_JSON, json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    if len(text) > limit:
        cut = text.rfind("\n", 0, limit)
        return "text", f"{text[:cut]}\n... ({len(text) - cut:,} more characters)"
    return syntax, text


def _fenced(syntax: str, text: str) -> str:
    return f"````{syntax}\n{text}\n````"


def _described(tool: Tool) -> str:
    lines = [f"*{tool.title}.*", ""]
    for line in tool.description.splitlines():
        name, colon, rest = line.partition(": ")
        lines += [f"**{name}**{colon}{_shown(rest)}" if name in _PARTS else _shown(line), ""]
    return "\n".join(lines)


def _arguments(schema: Mapping[str, Any]) -> str:
    if not schema["properties"]:
        return "The tool takes no arguments.\n"
    rows = _rows(schema, "")
    return "| argument | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def _rows(schema: Mapping[str, Any], above: str) -> list[str]:
    rows = []
    for name, entry in schema["properties"].items():
        needed = " (required)" if name in schema.get("required", ()) else ""
        default = f"`{json.dumps(entry['default'])}`" if "default" in entry else ""
        about = _shown(entry["description"]).replace("|", r"\|")
        rows.append(f"| `{above}{name}`{needed} | {_type(entry)} | {default} | {about} |\n")
        if "properties" in entry:
            rows += _rows(entry, f"{above}{name}.")
    return rows


def _type(entry: Mapping[str, Any]) -> str:
    if "enum" in entry:
        return ", ".join(f"`{word}`" for word in entry["enum"])
    if entry["type"] == "array":
        return f"{entry.get('minItems', 1)} to {entry['maxItems']} strings"
    if "minimum" in entry:
        return f"{entry['type']}, {entry['minimum']:,} to {entry['maximum']:,}"
    return str(entry["type"])


def _hints(tool: Tool) -> str:
    hints = [
        "only reads" if tool.read_only else "writes",
        *(["may replace existing data"] if tool.destructive else []),
        "a repeated call changes nothing more" if tool.idempotent else "a repeated call may change more",
        "sends requests to the web" if tool.open_world else "works on this machine only",
    ]
    return f"Hints for clients: {'; '.join(hints)}.\n"


def _pair_page(pair: tuple[Tool, ...], answers: Answers) -> str:
    head = (
        "# search and fetch for ChatGPT\n\nAt `/openai/mcp`, and with `search-mcp stdio --toolset openai`: "
        "only these two tools. Each answers with one text of compact JSON. An `id` is the URL of the page, "
        "so it can be fetched at any time.\n\n"
    )
    parts = (
        f"## {tool.name}\n\n{_body(tool)}\n{_examples(tool, answers[f'pair/{tool.name}'], level=3)}" for tool in pair
    )
    return _MADE + head + "\n".join(parts)


def _prompts_page(prompts: tuple[Prompt, ...]) -> str:
    parts = [f"{_MADE}# Prompts\n\nPrompts are tasks that a person starts with a few words.\n"]
    for prompt in prompts:
        rows = "".join(
            f"| `{argument.name}`{' (required)' if argument.required else ''} | {argument.about} |\n"
            for argument in prompt.arguments
        )
        table = f"| argument | meaning |\n|---|---|\n{rows}"
        parts.append(f"## {prompt.name}\n\n*{prompt.title}.* {prompt.about}\n\n{table}")
    return "\n".join(parts)


def _list(tools: tuple[Tool, ...]) -> str:
    rows = "".join(
        f"| [{tool.name}]({tool.name}.md) | {_shown(tool.description.partition(chr(10))[0])} |\n" for tool in tools
    )
    more = "\nSee also [search and fetch for ChatGPT](openai.md) and [prompts](prompts.md).\n"
    return f"{_MADE}# Tools\n\n| tool | purpose |\n|---|---|\n{rows}{more}"


def _shown(text: str) -> str:
    """Quote `<url>`, which Markdown would take for a tag."""
    return text.replace("<url>", "`<url>`")


if __name__ == "__main__":
    write(FOLDER)
