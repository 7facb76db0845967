"""Asks the reader whether a page as served is enough, and keeps what it read: nothing is read twice."""

from __future__ import annotations

from collections.abc import Callable

from browsers.model import Snapshot
from scraper.extract import reader
from scraper.model import Document
from scraper.reading.deadline import Deadline
from scraper.workers import WorkerFailed, Workers

__all__ = ["Judge"]

READ_LIMIT_S = 10.0
"""A page takes the reader 5 to 50 ms; one that takes longer than this was made to."""

_OPENED_BY_SCRIPTS = frozenset({"captcha", "challenge"})
"""Error pages stay what they are when they are rendered, but for walls that let browsers in after a while."""


class Judge:
    """The reader's opinion on the snapshots of one visit."""

    def __init__(self, workers: Workers, deadline: Deadline, *, on_render: Callable[[], None]) -> None:
        self.peek: Snapshot | None = None
        self.document: Document | None = None
        """What was read from `peek`."""
        self._workers = workers
        self._deadline = deadline
        self._on_render = on_render

    @property
    def has_text(self) -> bool:
        """Whether the page as served says anything at all."""
        return self.document is not None and bool(self.document.markdown.strip())

    async def enough(self, peek: Snapshot) -> bool:
        """Whether the page as served holds what a person would read there."""
        self.peek, self.document = peek, None
        try:
            self.document = await self.read(peek)
        except WorkerFailed:
            return False
        if _is_enough(peek, self.document):
            return True
        self._on_render()
        return False

    async def read(self, snapshot: Snapshot) -> Document:
        """What is to be read in a snapshot.

        Raises:
            WorkerFailed: the reader broke or took too long.
        """
        limit_s = min(READ_LIMIT_S, self._deadline.left_s())
        return await self._workers.run(reader.read, snapshot, limit_s=limit_s)


def _is_enough(peek: Snapshot, document: Document) -> bool:
    verdict = document.verdict
    if peek.status >= 400:
        return verdict.reason not in _OPENED_BY_SCRIPTS
    return verdict.ok or verdict.reason == "binary"
