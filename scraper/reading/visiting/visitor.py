"""Visits a page for a job and reads what comes: once or patiently, or what there is when time is up."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import Protocol

from browsers import errors as door_errors
from browsers.model import Mode, Request, Snapshot, Tier, VisitLimits
from scraper import errors
from scraper.deadline import Deadline
from scraper.model import Document, Reading
from scraper.reading.politeness.host_throttle import PATIENCE_S
from scraper.reading.politeness.policy import PolitenessPolicy
from scraper.reading.visiting import response_outcome
from scraper.reading.visiting.browser_protocol import BrowserClient
from scraper.reading.visiting.error_mapping import translated
from scraper.reading.visiting.render_decision import RenderDecider
from scraper.urls import host_of
from scraper.workers import NoWorkerError, WorkerFailedError, WorkerPool

log = logging.getLogger(__name__)

_MODES = {"auto": Mode.AUTO, "http": Mode.PEEK, "browser": Mode.RENDER}

READ_RESERVE_S = 3.0
"""Kept back from the deadline to read what the visit brought."""
READ_RESERVE_SHARE = 0.2


class ProgressReporter(Protocol):
    """Told how many of a visit's steps (one) are done, and what is being done."""

    def __call__(self, done: float, verb: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ReadJob:
    """What is to be read, for whom: two equal jobs are one visit."""

    url: str
    render: str
    principal: str
    limits: VisitLimits = field(default_factory=VisitLimits)
    json_responses: bool = False
    """Keep the JSON that the page fetches while it renders."""
    conditions: tuple[tuple[str, str], ...] = ()
    """Request headers by which the site may answer that the page is what it was."""
    batch: str | None = field(default=None, compare=False, repr=False)
    """Which pages it is asked for with: says how it is visited, not what comes of it."""

    @property
    def host(self) -> str:
        """The host of the URL."""
        return host_of(self.url)


@dataclass(frozen=True, slots=True)
class VisitResult:
    """What a visit brought, and what is to be read in it."""

    snapshot: Snapshot
    document: Document
    notes: tuple[str, ...] = ()
    """What the caller is to be told of the way."""


class PageVisitor:
    """Makes visits."""

    def __init__(
        self, browsers: BrowserClient, workers: WorkerPool, language: str, manners: PolitenessPolicy
    ) -> None:
        self._browsers = browsers
        self._manners = manners
        self._workers = workers
        self._language = language

    async def patiently(
        self, job: ReadJob, tier: Tier, deadline: Deadline, tell: ProgressReporter
    ) -> VisitResult:
        """Visit, and once more after a pause where the site's failure may pass.

        Raises:
            ScraperError: nothing came.
        """
        visited = await self.once(job, tier, deadline, tell)
        pause_s = response_outcome.pause_s(visited.snapshot)
        if pause_s is None or pause_s > min(PATIENCE_S, deadline.left_s() / 2):
            return visited
        await asyncio.sleep(pause_s)
        try:
            return await self.once(job, tier, deadline, tell)
        except errors.HostBusyError:
            # There is no second turn in time: what came is the answer.
            return visited

    async def once(self, job: ReadJob, tier: Tier, deadline: Deadline, tell: ProgressReporter) -> VisitResult:
        """Visit and read what came; what was served stands in where rendering it fails.

        Raises:
            ScraperError: nothing came.
        """
        judge = RenderDecider(self._workers, deadline, on_render=lambda: tell(0, "rendering"))
        async with self._manners.visiting(job.url, job.principal, deadline) as notes:
            snapshot, came = await self._snapshot(job, tier, deadline, judge)
        more = await self._manners.visited(job.url, snapshot, job.principal, deadline)
        visited = await _read_by(judge, snapshot) if came else _as_served(judge)
        return replace(visited, notes=tuple(dict.fromkeys((*notes, *more))))

    async def _snapshot(
        self, job: ReadJob, tier: Tier, deadline: Deadline, judge: RenderDecider
    ) -> tuple[Snapshot, bool]:
        """What the door brings; False: rendering failed, it is what was served.

        Raises:
            ScraperError: nothing came.
        """
        request = self._request(job, tier, deadline)
        # The door keeps the deadline itself; this is for a door that does not.
        limit_s = (request.deadline_s + deadline.left_s()) / 2
        try:
            async with asyncio.timeout(limit_s):
                snapshot = await self._browsers.visit(request, judge.enough)
        except (door_errors.BrowsersError, TimeoutError) as error:
            _log_failure(job, tier, error)
            if judge.peek is not None and judge.has_text and not isinstance(error, door_errors.RefusedError):
                return judge.peek, False
            if judge.peek is not None:
                # It has answered all the same, and may have asked to be left alone.
                await self._manners.heard(judge.peek)
            raise _told(error, job) from error
        _log_visit(job, snapshot)
        return snapshot, True

    def _request(self, job: ReadJob, tier: Tier, deadline: Deadline) -> Request:
        reserve_s = min(READ_RESERVE_S, deadline.left_s() * READ_RESERVE_SHARE)
        return Request(
            job.url,
            tier=tier,
            mode=_MODES[job.render],
            principal=job.principal,
            language=self._language,
            json_responses=job.json_responses,
            headers=dict(job.conditions),
            deadline_s=deadline.left_s(reserve_s=reserve_s),
            limits=job.limits,
            batch=job.batch,
        )


def out_of_time(job: ReadJob) -> errors.FetchTimeoutError:
    """What is told of a page that did not come in time."""
    return errors.FetchTimeoutError(
        f"The page at {job.host} was not read in time.",
        target=job.url,
        next_step="Try again later, or another source.",
    )


def told(reading: Reading, visited: VisitResult) -> Reading:
    """The reading with what is to be told of the way to it."""
    return replace(reading, warnings=(*reading.warnings, *visited.notes)) if visited.notes else reading


async def _read_by(judge: RenderDecider, snapshot: Snapshot) -> VisitResult:
    if not snapshot.html:
        # Rendered to nothing: a capture that failed.
        return _as_served(judge) if judge.has_text else VisitResult(snapshot, Document(url=snapshot.url))
    if not snapshot.rendered and judge.document is not None:
        return VisitResult(snapshot, judge.document)
    try:
        return VisitResult(snapshot, await judge.read(snapshot))
    except WorkerFailedError as error:
        if judge.has_text:
            return _as_served(judge)
        if isinstance(error, NoWorkerError):
            raise errors.BrowserFailedError(
                f"The page at {host_of(snapshot.url)} could not be read: {error}.",
                target=snapshot.requested_url,
                next_step="Try again in a moment.",
            ) from error
        raise errors.ContentTooLargeError(
            f"The page at {host_of(snapshot.url)} could not be read: {error}.",
            target=snapshot.requested_url,
            next_step="Look for a smaller page, or another source.",
        ) from error


def _as_served(judge: RenderDecider) -> VisitResult:
    assert judge.peek is not None and judge.document is not None
    return VisitResult(replace(judge.peek, complete=False), judge.document)


def _told(error: door_errors.BrowsersError | TimeoutError, job: ReadJob) -> errors.ScraperError:
    return out_of_time(job) if isinstance(error, TimeoutError) else translated(error, job.url)


def _log_visit(job: ReadJob, snapshot: Snapshot) -> None:
    """One line a visit, without path and query: they may be private."""
    timing = snapshot.timing
    fields = {
        "host": job.host,
        "render": job.render,
        "tier": snapshot.tier.value,
        "status": snapshot.status,
        "rendered": snapshot.rendered,
    }
    stages = {
        "queued_ms": timing.queued_s,
        "response_ms": timing.response_s,
        "judged_ms": timing.judged_s,
        "settled_ms": timing.settled_s,
        "captured_ms": timing.captured_s,
        "total_ms": timing.total_s,
    }
    # A stage that the visit never came to took no time at all: it counts nowhere.
    fields |= {name: round(seconds * 1000) for name, seconds in stages.items() if seconds}
    log.info("visit", extra={"fields": fields})


def _log_failure(job: ReadJob, tier: Tier, error: Exception) -> None:
    fields = {
        "host": job.host,
        "render": job.render,
        "tier": tier.value,
        "rendered": False,
        "outcome": getattr(error, "code", type(error).__name__),
    }
    log.info("visit", extra={"fields": fields})
