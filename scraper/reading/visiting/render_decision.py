"""Asks the reader whether a page as served is enough, and keeps what it read: nothing is read twice."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from browsers.model import Snapshot
from scraper.deadline import Deadline
from scraper.errors import ScraperError
from scraper.extract import fallback, reader
from scraper.model import Document
from scraper.urls import host_of
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

READ_LIMIT_S = 5.0
"""A page takes the reader 10 to 100 ms; one that takes longer than this was made to."""

BARE_LIMIT_S = 3.0
"""The plain way is linear: two seconds for the largest page."""

_OPENED_BY_SCRIPTS = frozenset({"captcha", "challenge", "proof_of_work"})
"""Error pages stay what they are when they are rendered, but for walls that let browsers in after a while."""


class RenderDecider:
    """The reader's opinion on the snapshots of one visit."""

    def __init__(self, workers: WorkerPool, deadline: Deadline, *, on_render: Callable[[], None]) -> None:
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
        if not peek.html.strip() and "refresh" not in peek.headers:
            # No script can add anything where there is none.
            self.document = Document(url=peek.url)
            return True
        try:
            self.document = await self.read(peek)
        except WorkerFailedError:
            return False
        if _is_enough(peek, self.document):
            return True
        self._on_render()
        return False

    async def read(self, snapshot: Snapshot) -> Document:
        """What is to be read in a snapshot; its mere text where the reader breaks or takes too long.

        Raises:
            WorkerFailed: not even that was to be had.
            ScraperError: it is nothing to be read.
        """
        # The text is what is read; the bytes it was decoded from need not travel.
        light = replace(snapshot, body=b"", json_responses=()) if snapshot.html else snapshot
        try:
            return await self._in_worker(reader.read, light, READ_LIMIT_S)
        except WorkerFailedError as error:
            if not light.html or self._deadline.left_s() <= 0:
                raise
            log.warning("a page of %s is read the plain way: %s", host_of(snapshot.url), error)
            return await self._in_worker(fallback.read, light, BARE_LIMIT_S)

    async def _in_worker(
        self, read: Callable[[Snapshot], Document], snapshot: Snapshot, limit_s: float
    ) -> Document:
        limit_s = min(limit_s, self._deadline.left_s())
        try:
            async with asyncio.timeout(self._deadline.left_s()):
                # As a value, so that a fault in the reader costs this page and nothing else.
                (answer,) = await asyncio.gather(
                    self._workers.run(read, snapshot, limit_s=limit_s), return_exceptions=True
                )
        except TimeoutError as error:
            raise WorkerFailedError("no reader was free in time") from error
        if isinstance(answer, Document):
            return answer
        if not isinstance(answer, (ScraperError, WorkerFailedError)):
            log.error("the reader failed on a page of %s", host_of(snapshot.url), exc_info=answer)
            raise WorkerFailedError("the reader failed on it") from answer
        raise answer


def _is_enough(peek: Snapshot, document: Document) -> bool:
    verdict = document.verdict
    if peek.status >= 400:
        return verdict.reason not in _OPENED_BY_SCRIPTS
    if "#" in peek.requested_url:
        # A script routes by it: what was served is the same for every such address.
        return False
    return verdict.ok or verdict.reason == "binary"
