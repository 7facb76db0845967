"""Reads a page for a person who wants to see what reading does to it; nothing of it is kept."""

from __future__ import annotations

from scraper import errors
from scraper.deadline import Deadline
from scraper.extract.reader import ReadingComparison, compare_reading
from scraper.reading.structured import RenderingVisitor
from scraper.reading.visiting.visitor import ReadJob
from scraper.urls import cache_key, host_of, parse_target
from scraper.workers import WorkerFailedError, WorkerPool

_LIMIT_S = 10.0
"""Reading twice takes 50 to 300 ms; a page that takes longer than this was made to."""


class ReadingComparer:
    """Lays pages open."""

    def __init__(self, visitor: RenderingVisitor, workers: WorkerPool) -> None:
        self._visitor = visitor
        self._workers = workers

    async def read(self, url: str, *, render: str, principal: str, deadline_s: float) -> ReadingComparison:
        """Both sides of a page.

        Raises:
            ScraperError: the page could not be read; the sentence says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        job = ReadJob(cache_key(parse_target(url)), render, principal)
        visited = await self._visitor.visited(job, deadline, lambda _done, _verb: None)
        try:
            limit_s = min(_LIMIT_S, deadline.left_s())
            return await self._workers.run(compare_reading, visited.snapshot, limit_s=limit_s)
        except WorkerFailedError as error:
            raise errors.ContentTooLargeError(
                f"The page at {host_of(job.url)} could not be read: {error}.", target=job.url
            ) from error
