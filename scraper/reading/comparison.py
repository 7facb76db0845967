"""Read a page and compare the document with all text on the page; nothing is stored."""

from __future__ import annotations

from scraper import errors
from scraper.call_context import Deadline, ignore_progress
from scraper.extract.reader import ReadingComparison, compare_reading
from scraper.reading.visitor import PageVisitor, VisitJob
from scraper.urls import cache_key, host_of, parse_target
from scraper.workers import WorkerFailedError, WorkerPool

_LIMIT_S = 10.0
"""Seconds. Reading twice takes 50 to 300 ms; a page that takes longer than this is hostile."""


class ReadingComparer:
    """Compares documents with their pages."""

    def __init__(self, visitor: PageVisitor, workers: WorkerPool) -> None:
        """Visit pages with the visitor and extract them in the workers."""
        self._visitor = visitor
        self._workers = workers

    async def read(self, url: str, *, render: str, principal: str, deadline_s: float) -> ReadingComparison:
        """Return the document of a page and the text that it leaves out.

        Raises:
            ScraperError: The page cannot be read; the message says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        job = VisitJob(cache_key(parse_target(url)), render, principal)
        result = await self._visitor.visit(job, deadline, ignore_progress)
        try:
            limit_s = min(_LIMIT_S, deadline.left_s())
            return await self._workers.run(compare_reading, result.snapshot, limit_s=limit_s)
        except WorkerFailedError as error:
            raise errors.ContentTooLargeError(
                f"The page at {host_of(job.url)} could not be read: {error}.", target=job.url
            ) from error
