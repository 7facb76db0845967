"""Read one page of a job and create its output row.

The page is fetched first. The fields of a recipe are extracted while the next page of its host is fetched: the host
with the most pages determines the duration of a job, so each second between two of its pages counts.
"""

import dataclasses
import functools
import hashlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from browsers.model import Snapshot
from scraper import errors
from scraper.bulk.model import JobPage, JobSpec, OutputRow, PageFailure, PageOutcome
from scraper.call_context import Deadline
from scraper.errors import ScraperError
from scraper.facts.fields.model import FieldRequest, PageFields
from scraper.model import CachePolicy, Reading, ReadRequest, Reuse
from scraper.reading.batch import read_with_other_urls
from scraper.reading.fetcher import Fetcher
from scraper.reading.fields import check_fields, check_page_type, extract_fields
from scraper.reading.response_reader import VisitResult
from scraper.workers import WorkerPool

log = logging.getLogger(__name__)

_NO_REQUEST_ERRORS = (errors.BadRequestError, errors.PolicyError, errors.OverloadedError, errors.OfflineError)
"""Errors that occur before any request to the host."""


@dataclass(frozen=True, slots=True)
class PageResult:
    """Result of reading a page, before its fields are extracted."""

    outcome: PageOutcome
    requested_at: float | None
    """Monotonic time at which its last request had reached the host; None if no request was made."""
    error: errors.ScraperError | None = None
    complete: Callable[[], Awaitable[PageOutcome]] | None = None
    """Return the outcome with fields; None if nothing is missing.

    The host is not contacted, except for the start page of a crawl.
    """
    gap_s: float | None = None
    """Seconds between two requests that its host requires; None if unknown."""

    async def get_outcome(self) -> PageOutcome:
        """Return the complete outcome, with fields, and in a crawl with links."""
        return self.outcome if self.complete is None else await self.complete()


class PageVisit:
    """Result, snapshot and request time of the visit of a page; None if it was not visited."""

    result: VisitResult | None = None
    snapshot: Snapshot | None = None
    requested_at: float | None = None

    def note(self, result: VisitResult) -> None:
        """Store a result; its request reached the host before the response arrived."""
        timing = result.snapshot.timing
        self.result, self.snapshot = result, result.snapshot
        self.requested_at = time.monotonic() - timing.total_s + (timing.response_s or timing.total_s)


