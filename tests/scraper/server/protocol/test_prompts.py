"""The prompts as clients list and start them."""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent

from tests.scraper.server.in_memory import TOOLS, talking
from tests.scraper.server.wire import ERAS
from tests.scraper.stored_texts import KeptApp


@pytest.mark.parametrize("era", ERAS)
async def test_a_prompt_is_listed_with_its_arguments_and_becomes_one_message(texts: KeptApp, era: str) -> None:
    async with talking(texts, era) as client:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == ["research_question", "compare_products", "extract_product_facts"]
        assert [(a.name, a.required) for a in listed[0].arguments or []] == [("question", True), ("since", False)]
        got = await client.get_prompt("research_question", {"question": "Why are there tides?"})
        (message,) = got.messages
        assert isinstance(message.content, TextContent)
        assert message.role == "user" and "Why are there tides?" in message.content.text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        ("nothing", {}, "Unknown prompt 'nothing'. Known: research_question"),
        ("research_question", {}, "question must be given"),
        ("research_question", {"question": "x", "q": "y"}, 'Unknown argument "q"'),
    ],
)
async def test_wrong_requests_are_invalid_parameters(
    texts: KeptApp, era: str, name: str, arguments: dict[str, str], output: str
) -> None:
    async with talking(texts, era) as client:
        with pytest.raises(MCPError, match=output) as refused:
            await client.get_prompt(name, arguments)
        assert refused.value.error.code == -32602


async def test_a_server_without_the_tools_lists_no_prompt(texts: KeptApp) -> None:
    async with talking(texts, "auto", TOOLS[:1]) as client:
        assert (await client.list_prompts()).prompts == []
