"""What a visit came to, as a row. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from datetime import datetime

from browsers.model import Snapshot
from scraper.bulk.model import OutputRow, PageFailure
from scraper.errors import ScraperError
from scraper.model import Reading


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
