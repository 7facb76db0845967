"""Read one page of a job and create its output row.

The page is fetched first. Its JSON-LD and the fields of a recipe are extracted while the next page of its host is
fetched: the host with the most pages determines the duration of a job, so each second between two of its pages counts.
"""

import dataclasses
import functools
import hashlib
import logging
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from browsers.model import Snapshot
from scraper import errors
from scraper.bulk.model import JobPage, JobSpec, OutputRow, PageFailure, PageOutcome
from scraper.call_context import Deadline
from scraper.errors import ScraperError
from scraper.extract import worker_jobs
from scraper.facts.fields.model import FieldRequest, PageFields
from scraper.model import CachePolicy, Reading, ReadRequest, Reuse
from scraper.reading.batch import read_with_other_urls
from scraper.reading.fetcher import Fetcher
from scraper.reading.fields import check_fields, check_page_type, extract_fields
from scraper.reading.response_reader import VisitResult
from scraper.workers import WorkerPool

log = logging.getLogger(__name__)

_STRUCTURED_LIMIT_S = 5.0
"""CPU seconds. Extracting JSON-LD takes 5 to 20 ms; a slower page is hostile."""
_NO_REQUEST_ERRORS = (errors.BadRequestError, errors.PolicyError, errors.OverloadedError, errors.OfflineError)
"""Errors that occur before any request to the host."""


@dataclass(frozen=True, slots=True)
class PageResult:
    """Result of reading a page, before its JSON-LD and fields are extracted."""

    outcome: PageOutcome
    requested_at: float | None
    """Monotonic time at which its last request had reached the host; None if no request was made."""
    error: errors.ScraperError | None = None
    complete: Callable[[], Awaitable[PageOutcome]] | None = None
    """Return the outcome with JSON-LD and fields; None if nothing is missing.

    The host is not contacted, except for the start page of a crawl.
    """
    gap_s: float | None = None
    """Seconds between two requests that its host requires; None if unknown."""

    async def get_outcome(self) -> PageOutcome:
        """Return the complete outcome, with JSON-LD and fields, and in a crawl with links."""
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
        # JSON-LD and fields are added later; a cached page has no snapshot.
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
            timings=_timings(visit.snapshot),
            hash=hashlib.sha256(document.markdown.encode("utf-8", "replace")).hexdigest(),
        )
        snapshot = visit.snapshot if self._keep_snapshots else None
        outcome = PageOutcome(page, row, seconds, cached=reading.cached, snapshot=snapshot)
        complete = None if reading.cached else functools.partial(self._add_data, outcome, visit.snapshot)
        return PageResult(outcome, visit.requested_at, complete=complete, gap_s=self._fetcher.gap_s(page.url))

    def _make_request(self, page: JobPage) -> ReadRequest:
        spec = self._spec
        cache = CachePolicy(spec.max_age_s, Reuse.NONE if self._keep_snapshots or spec.recipe else Reuse.STORED)
        batch = self._batch if page.is_batched else None
        return ReadRequest(
            page.url, render=spec.render, cache=cache, deadline_s=spec.deadline_s, batch=batch, is_bulk=True
        )

    async def _add_data(self, outcome: PageOutcome, snapshot: Snapshot | None) -> PageOutcome:
        row = dataclasses.replace(outcome.row, json_ld=await self._read_json_ld(snapshot))
        if self._spec.recipe:
            row = await self._add_fields(row, snapshot)
        return dataclasses.replace(outcome, row=row)

    async def _add_fields(self, row: OutputRow, snapshot: Snapshot | None) -> OutputRow:
        """Return the row with the fields or records of the recipe, or with an error if they cannot be read."""
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
            return dataclasses.replace(row, error=PageFailure(found.code, found.sentence()))
        confidence = {name: one.confidence for name, one in found.evidence.items()}
        if found.records:
            return dataclasses.replace(row, records=found.records, next_page=found.next_page, confidence=confidence)
        return dataclasses.replace(row, fields=dict(found.values), confidence=confidence)

    async def _read_json_ld(self, snapshot: Snapshot | None) -> tuple[Mapping[str, Any], ...] | None:
        if snapshot is None:
            return None
        part = extract_json_ld_part(snapshot.html) if snapshot.is_html else ""
        if not part:
            return ()
        light = dataclasses.replace(snapshot, html=part, body=b"", frames=(), json_responses=())
        try:
            found = await self._workers.run(worker_jobs.extract_basic_structured, light, limit_s=_STRUCTURED_LIMIT_S)
        except Exception as error:
            log.warning("JSON-LD of a page could not be read: %s", error)
            return None
        return found.json_ld


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


_JSON_LD_TYPE = "ld+json"
_SCRIPTS = re.compile(
    r"<!--.*?(?:-->|\Z)|(<base\b[^>]*>)|(<script\b[^>]*>)(.*?)(?:(?=</script\b)|\Z)|<(?:base|script)\b[^>]*\Z",
    re.I | re.DOTALL,
)
"""Comments, base elements, scripts, and a cut tag of these at the end of a page, which has no groups.

Each match goes on to its end, so hostile pages take no longer than others.
"""


def extract_json_ld_part(html: str) -> str:
    """Return the JSON-LD scripts and the base element of a page as HTML, or an empty string.

    Parsing the whole page for them took 5 ms, and sending it to a worker another one; this takes .1 ms.
    """
    if _JSON_LD_TYPE not in html and _JSON_LD_TYPE not in html.lower():
        return ""
    found = [match.groups("") for match in _SCRIPTS.finditer(html)]
    parts = [base or f"{tag}{body}</script>" for base, tag, body in found if base or _JSON_LD_TYPE in tag.lower()]
    has_data = any(_JSON_LD_TYPE in tag.lower() for _, tag, _ in found)
    return f"<html><head>{''.join(parts)}</head></html>" if has_data else ""
