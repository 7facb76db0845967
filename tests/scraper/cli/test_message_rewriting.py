"""Messages of the command line name commands and options, not tools and arguments."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.cli.main import group
from scraper.cli.message_rewriting import TOOLS, get_command_name, rewrite_answer, rewrite_json, rewrite_message
from scraper.render.untrusted_text import mark_untrusted
from scraper.tools import registry


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use `read_doc` for it.", "Use `search-mcp read-doc` for it."),
        ("length must be a whole number.", "--length must be a whole number."),
        ("Wrong. depth must be 1. url must be given.", "Wrong. --depth must be 1. URL must be given."),
        ('Try render="http", which is quick.', "Try --render http, which is quick."),
        ("To go on, call fetch again with start=432.", "To go on, run `search-mcp fetch` again with --start 432."),
        ("Ask with force_refresh=true.", "Ask with --force-refresh."),
        ('Try engines=["brave", "bing"].', "Try --engine brave --engine bing."),
        ("Use `start` and `length`.", "Use `--start` and `--length`."),
        ("A query: use the `search` tool.", "A query: use `search-mcp search`."),
        ("A page: `fetch` is the tool for it.", "A page: `search-mcp fetch` is the command for it."),
        ("Index not found: a", "There is no index a. Create it with `search-mcp index create a`."),
        ("The length of a URL must be short.", "The length of a URL must be short."),
        ("fields must be an object.", "--fields must be an object."),
        ("Give its value as `example`. Start with `url`.", "Give its value as `--example`. Start with `URL`."),
        ('Search them: search_index with index_name="a-b".', "Search them: `search-mcp index search a-b QUERY`."),
        (f"Session {'0a' * 16}: pass it to go on.\nThe rest.", "The rest."),
    ],
)
def test_names_of_tools_and_arguments_become_commands_and_options(text: str, expected: str) -> None:
    assert rewrite_message(text) == expected


def test_texts_from_the_web_stay_unchanged() -> None:
    sealed = mark_untrusted("Use `read_doc` with start=5.", "01234567")
    answer = f"Use `fetch`.\n{sealed}\nCall with start=5."
    changed = f"Use `search-mcp fetch`.\n{sealed}\nCall with --start 5."
    assert rewrite_answer(answer) == changed


def test_own_sentences_of_json_name_commands_and_data_of_pages_stays_unchanged() -> None:
    page = {"error": "Use `fetch`.", "warnings": ["Use `fetch`."]}
    rows = [{"url": "a", "content": "Use `fetch`.", "error": None}, {"error": "Use `read_doc`.", "facts": page}]
    assert rewrite_json(rows) == [rows[0], {"error": "Use `search-mcp read-doc`.", "facts": page}]
    answer = {"hint": "Ask with force_refresh=true.", "json_ld": [page], "pages": [page], "documents": [page]}
    changed = {"error": "Use `search-mcp fetch`.", "warnings": ["Use `search-mcp fetch`."]}
    assert rewrite_json(answer) == {
        "hint": "Ask with --force-refresh.",
        "json_ld": [page],
        "pages": [changed],
        "documents": [changed],
    }
    assert rewrite_json({"pages": 3, "warnings": [], "records": [page]}) == {
        "pages": 3,
        "warnings": [],
        "records": [page],
    }


def test_every_tool_has_a_command() -> None:
    assert [tool.name for tool in registry.tools()] and {tool.name for tool in registry.tools()} <= set(TOOLS)
    for tool in registry.tools():
        command: Any = group
        for word in get_command_name(tool.name).split():
            command = command.commands[word]
        assert command.help
