"""Decide if a failed page of a job is retried, and if its site counts as unreachable. The module does no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import ada_url
from cachetools import LRUCache

from scraper import errors
from scraper.bulk.model import JobPage
from scraper.urls import same_site

MAX_PAUSE_S = 900.0
"""Seconds. A page whose host requests a longer pause fails; a later run reads it."""
SITE_TRIES = 2
"""Attempts per page after failures of its site."""
SITE_PAUSE_S = 5.0
"""Seconds without requests to a site after a failure, multiplied by the number of consecutive failures."""
SITE_PAUSES = 6
"""Largest multiple of `SITE_PAUSE_S`."""
DEAD_AFTER = 8
"""Consecutive failures after which a site counts as unreachable. With the pauses, these take a minute or two, in which
servers are restarted. Without a limit, one dead host of a thousand pages took an hour of pauses."""
SILENT_S = 8.0
"""Seconds. An unreachable host that failed this slowly is not retried.

Name lookups and connections time out after ten seconds.
"""
BROWSER_TRIES = 5
"""Attempts per page after failures of the browser."""
BROWSER_PAUSE_S = 1.0
"""Seconds until a crashed browser is replaced."""
BUSY_TRIES = 20
"""Attempts per page while the server is overloaded."""
NETWORK_PAUSE_S = 5.0
"""Seconds without requests after a page failed because this machine has no network."""
SILENT_ROBOTS = 4
"""Consecutive failures to load a site's robots.txt, five minutes apart, after which its pages fail."""
SITES_LIMIT = 10_000
"""Sites in memory; more than are visited at once."""


@dataclass(slots=True)
class _Site:
    """A scheme, host and port whose last request failed."""

    failures: int = 0
    """Consecutive failures."""
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
        self._sites: LRUCache[str, _Site] = LRUCache(SITES_LIMIT)

    def get_site_error(self, page: JobPage) -> errors.ScraperError | None:
        """Return the error of a site that was repeatedly unreachable, or None.

        Pages of such a site are skipped.
        """
        site = self._sites.get(_get_origin(page))
        return site.error if site is not None and site.unreachable >= DEAD_AFTER else None

    def pop_tries(self, page: JobPage) -> int:
        """Return the number of attempts of a finished page, and delete its counts."""
        self._failures.pop(page.number, None)
        return self._tries.pop(page.number, 0)

    def get_retry_delay_s(self, page: JobPage, error: errors.ScraperError | None, seconds: float = 0.0) -> float | None:
        """Record an attempt that took `seconds` and return the pause before the next one, or None for no retry.

        Attempts without a network do not count: the page is read when the network is back.
        """
        if isinstance(error, errors.OfflineError):
            return NETWORK_PAUSE_S
        self._tries[page.number] += 1
        tries = self._tries[page.number]
        if isinstance(error, errors.OverloadedError):
            return error.retry_after_s if tries < BUSY_TRIES and error.retry_after_s <= MAX_PAUSE_S else None
        if isinstance(error, errors.BrowserFailedError):
            return BROWSER_PAUSE_S if tries < BROWSER_TRIES else None
        if error is None or not _is_site_failure(error, page):
            self._sites.pop(_get_origin(page), None)
            return None
        is_down = isinstance(error, errors.HostDownError)
        site = self._sites.setdefault(_get_origin(page), _Site())
        site.failures += 1
        site.unreachable = site.unreachable + 1 if is_down else 0
        site.error = error
        self._failures[page.number] += 1
        max_failures = SILENT_ROBOTS if isinstance(error, errors.RobotsDisallowedError) else DEAD_AFTER
        is_last = self._failures[page.number] >= SITE_TRIES or site.failures >= max_failures
        # One name server may not know a host that another one knows.
        may_exist = error.retryable or (is_down and site.failures == 1)
        if not may_exist or is_last or (is_down and seconds >= SILENT_S):
            return None
        return max(SITE_PAUSE_S * min(site.failures, SITE_PAUSES), _requested_pause_s(error))


def _is_site_failure(error: errors.ScraperError, page: JobPage) -> bool:
    """Return True if the error is temporary and may affect other pages of the site."""
    if isinstance(error, errors.RobotsDisallowedError):
        # If the page redirected to another site, its own site need not pause.
        return error.retryable and _requested_pause_s(error) <= MAX_PAUSE_S and same_site(page.url, error.target)
    return error.retryable or isinstance(error, errors.HostDownError)


def _requested_pause_s(error: errors.ScraperError) -> float:
    """Return the seconds for which a retry cannot succeed."""
    return (error.retry_after_s or 0.0) if isinstance(error, errors.RobotsDisallowedError) else 0.0


def _get_origin(page: JobPage) -> str:
    """Return the origin of a page; another scheme or port may be another program."""
    origin: str = "" if page.problem else ada_url.URL(page.url).origin
    return origin
