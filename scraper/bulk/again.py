"""Whether a page that failed is worth another try in the same job, and when. Pure."""

from __future__ import annotations

from scraper import errors

__all__ = ["after_s"]

PATIENCE_S = 900.0
"""A host that wants to be left alone for longer is told as it is: a later run finds its pages done or not."""
SITE_TRIES = 2
SITE_PAUSE_S = 5.0
"""A site that failed is left alone for so long, all of it."""
OWN_TRIES = 5
OWN_PAUSE_S = 1.0
"""Until a browser that died is replaced."""
BUSY_TRIES = 20


def after_s(error: errors.ScraperError, tries: int) -> float | None:
    """After which pause the page is read again, having been tried so often; None: it is not."""
    if isinstance(error, errors.Overloaded):
        return error.retry_after_s if tries < BUSY_TRIES and error.retry_after_s <= PATIENCE_S else None
    if isinstance(error, errors.Broken):
        return OWN_PAUSE_S if tries < OWN_TRIES else None
    if error.retryable:
        return SITE_PAUSE_S if tries < SITE_TRIES else None
    return None
