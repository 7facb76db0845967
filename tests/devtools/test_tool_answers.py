"""The answers in the documentation are those of the product."""

from __future__ import annotations

import pytest

from devtools import tool_answers
from scraper.tools import registry, search_tools
from scraper.tools.model import Tool


@pytest.mark.full_size
@pytest.mark.browser
@pytest.mark.programs
async def test_the_stored_answers_are_those_of_the_product() -> None:
    made = await tool_answers.answers()
    stored = tool_answers.load()
    assert list(made) == list(stored)
    for name, answers in made.items():
        assert answers == stored[name], f"{name} answers differently; run: make docs"


@pytest.mark.parametrize("tool", registry.tools(), ids=lambda tool: tool.name)
def test_every_tool_has_an_answer_as_markdown_and_as_json(tool: Tool) -> None:
    answers = tool_answers.load()[f"full/{tool.name}"]
    formats = tool.input_schema["properties"].get("format", {"enum": ["markdown"]})["enum"]
    assert {answer["arguments"].get("format", "markdown") for answer in answers} == {*formats} & {"markdown", "json"}
    assert all(answer["text"] for answer in answers)


@pytest.mark.parametrize("tool", search_tools.openai_tools(), ids=lambda tool: tool.name)
def test_both_tools_for_chatgpt_have_an_answer(tool: Tool) -> None:
    assert tool_answers.load()[f"pair/{tool.name}"][0]["text"].startswith("{")
