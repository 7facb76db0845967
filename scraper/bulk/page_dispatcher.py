"""Start the pages that a schedule selects, with limited concurrency, and retry or deliver them when they end."""

import asyncio
import contextlib
import dataclasses
import logging
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import ada_url
from cachetools import LRUCache

from browsers import Browsers
from scraper import errors
from scraper.bulk.model import JobPage, JobRate, PageOutcome
from scraper.bulk.page_reader import PageResult, make_skipped_row
from scraper.bulk.schedule import Schedule
from scraper.urls import same_site

_MAX_PAUSE_S = 900.0
"""Seconds. A page whose host requests a longer pause fails; a later run reads it."""
_SITE_TRIES = 2
"""Attempts per page after failures of its site."""
SITE_PAUSE_S = 5.0
"""Seconds without requests to a site after a failure, multiplied by the number of consecutive failures."""
SITE_PAUSES = 6
"""Largest multiple of `SITE_PAUSE_S`."""
DEAD_AFTER = 8
"""Consecutive failures after which a site counts as unreachable. With the pauses, these take a minute or two, in which
servers are restarted. Without a limit, one dead host of a thousand pages took an hour of pauses."""
_SILENT_S = 8.0
"""Seconds. An unreachable host that failed this slowly is not retried: connections time out after ten seconds."""
SILENT_NAME_PAUSE_S = 30.0
"""Seconds before a page is read again whose name server did not answer.

An earlier retry gets the failure of the same lookup: the system takes up to 30 s for one, and a failure is cached for
5 s.
"""
SILENT_NAME_TRIES = 5
"""Attempts per page after failures of the name server, if most such pages of the job succeed later.

Otherwise `_SITE_TRIES`: the name servers of these hosts may be gone.
"""
FUTILE_RETRIES = 4
"""Retries after failures of the name server from which their success counts.

If four times as many fail as succeed, only one page in `FUTILE_SAMPLE` is read again. Without this, each of 40 hosts
whose name server never answered took 2.6 s of a job instead of 1.4.
"""
FUTILE_SAMPLE = 8
BROWSER_TRIES = 5
"""Attempts per page after failures of the browser."""
_BROWSER_PAUSE_S = 1.0
"""Seconds until a crashed browser is replaced."""
BUSY_TRIES = 20
"""Attempts per page while the server is overloaded."""
NETWORK_PAUSE_S = 5.0
"""Seconds without requests after a page failed because this machine has no network."""
SILENT_ROBOTS = 4
"""Consecutive failures to load a site's robots.txt, five minutes apart, after which its pages fail."""
_SITES_LIMIT = 10_000
"""Sites in memory; more than are visited at once."""


@dataclass(slots=True)
class _Site:
    """A scheme, host and port whose last request failed."""

    failures: int = 0
    unreachable: int = 0
    """Consecutive failures in which the host was unreachable."""
    error: errors.ScraperError | None = None


