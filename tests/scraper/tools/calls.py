"""Calls of tools as a client makes them, and the data of their answers."""

from __future__ import annotations

from typing import Any

from scraper.services import Services
from scraper.tools import registry
from scraper.tools.model import ToolAnswer, ToolCall


async def call_tool(app: Services, tool: str, call: ToolCall | None = None, /, **arguments: Any) -> ToolAnswer:
    """Call a tool; `call` is by default one of the principal `local` with a deadline of a minute."""
    (found,) = [offered for offered in registry.tools(app.settings) if offered.name == tool]
    return await found.run(app, arguments, call or ToolCall(deadline_s=60))


def data_of(answer: ToolAnswer) -> dict[str, Any]:
    """Return the object of an answer in JSON."""
    assert isinstance(answer.structured, dict), answer.text
    return answer.structured
