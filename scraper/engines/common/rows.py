"""Rows as they stand on a page, before rank, dates and doubles are settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scraper.engines.common import snippet_dates
from scraper.engines.common.redirect_unwrapping import unwrap
from scraper.engines.model import EngineResult


@dataclass(frozen=True, slots=True)
class EngineRow:
    """One organic row as written."""

    title: str
    href: str
    """Absolute; still wrapped where the engine wraps."""
    snippet: str = ""
    date: str = ""
    """Where the engine keeps it apart from the snippet."""
    source: str = ""
    source_url: str = ""


def results(rows: Sequence[EngineRow], now: datetime) -> tuple[EngineResult, ...]:
    """Rows in order, none twice: unwrapped, with the date taken off the front of the snippet."""
    found: dict[tuple[str, str], EngineResult] = {}
    for row in rows:
        url = unwrap(row.href)
        if (url, row.title) not in found:
            found[url, row.title] = _result(row, url, len(found) + 1, now)
    return tuple(found.values())


def _result(row: EngineRow, url: str, rank: int, now: datetime) -> EngineResult:
    date, snippet = snippet_dates.cut(row.snippet, now)
    if row.date:
        date = snippet_dates.read(row.date, now) or date
    return EngineResult(
        rank=rank,
        title=row.title,
        url=url,
        snippet=snippet,
        date=date,
        source=row.source or None,
        source_url=row.source_url or None,
    )
