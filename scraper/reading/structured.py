"""Extract the structured data of rendered pages: many shops add it by script."""

from __future__ import annotations

import logging
from dataclasses import replace

from browsers.model import Snapshot
from scraper import errors
from scraper.caching import DistributedSingleFlight, LoadRequest, ReadThrough
from scraper.call_context import Deadline, ProgressCallback, ignore_progress
from scraper.coordination.state import SharedState
from scraper.extract import worker_jobs
from scraper.model import REFRESH, StructuredData
from scraper.reading import visit_outcome
from scraper.reading.response_reader import VisitResult, run_in_worker
from scraper.reading.visit_outcome import VisitJob
from scraper.reading.visitor import PageVisitor, timeout_error
from scraper.settings import Settings
from scraper.urls import host_of, parse_target, request_key
from scraper.workers import WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

_EXTRACT_LIMIT_S = 5.0
"""CPU seconds. All syntaxes and facts take 30 to 150 ms; a slower page is hostile."""
_SIMPLE_LIMIT_S = 3.0
"""CPU seconds for the extraction without microdata, RDFa and facts."""

_READABLE_DESPITE_BLOCK = frozenset({"consent", "login"})
"""Reasons of block pages whose HTML still contains the data of the page."""
_SIMPLE_WARNING = "The page is too complex: microdata, RDFa and facts were left out."


class StructuredReader:
    """Extract structured data for callers within a deadline."""

    def __init__(
        self,
        visitor: PageVisitor,
        workers: WorkerPool,
        settings: Settings | None = None,
        shared: SharedState | None = None,
    ) -> None:
        """Create the service; `shared` is None if there are no other servers."""
        self._visitor = visitor
        self._workers = workers
        self._service: ReadThrough[StructuredData] = ReadThrough(
            lambda data: data,
            join_others=DistributedSingleFlight(StructuredData, shared.claims if shared else None, settings).join,
        )

    async def close(self) -> None:
        """Cancel the pages that are being read."""
        await self._service.close()

    async def extract(
        self, url: str, *, principal: str = "local", deadline_s: float = 55.0, progress: ProgressCallback | None = None
    ) -> StructuredData:
        """Return the structured data of a rendered page.

        Raises:
            ScraperError: The page cannot be read; the message says why and what to do.
        """
        deadline = Deadline.within(deadline_s)
        job = VisitJob(request_key(parse_target(url)), "browser", principal, json_responses=True)
        load: LoadRequest[StructuredData] = LoadRequest(
            job, run=lambda _: self._load(job, deadline, progress or ignore_progress), label=job.host
        )
        try:
            return await self._service.read(load, REFRESH, deadline=deadline, progress=progress)
        except TimeoutError:
            raise timeout_error(job) from None

    async def _load(self, job: VisitJob, deadline: Deadline, progress: ProgressCallback) -> StructuredData:
        result = await self._visitor.visit(job, deadline, progress)
        snapshot = result.snapshot
        if not snapshot.is_html:
            # Errors are those of `fetch`. Text that is not a page has no structured data.
            visit_outcome.build_reading(snapshot, result.document, may_render=True, requested_url=job.url)
            raise errors.UnsupportedTypeError(
                f"{host_of(snapshot.url)} sent {errors.name_media_type(snapshot.media_type)}, not a page.",
                target=snapshot.requested_url,
                next_step="Only pages hold structured data: use `fetch` for text.",
            )
        data = await self._extract(result.snapshot, deadline)
        warnings = self._page_warnings(result, job, has_data=bool(data.json_ld or data.microdata or data.rdfa))
        return replace(data, warnings=(*warnings, *result.warnings, *data.warnings))

    def _page_warnings(self, result: VisitResult, job: VisitJob, *, has_data: bool) -> tuple[str, ...]:
        """Return warnings about the page; raise the error of a page that is empty or blocked and has no data."""
        try:
            reading = visit_outcome.build_reading(
                result.snapshot, result.document, may_render=True, requested_url=job.url
            )
        except errors.NoContentError:
            if has_data:
                return ()
            raise
        except errors.BlockedBySiteError as block:
            if block.reason in _READABLE_DESPITE_BLOCK and result.snapshot.status < 300 and has_data:
                return (f"{block} The data is of the page behind it.",)
            raise
        return reading.warnings

    async def _extract(self, snapshot: Snapshot, deadline: Deadline) -> StructuredData:
        """Return all data, or only the simple syntaxes if the full extraction fails or is too slow."""
        light = replace(snapshot, body=b"", frames=())
        try:
            return await run_in_worker(self._workers, worker_jobs.extract_structured, light, _EXTRACT_LIMIT_S, deadline)
        except WorkerFailedError as error:
            log.warning("structured data of %s extracted in part: %s", host_of(snapshot.url), error)
        try:
            data = await run_in_worker(
                self._workers, worker_jobs.extract_basic_structured, light, _SIMPLE_LIMIT_S, deadline
            )
        except WorkerFailedError as error:
            raise errors.ContentTooLargeError(
                f"The structured data of the page at {host_of(snapshot.url)} could not be read: {error}.",
                target=snapshot.requested_url,
                next_step="Use `fetch` for its text, or another source.",
            ) from error
        return replace(data, warnings=(_SIMPLE_WARNING, *data.warnings))