class JobPageReader:
    """Read the pages of one job. Subclasses add to the results."""

    def __init__(self, fetcher: Fetcher, workers: WorkerPool, spec: JobSpec, *, keep_snapshots: bool) -> None:
        """Create a reader.

        With `keep_snapshots`, pages are never taken from a cache or another server, which have no responses.
        """
        self._fetcher = fetcher
        self._workers = workers
        self._spec = spec
        self._keep_snapshots = keep_snapshots
        self._batch = uuid.uuid4().hex

    async def read(self, page: JobPage) -> PageResult:
        """Read a page, or its other URL if only that one can be reached.

        An internal error becomes the error of this page only.
        """

        async def read(others: Mapping[str, str]) -> PageResult:
            return await self._read(dataclasses.replace(page, url=others[page.url], other_url="") if others else page)

        def errors_of(result: PageResult) -> Mapping[str, object]:
            return {result.outcome.page.url: result.error}

        return await read_with_other_urls(read, {page.url: page.other_url}, errors_of)

    async def _read(self, page: JobPage) -> PageResult:
        began = time.monotonic()
        if page.problem:
            row = OutputRow(page.url, error=PageFailure("bad_url", page.problem))
            return PageResult(PageOutcome(page, row, 0.0), None)
        visit = PageVisit()
        try:
            reading = await self._fetcher.fetch(self._make_request(page), on_visit=visit.note)
            return self._make_result(page, reading, visit, time.monotonic() - began)
        except ScraperError as failure:
            error = failure
        except Exception:
            log.exception("internal error while reading a page of %s", page.host)
            message = f"Reading the page at {page.host} failed because of an internal error."
            error = errors.InternalError(message, target=page.url, next_step="The log says more.")
        seconds = time.monotonic() - began
        row = OutputRow(
            url=page.url,
            final_url=visit.snapshot.url if visit.snapshot is not None else None,
            status=visit.snapshot.status if visit.snapshot is not None else getattr(error, "status", None),
            fetched_at=datetime.now(UTC),
            error=PageFailure(error.code, error.sentence()),
            timings=_timings(visit.snapshot),
        )
        requested_at = visit.requested_at
        if requested_at is None and not isinstance(error, _NO_REQUEST_ERRORS):
            requested_at = time.monotonic()
        outcome = PageOutcome(page, row, seconds, snapshot=visit.snapshot if self._keep_snapshots else None)
        return PageResult(outcome, requested_at, error, gap_s=self._fetcher.gap_s(page.url))

    def _make_result(self, page: JobPage, reading: Reading, visit: PageVisit, seconds: float) -> PageResult:
        # Fields are added later; a cached page has no snapshot.
        document = reading.document
        row = OutputRow(
            url=page.url,
            final_url=reading.url,
            status=reading.status,
            method=reading.method,
            fetched_at=reading.retrieved_at,
            title=document.title,
            markdown=document.markdown,
            links=tuple({"url": one.url, "text": one.text} for one in document.links),
            images=tuple({"url": one.url, "alt": one.alt} for one in document.images),
            headings=tuple({"level": one.level, "text": one.text, "start": one.start} for one in document.outline),
            author=document.author,
            published_date=document.published,
            sitename=document.site_name,
            language=document.language,
            description=document.description,
            page_type=document.page_type,
            train=next((wish.value for wish in document.wishes if wish.use == "train"), None),
            license=" ".join(wish.value for wish in document.wishes if wish.use == "license") or None,
            json_ld=None if visit.result is None else visit.result.json_ld,
            timings=_timings(visit.snapshot),
            hash=hashlib.sha256(document.markdown.encode("utf-8", "replace")).hexdigest(),
        )
        snapshot = visit.snapshot if self._keep_snapshots else None
        outcome = PageOutcome(page, row, seconds, cached=reading.cached, snapshot=snapshot)
        complete = functools.partial(self._add_fields, outcome, visit.snapshot) if self._spec.recipe else None
        return PageResult(outcome, visit.requested_at, complete=complete, gap_s=self._fetcher.gap_s(page.url))

    def _make_request(self, page: JobPage) -> ReadRequest:
        spec = self._spec
        cache = CachePolicy(spec.max_age_s, Reuse.NONE if self._keep_snapshots or spec.recipe else Reuse.STORED)
        batch = self._batch if page.is_batched else None
        return ReadRequest(
            page.url, render=spec.render, cache=cache, deadline_s=spec.deadline_s, batch=batch, is_bulk=True
        )

    async def _add_fields(self, outcome: PageOutcome, snapshot: Snapshot | None) -> PageOutcome:
        """Return the outcome with the fields or records of the recipe, or with an error if they cannot be read."""
        row = outcome.row
        found: PageFields | ScraperError
        try:
            if snapshot is None:
                raise errors.InternalError("The response of the page is missing.", target=row.url)
            check_page_type(snapshot, row.url)
            request, light = FieldRequest(recipe=self._spec.recipe), dataclasses.replace(snapshot, body=b"")
            deadline = Deadline.within(self._spec.deadline_s)
            (fields,) = await extract_fields(self._workers, [light], request, deadline)
            found = check_fields(row.url, fields)
        except ScraperError as error:
            found = error
        except Exception:
            log.exception("internal error while reading fields")
            found = errors.InternalError("The fields could not be read because of an internal error.", target=row.url)
        if isinstance(found, ScraperError):
            row = dataclasses.replace(row, error=PageFailure(found.code, found.sentence()))
            return dataclasses.replace(outcome, row=row)
        confidence = {name: one.confidence for name, one in found.evidence.items()}
        if found.records:
            row = dataclasses.replace(row, records=found.records, next_page=found.next_page, confidence=confidence)
        else:
            row = dataclasses.replace(row, fields=dict(found.values), confidence=confidence)
        return dataclasses.replace(outcome, row=row)


def make_skipped_row(url: str, error: ScraperError) -> OutputRow:
    """Return the row of a page that was not requested, because others failed: of its site, or after a retry."""
    if isinstance(error, errors.NameServerSilentError):
        reason = "Retries of other pages failed in the same way, so it was not requested again."
    else:
        reason = "Other pages of its host failed in the same way, so it was not requested."
    return OutputRow(url=url, error=PageFailure(error.code, f"{error} {reason}"))


def _timings(snapshot: Snapshot | None) -> dict[str, float]:
    if snapshot is None:
        return {}
    return {name: round(value, 4) for name, value in asdict(snapshot.timing).items() if value}
