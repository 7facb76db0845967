"""Questions to the person at the client during a call, in both eras and on every transport."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequestParams, ElicitResult, InputRequiredResult

from tests.growth import thorough
from tests.scraper.process import Program
from tests.scraper.server.test_tools_on_the_wire import STDIO
from tests.scraper.server.wire import ERAS, text_of


class Person:
    """Accepts every question but the second."""

    def __init__(self) -> None:
        self.questions: list[str] = []

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.questions.append(params.message)
        return ElicitResult(action="decline" if len(self.questions) == 2 else "accept")


@pytest.mark.parametrize(
    ("transport", "era"), [("stdio", "auto"), ("http", "auto"), ("http", "legacy"), thorough("stdio", "legacy")]
)
async def test_a_tool_gets_the_answers_of_the_person(transport: str, era: str, server: Program) -> None:
    person = Person()
    target = server.url if transport == "http" else STDIO
    async with Client(target, mode=era, elicitation_callback=person) as client:
        answer = await client.call_tool("asks", {"seconds": 3})
    assert text_of(answer) == "[true, false, true]"
    assert person.questions == ["question 0", "question 1", "question 2"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_ask_is_not_asked(server: Program, era: str) -> None:
    async with Client(server.url, mode=era) as client:
        assert text_of(await client.call_tool("asks", {})) == "The client cannot ask the person."


async def test_an_answer_belongs_to_its_call(server: Program) -> None:
    async with Client(server.url, mode="auto", elicitation_callback=Person()) as client:
        session = client.session
        asked = await session.call_tool("asks", {}, allow_input_required=True)
        assert isinstance(asked, InputRequiredResult) and asked.request_state is not None
        answers: dict[str, Any] = {"consent": ElicitResult(action="accept")}
        for arguments, state in (({}, "0" * 32), ({"seconds": 2}, asked.request_state)):
            with pytest.raises(MCPError, match="not open"):
                await session.call_tool("asks", arguments, input_responses=answers, request_state=state)
        done = await session.call_tool("asks", {}, input_responses=answers, request_state=asked.request_state)
        assert text_of(done) == "[true]"
        with pytest.raises(MCPError, match="not open"):
            await session.call_tool("asks", {}, input_responses=answers, request_state=asked.request_state)