class RetryPolicy:
    """Count the failures of pages and sites in one process, and decide on retries."""

    def __init__(self) -> None:
        """Start without failures."""
        self._tries: Counter[int] = Counter()
        self._failures: Counter[int] = Counter()
        """Attempts in which the site failed; waiting for a free slot does not count."""
        self._sites: LRUCache[str, _Site] = LRUCache(_SITES_LIMIT)
        self._silent_names: dict[int, errors.ScraperError] = {}
        """Unfinished pages whose name server did not answer."""
        self._recovered = self._unresolved = 0
        """Finished pages whose name server answered later, and those whose name server never did."""

    def get_site_error(self, page: JobPage) -> errors.ScraperError | None:
        """Return the error of a site that was repeatedly unreachable, or None.

        Pages of such a site are skipped. So is a page whose name server did not answer, if retries of such pages fail.
        """
        site = self._sites.get(_get_origin(page))
        if site is not None and site.unreachable >= DEAD_AFTER:
            return site.error
        is_futile = self._unresolved >= max(FUTILE_RETRIES, FUTILE_RETRIES * self._recovered)
        return self._silent_names.get(page.number) if is_futile and page.number % FUTILE_SAMPLE else None

    def pop_tries(self, page: JobPage) -> int:
        """Return the number of attempts of a finished page, and delete its counts."""
        self._failures.pop(page.number, None)
        self._silent_names.pop(page.number, None)
        return self._tries.pop(page.number, 0)

    def get_retry_delay_s(self, page: JobPage, error: errors.ScraperError | None, seconds: float = 0.0) -> float | None:
        """Record an attempt that took `seconds` and return the pause before the next one, or None for no retry.

        Attempts without a network do not count: the page is read when the network is back.
        """
        if isinstance(error, errors.OfflineError):
            return NETWORK_PAUSE_S
        self._tries[page.number] += 1
        tries = self._tries[page.number]
        if not isinstance(error, errors.NameServerSilentError):
            self._recovered += self._silent_names.pop(page.number, None) is not None
        if isinstance(error, errors.OverloadedError):
            return error.retry_after_s if tries < BUSY_TRIES and error.retry_after_s <= _MAX_PAUSE_S else None
        if isinstance(error, errors.BrowserFailedError):
            return _BROWSER_PAUSE_S if tries < BROWSER_TRIES else None
        if error is None or not _is_site_failure(error, page):
            self._sites.pop(_get_origin(page), None)
            return None
        site = self._count_site_failure(page, error)
        if isinstance(error, errors.NameServerSilentError):
            return self._get_name_delay_s(page, error, site)
        max_failures = SILENT_ROBOTS if isinstance(error, errors.RobotsDisallowedError) else DEAD_AFTER
        if self._failures[page.number] >= _SITE_TRIES or site.failures >= max_failures:
            return None
        is_down = isinstance(error, errors.HostDownError)
        # One name server may not know a host that another one knows.
        may_exist = error.retryable or (is_down and site.failures == 1)
        if not may_exist or (is_down and seconds >= _SILENT_S):
            return None
        return max(SITE_PAUSE_S * min(site.failures, SITE_PAUSES), _requested_pause_s(error))

    def _count_site_failure(self, page: JobPage, error: errors.ScraperError) -> _Site:
        site = self._sites.setdefault(_get_origin(page), _Site())
        site.failures += 1
        site.unreachable = site.unreachable + 1 if isinstance(error, errors.HostDownError) else 0
        site.error = error
        self._failures[page.number] += 1
        return site

    def _get_name_delay_s(self, page: JobPage, error: errors.ScraperError, site: _Site) -> float | None:
        """Return the pause before a page is read again whose name server did not answer, or None for no retry."""
        max_tries = SILENT_NAME_TRIES if self._recovered > self._unresolved else _SITE_TRIES
        is_last = self._failures[page.number] >= max_tries or site.failures >= DEAD_AFTER
        self._silent_names[page.number] = error
        self._unresolved += is_last
        return None if is_last else SILENT_NAME_PAUSE_S


def _is_site_failure(error: errors.ScraperError, page: JobPage) -> bool:
    """Return True if the error is temporary and may affect other pages of the site."""
    if isinstance(error, errors.RobotsDisallowedError):
        # If the page redirected to another site, its own site need not pause.
        return error.retryable and _requested_pause_s(error) <= _MAX_PAUSE_S and same_site(page.url, error.target)
    return error.retryable or isinstance(error, errors.HostDownError)


def _requested_pause_s(error: errors.ScraperError) -> float:
    """Return the seconds for which a retry cannot succeed."""
    return (error.retry_after_s or 0.0) if isinstance(error, errors.RobotsDisallowedError) else 0.0


def _get_origin(page: JobPage) -> str:
    """Return the origin of a page; another scheme or port may be another program."""
    origin: str = "" if page.problem else ada_url.URL(page.url).origin
    return origin


log = logging.getLogger(__name__)

GRACE_S = 10.0
"""Seconds for running pages to finish after a stop; the next run reads the unfinished ones."""

_CHECK_S = 0.5
"""Seconds between two checks of the allowed concurrency."""


def count_pages_at_once(rate: JobRate, browsers: Browsers) -> int:
    """Return the number of pages to read at once: that of the job, or as many as the browsers have slots now."""
    status = browsers.status()
    return rate.concurrency or status.peek_slots + status.render_slots


ReadPage = Callable[[JobPage], Awaitable[PageResult]]
"""Read one page. It must not raise errors of the page."""
Deliver = Callable[[PageOutcome], Awaitable[None]]
"""Receive the outcome of a page; wait while the receiver is busy."""


