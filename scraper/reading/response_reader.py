"""Read the response of a visit in a worker, and decide if the page must be rendered."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from browsers.model import Snapshot
from scraper import errors
from scraper.call_context import Deadline
from scraper.extract import worker_jobs
from scraper.model import WHOLE_PAGE, Document, PagePart, Reading
from scraper.urls import host_of
from scraper.workers import NoWorkerError, WorkerFailedError, WorkerPool

if TYPE_CHECKING:
    from scraper.extract.outlinks import Outlinks

T = TypeVar("T")
V = TypeVar("V")

log = logging.getLogger(__name__)

READ_LIMIT_S = 5.0
"""CPU seconds. The reader takes 10 to 100 ms for a page; a slower page is hostile."""
_FALLBACK_LIMIT_S = 3.0
"""CPU seconds for the fallback reader. Its time is linear: two seconds for the largest page."""

_WAITING_CHARS = 200
"""Characters. A page with less text that moves on by itself is a waiting page."""
_CLEARED_BY_SCRIPTS = frozenset({"captcha", "challenge", "proof_of_work"})
"""Reasons of block pages that may disappear when rendered. Other error pages do not change."""


@dataclass(frozen=True, slots=True)
class VisitResult:
    """Response of a visit with its document."""

    snapshot: Snapshot
    document: Document
    warnings: tuple[str, ...] = ()
    """Warnings for the caller, about robots.txt and consent dialogs."""
    outlinks: "Outlinks | None" = None
    """All links of the page; None unless it was read for a job, or if it was hard to read."""
    json_ld: tuple[dict[str, Any], ...] | None = ()
    """JSON-LD of a page that was read for a job; None if it could not be read."""

    def add_warnings(self, reading: Reading) -> Reading:
        """Return the reading with the warnings of the visit."""
        return replace(reading, warnings=(*reading.warnings, *self.warnings)) if self.warnings else reading


class RenderDecider:
    """Decide if a page must be rendered.

    The document of the page as served is reused, so that no page is read twice.
    """

    def __init__(
        self,
        workers: WorkerPool,
        deadline: Deadline,
        *,
        on_render: Callable[[], None],
        part: PagePart = WHOLE_PAGE,
        is_bulk: bool = False,
        takes_site_markdown: bool = False,
    ) -> None:
        """Extract in the workers before the deadline; call `on_render` before rendering. `part` is read only.

        With `takes_site_markdown`, a page is not rendered that names its Markdown.
        """
        self._takes_site_markdown = takes_site_markdown
        self._part = part
        self._is_bulk = is_bulk
        self._extras: tuple[Outlinks | None, tuple[dict[str, Any], ...] | None] = (None, ())
        """Links and JSON-LD of the page that was read last."""
        self.served: Snapshot | None = None
        """Response before rendering."""
        self._document: Document | None = None
        """Document of `served`."""
        self._workers = workers
        self._deadline = deadline
        self._on_render = on_render

    @property
    def has_text(self) -> bool:
        """True if the page as served has text."""
        return self._document is not None and bool(self._document.markdown.strip())

    async def is_enough(self, snapshot: Snapshot) -> bool:
        """Return True if the page as served has the content of the rendered page."""
        self.served, self._document = snapshot, None
        if not snapshot.html.strip() and "refresh" not in snapshot.headers:
            # Without markup there is no script that could add content.
            self._document = Document(url=snapshot.url)
            return True
        try:
            self._document = await self.read(snapshot)
        except WorkerFailedError:
            return False
        except errors.InvalidArgumentError:
            # Scripts may add the selected elements.
            self._on_render()
            return False
        if _is_enough(snapshot, self._document):
            return True
        if self._takes_site_markdown and has_site_markdown_only(snapshot, self._document):
            return True
        self._on_render()
        return False

    def served_result(self) -> VisitResult:
        """Return the page as served, marked as incomplete."""
        assert self.served is not None and self._document is not None
        return VisitResult(replace(self.served, complete=False), self._document, (), *self._extras)

    async def read_result(self, snapshot: Snapshot) -> VisitResult:
        """Return the final response with its document.

        Raises:
            BrowserFailedError: No worker process can be started.
            ContentTooLargeError: The page cannot be read within the limits.
            ScraperError: The response is not readable content.
        """
        if not snapshot.html:
            # The capture of a rendered page failed.
            return self.served_result() if self.has_text else VisitResult(snapshot, Document(snapshot.url))
        if not snapshot.rendered and self._document is not None:
            return VisitResult(snapshot, self._document, (), *self._extras)
        try:
            document = await self.read(snapshot)
            return VisitResult(snapshot, document, (), *self._extras)
        except WorkerFailedError as error:
            if self.has_text:
                return self.served_result()
            message = f"The page at {host_of(snapshot.url)} could not be read: {errors.hide_folders(str(error))}."
            target = snapshot.requested_url
            if isinstance(error, NoWorkerError):
                raise errors.BrowserFailedError(message, target=target, next_step="Try again in a moment.") from error
            raise errors.ContentTooLargeError(
                message, target=target, next_step="Look for a smaller page, or another source."
            ) from error

    async def read(self, snapshot: Snapshot) -> Document:
        """Return the document of a snapshot; use the fallback reader if the reader fails or is too slow.

        Raises:
            WorkerFailedError: The fallback reader failed too.
            ScraperError: The snapshot is not readable content.
        """
        # The reader uses the decoded text; the bytes are not sent to the worker.
        light = replace(snapshot, body=b"", json_responses=()) if snapshot.html else snapshot
        self._extras = (None, ())
        if snapshot.html and (self._part.select or self._part.exclude):
            read = partial(worker_jobs.read_part, select=self._part.select, exclude=self._part.exclude)
            return await self._run(read, light, READ_LIMIT_S)
        try:
            if self._is_bulk and snapshot.is_html:
                document, outlinks, json_ld = await self._run(worker_jobs.read_for_job, light, READ_LIMIT_S)
                self._extras = outlinks, json_ld
                return document
            return await self._run(worker_jobs.read, light, READ_LIMIT_S)
        except WorkerFailedError as error:
            if not light.html or self._deadline.left_s() <= 0:
                raise
            log.warning("a page of %s is read by the fallback reader: %s", host_of(snapshot.url), error)
            return await self._run(worker_jobs.read_in_one_pass, light, _FALLBACK_LIMIT_S)

    async def _run(self, read: Callable[[Snapshot], T], snapshot: Snapshot, limit_s: float) -> T:
        try:
            return await run_in_worker(self._workers, read, snapshot, limit_s, self._deadline)
        except (errors.ScraperError, WorkerFailedError):
            raise
        except Exception as error:
            log.exception("the reader failed on a page of %s", host_of(snapshot.url))
            raise WorkerFailedError("the reader failed on it") from error


async def run_in_worker(
    workers: WorkerPool, read: Callable[[V], T], argument: V, limit_s: float, deadline: Deadline
) -> T:
    """Run a function on a snapshot, or several, in a worker for up to `limit_s` of CPU time, and return its result.

    Raises:
        WorkerFailedError: It failed, or no worker was free before the deadline.
    """
    try:
        async with asyncio.timeout(deadline.left_s()):
            return await workers.run(read, argument, limit_s=limit_s, deadline_s=deadline.left_s())
    except TimeoutError as error:
        raise WorkerFailedError("no reader was free in time") from error


def has_site_markdown_only(snapshot: Snapshot, document: Document) -> bool:
    """Return True for a page as served that must be rendered for its text, but names its Markdown."""
    is_page = snapshot.status == 200 and not snapshot.rendered and "#" not in snapshot.requested_url
    return is_page and bool(document.site_markdown) and not _is_enough(snapshot, document)


def _is_enough(snapshot: Snapshot, document: Document) -> bool:
    verdict = document.verdict
    if snapshot.status >= 400:
        return verdict.reason not in _CLEARED_BY_SCRIPTS
    if "#" in snapshot.requested_url:
        # A script routes by the fragment: the server sends the same page for all of them.
        return False
    markup = snapshot.html.lower().replace('"', "").replace("'", "")
    moves_on = "refresh" in snapshot.headers or "http-equiv=refresh" in markup
    if len(document.markdown) < _WAITING_CHARS and moves_on:
        return False
    return verdict.ok or verdict.reason == "binary"
