"""Episodes through the sessions of `browse`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from benchmarks.acting.miniwob.episode import Episode, UnsolvedError
from benchmarks.acting.site_tasks import ActingClient
from browsers.acting.dom_snapshot import PageNode, iter_subtree
from browsers.acting.outline import OutlineLine
from browsers.errors import UnknownSessionError

_FRAME_IDS = frozenset({"reward-display", "query", "click-canvas", "sync-task-cover"})
"""Elements around the task."""
_STEPS_OF_A_CALL = 50
_STEPS_OF_A_SESSION = 60
"""Steps after which another session begins: its limit leaves room for the longest task."""


class OwnEpisode(Episode):
    """One task in the session of the client, which is renewed because its number of steps is limited."""

    def __init__(self, client: ActingClient) -> None:
        self._client = client

    async def open(self, url: str) -> None:
        if self._client.session is not None and self._client.session_steps > _STEPS_OF_A_SESSION:
            with contextlib.suppress(UnknownSessionError):
                await self._client.run("close")
            self._client.session = None
        # A session ends with a call that is canceled.
        try:
            opened = await self._client.run(f"open {url}")
        except UnknownSessionError:
            self._client.session = None
            opened = await self._client.run(f"open {url}")
        if opened.error:
            raise UnsolvedError(opened.error)
        await self._client.page.resume()

    async def evaluate(self, expression: str) -> Any:
        return await self._client.evaluate(expression)

    async def lines(self) -> list[OutlineLine]:
        lines = await self._client.lines()
        around = {
            below.ref
            for node in self._nodes()
            if node.attributes.get("id") in _FRAME_IDS
            for below in iter_subtree(node)
        }
        return [line for line in lines if line.ref not in around]

    async def act(self, step: str) -> None:
        outcome = await self._client.act(step)
        if outcome.error:
            raise UnsolvedError(f"{step}: {outcome.error}")

    async def act_all(self, *steps: str) -> None:
        for first in range(0, len(steps), _STEPS_OF_A_CALL):
            outcome = await self._client.run(*steps[first : first + _STEPS_OF_A_CALL])
            if outcome.error:
                raise UnsolvedError(outcome.error)

    def is_multiline(self, ref: str) -> bool:
        return next(node.tag == "textarea" for node in self._nodes() if node.ref == ref)

    def value_of(self, ref: str) -> str:
        return next(node.value or "" for node in self._nodes() if node.ref == ref)

    def _nodes(self) -> Iterator[PageNode]:
        outline = self._client.page.outlines.latest
        assert outline is not None
        return iter_subtree(outline.root)
