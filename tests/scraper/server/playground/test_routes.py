"""Whose page it is that a person tries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import Request
from starlette.types import Message

from scraper.model import ReadingComparison
from scraper.server.calls.dispatcher import CallDispatcher
from scraper.server.lifecycle import hold_services
from scraper.server.playground.routes import Playground
from tests.scraper.server.stand_in import App


class Reader:
    """Notes who asks."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def compare(self, _url: str, *, principal: str, **_more: object) -> ReadingComparison:
        """Both sides of a page that says nothing."""
        self.asked.append(principal)
        return ReadingComparison("", "", "", (), 0, rendered=False)


class InProcess:
    """Runs functions in this process."""

    async def run(self, function: Callable[..., object], *arguments: object) -> object:
        """Run the function."""
        return function(*arguments)


@pytest.mark.parametrize(("token", "principal"), [("ann", "ann"), (None, "local")])
async def test_a_page_is_tried_for_the_caller_whose_token_came_along(token: str | None, principal: str) -> None:
    body = json.dumps({"url": "http://site.example/"}).encode()
    sent: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not sent:
            await asyncio.Event().wait()
        return sent.pop()

    scope: dict[str, Any] = {"type": "http", "headers": [(b"content-type", b"application/json")]}
    if token is not None:
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=token, scopes=[]))
    async with hold_services(cast(Any, App.open)) as holder:
        app, reader = await holder.services(), Reader()
        cast(Any, app).fetcher, cast(Any, app).workers = reader, InProcess()
        routes = Playground(holder, CallDispatcher((), holder, deadline_s=5), version="1", deadline_s=5).routes()
        (route,) = (route for route in routes if route.path == "/try")
        answer = await route.endpoint(Request(scope, receive))
    assert answer.status_code == 200
    assert reader.asked == [principal]
