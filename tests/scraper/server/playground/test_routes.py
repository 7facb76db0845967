"""The caller for whom a person's page is read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, cast

import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import Request
from starlette.types import Message

from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import hold_services
from scraper.server.playground.routes import Playground
from scraper.tools.model import Tool, ToolAnswer, ToolCall
from tests.scraper.server.stand_in import App


@pytest.mark.parametrize(("token", "principal"), [("ann", "ann"), (None, "local")])
async def test_a_page_is_read_for_the_caller_whose_token_came_along(token: str | None, principal: str) -> None:
    body = json.dumps({"url": "http://site.example/"}).encode()
    sent: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    asked: list[tuple[str, str]] = []

    async def receive() -> Message:
        if not sent:
            await asyncio.Event().wait()
        return sent.pop()

    async def fetch(_services: object, arguments: Mapping[str, Any], call: ToolCall) -> ToolAnswer:
        asked.append((arguments["url"], call.principal))
        return ToolAnswer("no page", is_error=True)

    scope: dict[str, Any] = {"type": "http", "headers": [(b"content-type", b"application/json")]}
    if token is not None:
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=token, scopes=[]))
    async with hold_services(cast(Any, App.open)) as holder:
        calls = CallDispatcher((Tool("fetch", "Fetch", "Reads.", {"type": "object"}, fetch),), holder, deadline_s=5)
        routes = Playground(holder, calls, version="1", requires_token=True).routes()
        (route,) = (route for route in routes if route.path == "/try")
        answer = await route.endpoint(Request(scope, receive))
    assert answer.status_code == 200 and json.loads(answer.body)["text"] == "no page"
    assert asked == [("http://site.example/", principal)]
