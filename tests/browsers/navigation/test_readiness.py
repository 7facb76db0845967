"""A page that navigates between two commands, which no site does reliably."""

from __future__ import annotations

from typing import Any

import pytest

from browsers.cdp.session import CommandFailedError
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness import ReadinessWaiter


class Documents:
    """Fake session: the isolated world of each document is gone after one command."""

    def __init__(self, gone: int) -> None:
        self.worlds = 0
        self._gone = gone

    def on(self, event: str, handler: Any) -> None:
        """Ignore the handler: this session has no events."""

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        if method == "Page.createIsolatedWorld":
            self.worlds += 1
            return {"executionContextId": self.worlds}
        if params["contextId"] <= self._gone:
            raise CommandFailedError("Cannot find context with specified id")
        return {"result": {"objectId": f"document {params['contextId']}"}}


def readiness(documents: Documents) -> ReadinessWaiter:
    return ReadinessWaiter(documents, NetworkActivity(documents), "frame")  # type: ignore[arg-type]


async def test_object_comes_from_the_current_document() -> None:
    documents = Documents(gone=1)
    assert await readiness(documents).evaluate_object("document", limit_s=1) == "document 2"


async def test_isolated_world_is_reused() -> None:
    documents = Documents(gone=0)
    page = readiness(documents)
    for _ in range(2):
        assert await page.evaluate_object("document", limit_s=1) == "document 1"
    assert documents.worlds == 1


async def test_evaluation_is_retried_once() -> None:
    documents = Documents(gone=99)
    with pytest.raises(CommandFailedError):
        await readiness(documents).evaluate_object("document", limit_s=1)
    assert documents.worlds == 2
