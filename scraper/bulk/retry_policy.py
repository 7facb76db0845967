"""Whether a page that failed is worth another try in the same job, and its host any. Pure."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass

import ada_url

from scraper import errors
from scraper.bulk.model import JobPage
from scraper.urls import same_site

PATIENCE_S = 900.0
"""A host that wants to be left alone for longer is told as it is: a later run finds its pages done or not."""
SITE_TRIES = 2
SITE_PAUSE_S = 5.0
"""A site that failed is left alone for so long, all of it; for each failure in a row longer by as much."""
SITE_PAUSES = 6
"""So many times as long at the most."""
IN_A_ROW = 8
"""Failures after which a site is taken for broken. With the pauses that is a minute or two, in which servers
are started anew; without an end, one dead host of a thousand pages took an hour of pauses."""
SILENT_S = 8.0
"""Names and connections are waited for ten seconds; a host that let them pass is not waited for again."""
OWN_TRIES = 5
OWN_PAUSE_S = 1.0
"""Until a browser that died is replaced."""
BUSY_TRIES = 20
SILENT_ROBOTS = 4
"""Times in a row that a site's robots.txt is not to be had, five minutes apart; then its pages say so."""
SITES_KEPT = 10_000
"""More than are under work at once."""


@dataclass(slots=True)
class _Site:
    """A scheme, host and port that failed when it was asked last."""

    failures: int = 0
    """In a row."""
    down: int = 0
    """Of them those at the end in which nobody was there."""
    error: errors.ScraperError | None = None


class RetryPolicy:
    """What has failed so far in one process."""

    def __init__(self) -> None:
        self._of_page: Counter[int] = Counter()
        self._failed_of_page: Counter[int] = Counter()
        """Those of them in which its site failed: a wait for its turn is none."""
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    def lost(self, page: JobPage) -> errors.ScraperError | None:
        """Why a page need not be asked for: nobody was at its site, time after time."""
        site = self._sites.get(_site_of(page))
        return site.error if site is not None and site.down >= IN_A_ROW else None

    def of(self, page: JobPage) -> int:
        """How often a page was tried that has come to its end; it is forgotten."""
        self._failed_of_page.pop(page.number, None)
        return self._of_page.pop(page.number, 0)

    def after_s(self, page: JobPage, error: errors.ScraperError | None, seconds: float = 0.0) -> float | None:
        """A page was read, or failed after `seconds`: after which pause it is read again; None: it is not."""
        self._of_page[page.number] += 1
        tries = self._of_page[page.number]
        if isinstance(error, errors.OverloadedError):
            return error.retry_after_s if tries < BUSY_TRIES and error.retry_after_s <= PATIENCE_S else None
        if isinstance(error, errors.BrowserFailedError):
            return OWN_PAUSE_S if tries < OWN_TRIES else None
        if error is None or not _may_pass(error, page):
            self._sites.pop(_site_of(page), None)
            return None
        failures = self._failed(_site_of(page), error)
        self._failed_of_page[page.number] += 1
        in_a_row = SILENT_ROBOTS if isinstance(error, errors.RobotsDisallowedError) else IN_A_ROW
        is_last = self._failed_of_page[page.number] >= SITE_TRIES or failures >= in_a_row
        was_silent = isinstance(error, errors.HostDownError) and seconds >= SILENT_S
        if not error.retryable or was_silent or is_last:
            return None
        return max(SITE_PAUSE_S * min(failures, SITE_PAUSES), _asked_s(error))

    def _failed(self, name: str, error: errors.ScraperError) -> int:
        """How often a site has failed in a row, this time included."""
        site = self._sites.setdefault(name, _Site())
        self._sites.move_to_end(name)
        if len(self._sites) > SITES_KEPT:
            self._sites.popitem(last=False)
        site.failures += 1
        site.down = site.down + 1 if isinstance(error, errors.HostDownError) else 0
        site.error = error
        return site.failures


def _may_pass(error: errors.ScraperError, page: JobPage) -> bool:
    """Whether another page of the site could fail alike, and later none."""
    if isinstance(error, errors.RobotsDisallowedError):
        # Where the page led to another site, its own need not rest for that one's silence.
        return error.retryable and _asked_s(error) <= PATIENCE_S and same_site(page.url, error.target)
    return error.retryable or isinstance(error, errors.HostDownError)


def _asked_s(error: errors.ScraperError) -> float:
    """How long nothing can have changed."""
    return (error.retry_after_s or 0.0) if isinstance(error, errors.RobotsDisallowedError) else 0.0


def _site_of(page: JobPage) -> str:
    """What is up or down as one: another scheme or port may be served by a program of its own."""
    origin: str = "" if page.problem else ada_url.URL(page.url).origin
    return origin
