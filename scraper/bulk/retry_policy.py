"""Decide if a failed page of a job is retried, and if its site counts as unreachable. The module does no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import ada_url
from cachetools import LRUCache

from scraper import errors
from scraper.bulk.model import JobPage
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
        is_name_silent = isinstance(error, errors.NameServerSilentError)
        if not is_name_silent and self._silent_names.pop(page.number, None) is not None:
            self._recovered += 1
        if isinstance(error, errors.OverloadedError):
            return error.retry_after_s if tries < BUSY_TRIES and error.retry_after_s <= _MAX_PAUSE_S else None
        if isinstance(error, errors.BrowserFailedError):
            return _BROWSER_PAUSE_S if tries < BROWSER_TRIES else None
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
        max_tries = SILENT_NAME_TRIES if is_name_silent and self._recovered > self._unresolved else _SITE_TRIES
        is_last = self._failures[page.number] >= max_tries or site.failures >= max_failures
        if is_name_silent:
            self._silent_names[page.number] = error
            self._unresolved += is_last
            return None if is_last else SILENT_NAME_PAUSE_S
        # One name server may not know a host that another one knows.
        may_exist = error.retryable or (is_down and site.failures == 1)
        if not may_exist or is_last or (is_down and seconds >= _SILENT_S):
            return None
        return max(SITE_PAUSE_S * min(site.failures, SITE_PAUSES), _requested_pause_s(error))


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
