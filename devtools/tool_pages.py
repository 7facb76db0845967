"""Writes `docs/tools/`, a page a tool, from the tools themselves.

python -m devtools.tool_pages
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scraper.tools import registry
from scraper.tools.model import Tool
from scraper.tools.prompts import Prompt, prompts_for

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "tools"
_MADE = "<!-- made by `python -m devtools.tool_pages` from the code: change it there -->\n"
_PARTS = ("Best for", "Not recommended for", "Returns", "Common mistakes")


def pages() -> dict[str, str]:
    """Every page by its file name."""
    tools, pair = registry.tools(), registry.openai_tools()
    made = {f"{tool.name}.md": _page(tool) for tool in tools}
    made["openai.md"] = _pair_page(pair)
    made["prompts.md"] = _prompts_page(prompts_for(tools))
    made["README.md"] = _list(tools)
    return made


def write(folder: Path) -> None:
    """Make the folder what the code says, without pages of tools that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


def _page(tool: Tool) -> str:
    return f"{_MADE}# {tool.name}\n\n{_body(tool)}"


def _body(tool: Tool) -> str:
    return "\n".join([_described(tool), _arguments(tool.input_schema), _hints(tool)])


def _described(tool: Tool) -> str:
    lines = [f"*{tool.title}.*", ""]
    for line in tool.description.splitlines():
        name, colon, rest = line.partition(": ")
        lines += [f"**{name}**{colon}{_shown(rest)}" if name in _PARTS else _shown(line), ""]
    return "\n".join(lines)


def _arguments(schema: Mapping[str, Any]) -> str:
    if not schema["properties"]:
        return "It takes no arguments.\n"
    rows = _rows(schema, "")
    return "| argument | type | default | what it is |\n|---|---|---|---|\n" + "".join(rows)


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
        return f"{entry['minItems']} to {entry['maxItems']} strings"
    if "minimum" in entry:
        return f"{entry['type']}, {entry['minimum']:,} to {entry['maximum']:,}"
    return str(entry["type"])


def _hints(tool: Tool) -> str:
    told = [
        "only reads" if tool.read_only else "writes",
        *(["may replace what was there"] if tool.destructive else []),
        "the same call twice does what it does once" if tool.idempotent else "not to be repeated",
        "reaches out to the web" if tool.open_world else "stays on this machine",
    ]
    return f"\nHints for clients: {'; '.join(told)}.\n"


def _pair_page(pair: tuple[Tool, ...]) -> str:
    head = (
        "# search and fetch for ChatGPT\n\nAt `/openai/mcp`, and with `search-mcp stdio --toolset openai`: "
        "these two tools and nothing else, each with one text of compact JSON as its answer. An `id` is the "
        "address itself, so it can be fetched at any time.\n\n"
    )
    return _MADE + head + "\n".join(f"## {tool.name}\n\n{_body(tool)}" for tool in pair)


def _prompts_page(prompts: tuple[Prompt, ...]) -> str:
    parts = [f"{_MADE}# Prompts\n\nTasks that a person starts with a few words.\n"]
    for prompt in prompts:
        rows = "".join(
            f"| `{argument.name}`{' (required)' if argument.required else ''} | {argument.about} |\n"
            for argument in prompt.arguments
        )
        table = f"| argument | what it is |\n|---|---|\n{rows}"
        parts.append(f"## {prompt.name}\n\n*{prompt.title}.* {prompt.about}\n\n{table}")
    return "\n".join(parts)


def _list(tools: tuple[Tool, ...]) -> str:
    rows = "".join(
        f"| [{tool.name}]({tool.name}.md) | {_shown(tool.description.partition(chr(10))[0])} |\n" for tool in tools
    )
    more = "\n[search and fetch for ChatGPT](openai.md), [prompts](prompts.md)\n"
    return f"{_MADE}# Tools\n\n| tool | what it does |\n|---|---|\n{rows}{more}"


def _shown(text: str) -> str:
    """Text as Markdown shows it: a tag would be taken for one."""
    return text.replace("<url>", "`<url>`")


if __name__ == "__main__":
    write(FOLDER)
