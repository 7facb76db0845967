"""Which of the pages that wait to be written may be given out meanwhile, by the rules of kept ones."""

from __future__ import annotations

import time
from collections.abc import Iterable

from scraper.store.protocols import PageEntry
from scraper.store.sqlite.page_rows import FUTURE_S


def newest(
    waiting: Iterable[PageEntry | None], *, max_age_s: float, allowed: frozenset[str]
) -> PageEntry | None:
    """The newest entry that is not older than `max_age_s`, read under rules still valid."""
    now = time.time()
    found = [
        entry
        for entry in waiting
        if entry is not None
        and entry.allowances <= allowed
        and -FUTURE_S <= now - entry.reading.retrieved_at.timestamp() <= max_age_s
    ]
    return max(found, key=lambda entry: entry.reading.retrieved_at, default=None)
