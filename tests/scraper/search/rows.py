"""Builders of result rows of engines."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scraper.engines.model import EngineResult
from scraper.search.fusion import EngineRanking


def row(
    rank: int, url: str, title: str = "", snippet: str = "", date: datetime | None = None, **more: Any
) -> EngineResult:
    """Return one row; its title is the URL by default."""
    return EngineResult(rank, title or url, url, snippet, date, **more)


def listed(engine: str, *urls: str, family: str = "") -> EngineRanking:
    """Return the rows of an engine in this order."""
    rows = tuple(row(rank, url) for rank, url in enumerate(urls, 1))
    return EngineRanking(engine, family or engine, rows)
