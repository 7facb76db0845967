"""Rows as they stand on a page, before rank, dates and doubles are settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scraper.engines import dates
from scraper.engines.model import EngineResult
from scraper.engines.unwrap import unwrap

__all__ = ["Row", "results"]


@dataclass(frozen=True, slots=True)
class Row:
    """One organic row as written."""

    title: str
    href: str
    """Absolute; still wrapped where the engine wraps."""
    snippet: str = ""
    date: str = ""
    """Where the engine keeps it apart from the snippet."""
    source: str = ""
    source_url: str = ""


def results(rows: Sequence[Row], now: datetime) -> tuple[EngineResult, ...]:
    """Rows in order, none twice: unwrapped, with the date taken off the front of the snippet."""
    found: dict[tuple[str, str], EngineResult] = {}
    for row in rows:
        url = unwrap(row.href)
        if (url, row.title) not in found:
            found[url, row.title] = _result(row, url, len(found) + 1, now)
    return tuple(found.values())


def _result(row: Row, url: str, rank: int, now: datetime) -> EngineResult:
    date, snippet = dates.cut(row.snippet, now)
    if row.date:
        date = dates.read(row.date, now) or date
    return EngineResult(
        rank=rank,
        title=row.title,
        url=url,
        snippet=snippet,
        date=date,
        source=row.source or None,
        source_url=row.source_url or None,
    )
