"""Serve prompts: list them and return their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    PromptMessage,
    TextContent,
)

from scraper.errors import InvalidArgumentError
from scraper.render.answer_text import error_sentence
from scraper.server.protocol import schemas
from scraper.server.protocol.requests import refuse_cursor
from scraper.tools.prompts import Prompt

Context = ServerRequestContext[Any, Any]


def add(server: Server[Any], prompts: Sequence[Prompt]) -> None:
    """Add the request handlers of prompts."""
    listing = ListPromptsResult(prompts=[schemas.prompt(prompt) for prompt in prompts])
    known = {prompt.name: prompt for prompt in prompts}

    async def list_prompts(_context: Context, params: PaginatedRequestParams) -> ListPromptsResult:
        refuse_cursor(params)
        return listing

    async def get_prompt(_context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        prompt = known.get(params.name)
        if prompt is None:
            names = ", ".join(known) or "none"
            raise MCPError(INVALID_PARAMS, f"Unknown prompt {params.name[:60]!r}. Known: {names}.")
        try:
            text = prompt.message(params.arguments or {})
        except InvalidArgumentError as error:
            raise MCPError(INVALID_PARAMS, error_sentence(error)) from None
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=prompt.about, messages=[message])

    server.add_request_handler("prompts/list", PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)
