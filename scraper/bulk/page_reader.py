"""Reads one page of a job through the one door, and tells what is to be written of it.

First comes what needs the page's host; the rest is done while that host is asked for its next page. The host
with most pages is what a job ends with: each moment between two of its pages counts as often as it has pages.
"""

from __future__ import annotations

import asyncio
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
from scraper.errors import ScraperError
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


def row_of_reading(url: str, reading: Reading, snapshot: Snapshot | None) -> OutputRow:
    """The row of a page that was read, but for its JSON-LD; `snapshot`: what the visit brought, None from the
    cache."""
    document = reading.document
    return OutputRow(
        url=url,
        final_url=reading.url,
        status=reading.status,
        method=reading.method,
        fetched_at=reading.retrieved_at,
        title=document.title,
        markdown=document.markdown,
        links=tuple((link.url, link.text) for link in document.links),
        timings=_timings(snapshot),
        hash=hashlib.sha256(document.markdown.encode("utf-8", "replace")).hexdigest(),
    )


def row_of_fault(url: str, error: ScraperError, snapshot: Snapshot | None, *, at: datetime) -> OutputRow:
    """The row of a page that could not be read."""
    return OutputRow(
        url=url,
        final_url=snapshot.url if snapshot is not None else None,
        status=snapshot.status if snapshot is not None else getattr(error, "status", None),
        fetched_at=at,
        error=PageFailure(error.code, error.sentence()),
        timings=_timings(snapshot),
    )


def row_of_lost(url: str, error: ScraperError) -> OutputRow:
    """The row of a page that was not asked for, because nobody was at its site for its others."""
    return OutputRow(
        url=url, error=PageFailure(error.code, f"{error} So it was for its other pages: it was not asked.")
    )


def row_of_problem(url: str, problem: str) -> OutputRow:
    """The row of a line that names no page."""
    return OutputRow(url=url, error=PageFailure("bad_url", problem))


def _timings(snapshot: Snapshot | None) -> dict[str, float]:
    if snapshot is None:
        return {}
    return {name: round(value, 4) for name, value in asdict(snapshot.timing).items() if value}


_MARK = "ld+json"
_STARTS = re.compile(r"<!--|<(?:script|base)\b", re.IGNORECASE)
_SCRIPT_END = re.compile(r"</script\b", re.IGNORECASE)


def part_with_json_ld(html: str) -> str:
    """The scripts of a page that hold JSON-LD, and what its addresses are resolved against; empty: none do.

    Reading a page's whole tree for them took 5 ms, and sending it to be read another one; this takes .1.
    """
    if _MARK not in html and _MARK not in html.lower():
        return ""
    parts: list[str] = []
    found, at = False, 0
    # Every step goes on behind what it has looked at: hostile pages take no longer than others.
    while (start := _STARTS.search(html, at)) is not None:
        if start.group() == "<!--":
            at = html.find("-->", start.end())
        else:
            at = html.find(">", start.end()) + 1 or -1
        if at < 0:
            break
        tag = html[start.start() : at]
        if start.group().lower() == "<base":
            parts.append(tag)
        elif start.group() != "<!--":
            closing = _SCRIPT_END.search(html, at)
            end = len(html) if closing is None else closing.start()
            if _MARK in tag.lower():
                found = True
                parts.append(f"{tag}{html[at:end]}</script>")
            at = end
    return f"<html><head>{''.join(parts)}</head></html>" if found else ""
