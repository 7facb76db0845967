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
_MADE = "<!-- made by `make docs` -->\n"
_PARTS = ("Best for", "Not recommended for", "Returns", "Common mistakes")


_MAX_ANSWER = 1_600
"""Characters of an answer that a page shows."""
_MAX_STRING, _MAX_ITEMS = 60, 1
"""Characters of a string and items of a list that the JSON of an answer shows."""

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
    """Return the calls of a tool, each followed by its real answer."""
    parts = ["#" * level + (" Examples" if len(answers) > 1 else " Example")]
    for answer in answers:
        call = json.dumps({"name": tool.name, "arguments": answer["arguments"]}, ensure_ascii=False)
        parts += [_fenced("json", call), _fenced(*_shown_answer(answer["text"]))]
    return "\n\n".join(parts) + "\n"


def _shown_answer(text: str) -> tuple[str, str]:
    """Return the syntax and the text of an answer; JSON is indented, its long strings and lists are cut."""
    syntax = "text"
    if text.startswith(("{", "[{")):
        syntax, text = "json", json.dumps(_shortened(json.loads(text)), indent=2, ensure_ascii=False)
    if len(text) > _MAX_ANSWER:
        cut = text.rfind("\n", 0, _MAX_ANSWER)
        return "text", f"{text[:cut]}\n... ({len(text) - cut:,} more characters)"
    return syntax, text


def _shortened(value: Any) -> Any:
    """Return JSON with only the beginnings of its long strings and lists."""
    if isinstance(value, str):
        return value if len(value) <= _MAX_STRING else f"{value[:_MAX_STRING]}..."
    if isinstance(value, list):
        more = [f"... {len(value) - _MAX_ITEMS} more"] if len(value) > _MAX_ITEMS else []
        return [*map(_shortened, value[:_MAX_ITEMS]), *more]
    return {name: _shortened(one) for name, one in value.items()} if isinstance(value, dict) else value


def _fenced(syntax: str, text: str) -> str:
    return f"````{syntax}\n{text}\n````"


def _described(tool: Tool) -> str:
    lines: list[str] = []
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
        *(["may replace data"] if tool.destructive else []),
        *(["idempotent"] if tool.idempotent else []),
        "open world" if tool.open_world else "this machine only",
    ]
    return f"Hints: {', '.join(hints)}.\n"


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
    more = (
        "\nSee also [search and fetch for ChatGPT](openai.md) and [prompts](prompts.md). Examples are calls and real "
        "answers of a server on the test site, with ids, times and ages replaced, and long strings and lists in JSON "
        "cut. Hints are those of the protocol: `idempotent` tools change nothing more if a call is repeated, `open "
        "world` ones send requests to the web.\n"
    )
    return f"{_MADE}# Tools\n\n| tool | purpose |\n|---|---|\n{rows}{more}"


def _shown(text: str) -> str:
    """Quote `<url>`, which Markdown would take for a tag."""
    return text.replace("<url>", "`<url>`")


if __name__ == "__main__":
    write(FOLDER)
