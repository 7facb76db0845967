"""Main documents of a page: counted, paused and reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest_asyncio

from browsers.cdp.session import Connection
from browsers.model import Request, Tier
from browsers.navigation.page_observer import MAX_DOCUMENTS, PageObserver
from browsers.navigation.response import PausedResponse
from browsers.navigation.tab import PAUSE_AT_RESPONSE, Tab
from tests.browsers.silent_transport import SilentTransport

ADDRESS = "https://one.example/"


class Opened:
    """A committed page and the events of its tab."""

    def __init__(self) -> None:
        self.wire = SilentTransport()
        self.connection = Connection(self.wire)
        self.session = self.connection.add_session("tab")
        tab = Tab(self.connection, "context", "frame", self.session, cast(Any, None))
        self.page = PageObserver(tab, Request(ADDRESS), Tier.LIGHT)
        self.preparing = self.page.prepare()
        self.page.response = PausedResponse.of(_held("first", ADDRESS))

    async def close(self) -> None:
        self.connection.close()
        await asyncio.gather(self.preparing, return_exceptions=True)

    def says(self, method: str, **params: Any) -> None:
        self.session.receive({"method": method, "params": params}, 0)

    def responds(self, loader_id: str, status: int) -> None:
        response = {"url": ADDRESS + loader_id, "status": status, "headers": {"X-Name": loader_id}}
        event = {"type": "Document", "frameId": "frame", "loaderId": loader_id, "response": response}
        self.says("Network.responseReceived", **event)

    def commits(self, loader_id: str, *, answers: int | None = None) -> None:
        """Send the events of a main document. `answers` is its status if it was not paused."""
        if answers is not None:
            self.responds(loader_id, answers)
        frame = {"id": "frame", "loaderId": loader_id, "url": ADDRESS, "securityOrigin": ADDRESS}
        self.says("Page.frameNavigated", frame=frame)

    def sent(self, method: str) -> list[Any]:
        return [message["params"] for message in self.wire.sent if message["method"] == method]


def _held(loader_id: str, url: str) -> dict[str, Any]:
    return {
        "requestId": f"held-{loader_id}",
        "networkId": loader_id,
        "request": {"url": url},
        "responseStatusCode": 200,
        "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
    }


@pytest_asyncio.fixture
async def opened() -> AsyncIterator[Opened]:
    page = Opened()
    yield page
    await page.close()


async def test_first_document_keeps_its_paused_response(opened: Opened) -> None:
    first = opened.page.response
    opened.commits("first", answers=200)
    assert opened.page.response is first and not opened.sent("Fetch.enable")


async def test_all_documents_are_paused_after_an_unpaused_second_document(opened: Opened) -> None:
    opened.commits("first", answers=200)
    opened.commits("second", answers=404)
    response = opened.page.response
    assert response is not None and (response.url, response.status) == (ADDRESS + "second", 404)
    assert response.headers == {"x-name": "second"}
    assert opened.sent("Fetch.enable") == [{"patterns": PAUSE_AT_RESPONSE}]


async def test_captured_document_without_a_commit_event_has_its_response(opened: Opened) -> None:
    """A busy renderer enables the Page events after the page has navigated."""
    navigated: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    navigated.set_result({"loaderId": "first"})
    opened.page.on_navigated(navigated)
    opened.responds("second", 410)
    opened.page.on_committed("second")
    response = opened.page.response
    assert response is not None and (response.url, response.status) == (ADDRESS + "second", 410)


async def test_paused_document_is_counted_once(opened: Opened) -> None:
    opened.commits("first", answers=200)
    for number in range(2, MAX_DOCUMENTS + 1):
        opened.page.on_document(PausedResponse.of(_held(str(number), f"{ADDRESS}{number}")))
        opened.commits(str(number), answers=200)
    assert not opened.sent("Fetch.failRequest"), "one that is allowed was refused"
    opened.page.on_document(PausedResponse.of(_held("more", ADDRESS)))
    assert [params["requestId"] for params in opened.sent("Fetch.failRequest")] == ["held-more"]


async def test_document_without_a_response_changes_nothing(opened: Opened) -> None:
    first = opened.page.response
    opened.commits("first", answers=200)
    opened.commits("blank")
    assert opened.page.response is first and not opened.sent("Fetch.enable")