class PageDispatcher:
    """Read pages concurrently in one process."""

    def __init__(
        self,
        schedule: Schedule,
        read: ReadPage,
        deliver: Deliver,
        *,
        concurrency: Callable[[], int],
        on_change: Callable[[], None],
    ) -> None:
        """Read `concurrency()` pages of the schedule at once, and deliver their outcomes.

        `on_change` is called after a page started or ended, so that more pages can be added.
        """
        self._schedule = schedule
        self._read = read
        self._deliver = deliver
        self._concurrency = concurrency
        self._on_change = on_change
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._retries = RetryPolicy()
        self._error: BaseException | None = None
        self._no_network_until: float | None = None
        """Monotonic time at which a page is tried again; None while the network works."""
        self._is_over: Callable[[], bool] = lambda: True

    def __len__(self) -> int:
        """Return the number of running pages."""
        return len(self._tasks)

    @property
    def has_network(self) -> bool:
        """False while pages wait because this machine has no network."""
        return self._no_network_until is None

    def notify(self) -> None:
        """Wake up `run`, because pages were added or the job may end."""
        self._changed.set()

    def fail(self, error: BaseException) -> None:
        """Let `run` raise this exception."""
        self._error = self._error or error
        self._changed.set()

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Read pages until `is_over` returns True; then give running pages a short time to finish.

        Raises:
            BaseException: An exception of `read` or `deliver`, or the argument of `fail`.
        """
        self._is_over = is_over
        try:
            while not is_over():
                if self._error is not None:
                    raise self._error
                self._start_pages()
                # Wait until something has changed or a paused host may be visited again.
                wait_s = self._get_wait_s(time.monotonic())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(None if math.isinf(wait_s) else wait_s):
                        await self._changed.wait()
                self._changed.clear()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=GRACE_S)
        finally:
            self._is_over = lambda: True
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
        if self._error is not None:
            raise self._error

    def _get_wait_s(self, now: float) -> float:
        """Return the seconds until the next page may start; infinity if only an event can allow it."""
        if self._no_network_until is None:
            return min(self._schedule.wait_s(now), _CHECK_S)
        if now < self._no_network_until:
            return self._no_network_until - now
        return math.inf if self._tasks else self._schedule.wait_s(now)

    def _get_free_slots(self, now: float) -> int:
        if self._no_network_until is None:
            return self._concurrency() - len(self._tasks)
        return int(now >= self._no_network_until and not self._tasks)

    def _start_pages(self) -> None:
        now = time.monotonic()
        if self._error is not None or self._is_over():
            return
        while self._get_free_slots(now) > 0 and (page := self._schedule.take_page(now)) is not None:
            task = asyncio.create_task(self._read_page(page), name=f"bulk {page.host}")
            self._tasks.add(task)
            task.add_done_callback(self._on_task_end)
            self._on_change()

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = self._error or error
        self._changed.set()
        self._on_change()

    async def _read_page(self, page: JobPage) -> None:
        if (site_error := self._retries.get_site_error(page)) is not None:
            await self._finish_page(PageResult(PageOutcome(page, make_skipped_row(page.url, site_error), 0.0), None))
            return
        result = await self._read(page)
        now = time.monotonic()
        pause_s = self._retries.get_retry_delay_s(page, result.error, result.outcome.seconds)
        self._note_network(result, now)
        if pause_s is None:
            await self._finish_page(result)
        else:
            self._schedule.retry_page(
                page, requested_at=result.requested_at, not_before=now + pause_s, now=now, gap_s=result.gap_s
            )

    def _note_network(self, result: PageResult, now: float) -> None:
        """Pause the job while there is no network, and resume it when a page has reached its host."""
        if isinstance(result.error, errors.OfflineError):
            if self._no_network_until is None:
                log.warning("%s Pages wait until the network is back.", result.error)
            self._no_network_until = now + NETWORK_PAUSE_S
        elif self._no_network_until is not None and result.requested_at is not None:
            log.warning("The network is back.")
            self._no_network_until = None

    async def _finish_page(self, result: PageResult) -> None:
        page, now = result.outcome.page, time.monotonic()
        self._schedule.finish_page(page, requested_at=result.requested_at, now=now, gap_s=result.gap_s)
        # Start the next page here: `run` would get its turn only after all other tasks.
        self._start_pages()
        self._changed.set()
        tries = self._retries.pop_tries(page)
        await self._deliver(dataclasses.replace(await result.get_outcome(), tries=tries))
