"""Reads one page of a job through the one door, and tells what is to be written of it.

First comes what needs the page's host; the rest is done while that host is asked for its next page. The host
with most pages is what a job ends with: each moment between two of its pages counts as often as it has pages.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from browsers.model import Snapshot
from scraper import errors
from scraper.bulk.jsonld_parts import part_with_json_ld
from scraper.bulk.model import JobPage, JobSpec, PageOutcome
from scraper.bulk.rows import row_of_fault, row_of_problem, row_of_reading
from scraper.extract import structured
from scraper.model import CachePolicy, Reading, ReadRequest, Reuse
from scraper.reading.fetcher import Fetcher
from scraper.workers import WorkerPool

log = logging.getLogger(__name__)

STRUCTURED_LIMIT_S = 5.0
"""JSON-LD takes 5 to 20 ms; a page on which it takes longer than this was made to."""
_UNASKED = (errors.BadRequestError, errors.PolicyError, errors.OverloadedError)
"""With these nothing was asked of the host."""


@dataclass(frozen=True, slots=True)
class PageResult:
    """One reading of a page."""

    outcome: PageOutcome
    asked_at: float | None
    """By when its last request had arrived at the host, of the monotonic clock; None: none was made."""
    error: errors.ScraperError | None = None
    rest: Callable[[], Awaitable[PageOutcome]] | None = None
    """Makes the outcome whole, without its host; None: it is."""

    gap_s: float | None = None
    """What is to lie between two requests to its host; None: that is not known."""

    async def whole(self) -> PageOutcome:
        """All that is to be written of the page."""
        return self.outcome if self.rest is None else await self.rest()


@dataclass(slots=True)
class _Seen:
    """What the visit of one page brought, if there was one."""

    snapshot: Snapshot | None = None
    asked_at: float | None = None

    def note(self, snapshot: Snapshot) -> None:
        """Keep it; its request had arrived when the response did."""
        timing = snapshot.timing
        self.snapshot = snapshot
        self.asked_at = time.monotonic() - timing.total_s + (timing.response_s or timing.total_s)


class JobPageReader:
    """Reads pages."""

    def __init__(
        self, fetcher: Fetcher, workers: WorkerPool, order: JobSpec, *, keep_snapshots: bool
    ) -> None:
        """`keep_snapshots`: the responses are wanted too, which neither the cache nor another server has."""
        self._fetcher = fetcher
        self._workers = workers
        self._order = order
        self._keep_snapshots = keep_snapshots
        self._batch = uuid.uuid4().hex

    async def read(self, page: JobPage) -> PageResult:
        """What one page comes to; a fault of ours is an error of this page alone."""
        began = time.monotonic()
        if page.problem:
            return PageResult(PageOutcome(page, row_of_problem(page.url, page.problem), 0.0), None)
        seen = _Seen()
        # As a value, so that a fault of ours costs this page and nothing else.
        (answer,) = await asyncio.gather(self._fetched(page, seen), return_exceptions=True)
        seconds = time.monotonic() - began
        if isinstance(answer, Reading):
            return self._told(page, answer, seen, seconds)
        if isinstance(answer, asyncio.CancelledError):
            raise answer
        error = _as_told(answer, page)
        row = row_of_fault(page.url, error, seen.snapshot, at=datetime.now(UTC))
        snapshot = seen.snapshot if self._keep_snapshots else None
        asked_at = seen.asked_at
        if asked_at is None and not isinstance(error, _UNASKED):
            asked_at = time.monotonic()
        outcome = PageOutcome(page, row, seconds, snapshot=snapshot)
        return PageResult(outcome, asked_at, error, gap_s=self._fetcher.gap_s(page.url))

    async def _fetched(self, page: JobPage, seen: _Seen) -> Reading:
        order = self._order
        request = ReadRequest(
            page.url,
            render=order.render,
            cache=CachePolicy(order.max_age_s, Reuse.NONE if self._keep_snapshots else Reuse.STORED),
            deadline_s=order.deadline_s,
            batch=self._batch if page.has_company else None,
        )
        return await self._fetcher.fetch(request, on_snapshot=seen.note)

    def _told(self, page: JobPage, reading: Reading, seen: _Seen, seconds: float) -> PageResult:
        row = row_of_reading(page.url, reading, seen.snapshot)
        snapshot = seen.snapshot if self._keep_snapshots else None
        outcome = PageOutcome(page, row, seconds, cached=reading.cached, snapshot=snapshot)
        rest = None if reading.cached else functools.partial(self._with_json_ld, outcome, seen.snapshot)
        return PageResult(outcome, seen.asked_at, rest=rest, gap_s=self._fetcher.gap_s(page.url))

    async def _with_json_ld(self, outcome: PageOutcome, snapshot: Snapshot | None) -> PageOutcome:
        found = await self._json_ld(snapshot)
        return dataclasses.replace(outcome, row=dataclasses.replace(outcome.row, json_ld=found))

    async def _json_ld(self, snapshot: Snapshot | None) -> tuple[Mapping[str, Any], ...] | None:
        """What a page says of itself in JSON-LD; None: that is not to be known."""
        if snapshot is None:
            return None
        part = part_with_json_ld(snapshot.html) if snapshot.is_html else ""
        if not part:
            return ()
        light = dataclasses.replace(snapshot, html=part, body=b"", frames=(), json_responses=())
        # As a value, so that a page that nobody foresaw costs this field and nothing else.
        (found,) = await asyncio.gather(
            self._workers.run(structured.extract_basic, light, limit_s=STRUCTURED_LIMIT_S),
            return_exceptions=True,
        )
        if isinstance(found, asyncio.CancelledError):
            raise found
        if isinstance(found, BaseException):
            log.warning("JSON-LD of a page could not be read: %s", found)
            return None
        return found.json_ld


def _as_told(answer: BaseException, page: JobPage) -> errors.ScraperError:
    if isinstance(answer, errors.ScraperError):
        return answer
    log.error("a fault of ours while reading a page of %s", page.host, exc_info=answer)
    return errors.InternalError(
        f"Reading the page at {page.host} failed by a fault of ours.",
        target=page.url,
        next_step="The log says more.",
    )
