"""Read the requested values of rendered pages."""

from __future__ import annotations

from functools import partial

from scraper import errors
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.extract.fields import extraction
from scraper.extract.fields.model import FieldRequest, PageFields
from scraper.extract.fields.record_lists import MIN_RECORDS
from scraper.reading import outcome
from scraper.reading.visitor import PageVisitor, VisitJob, run_in_worker, timeout_error
from scraper.urls import cache_key, host_of, parse_target
from scraper.workers import WorkerFailedError, WorkerPool

EXTRACT_LIMIT_S = 5.0
"""Seconds. Records of a page take 30 ms; a page that takes longer than this is hostile."""


class FieldReader:
    """Reads records from rendered pages; nothing is cached."""

    def __init__(self, visitor: PageVisitor, workers: WorkerPool) -> None:
        """Visit with `visitor`, and read in the workers."""
        self._visitor = visitor
        self._workers = workers

    async def read(
        self,
        url: str,
        request: FieldRequest,
        *,
        principal: str = "local",
        deadline_s: float = 55.0,
        progress: ProgressCallback | None = None,
    ) -> PageFields:
        """Return the requested values of a page.

        Raises:
            NoRecordsError: Records were requested, and the page has no list.
            ScraperError: The page cannot be read.
        """
        deadline = Deadline.within(deadline_s)
        job = VisitJob(cache_key(parse_target(url)), "browser", principal, json_responses=True)
        try:
            result = await self._visitor.visit(job, deadline, progress or ignore_progress)
        except TimeoutError:
            raise timeout_error(job) from None
        host = host_of(result.snapshot.url)
        # This raises the errors of pages that are blocked or empty.
        reading = outcome.build_reading(result.snapshot, result.document, may_render=True, requested_url=job.url)
        if not result.snapshot.is_html:
            raise errors.UnsupportedTypeError(
                f"{host} sent {result.snapshot.media_type or 'something'}, not a page.",
                target=url,
                next_step="Use `read_doc` for files.",
            )
        read = partial(extraction.extract, request=request)
        try:
            found = await run_in_worker(self._workers, read, result.snapshot, EXTRACT_LIMIT_S, deadline)
        except WorkerFailedError as error:
            raise errors.ContentTooLargeError(
                f"The values of the page at {host} could not be read: {error}.",
                target=url,
                next_step="Use `fetch` for its text.",
            ) from error
        if not found.records:
            raise errors.NoRecordsError(
                f"There is no list of {MIN_RECORDS} or more records on the page at {host}; largest: {found.largest}.",
                target=url,
                next_step="Use `fetch` for its text.",
            )
        return PageFields(
            found.url,
            found.records,
            found.next_page,
            found.largest,
            (*reading.warnings, *result.warnings, *found.warnings),
        )
