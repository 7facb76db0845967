"""Request to search with several engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scraper.model import CachePolicy


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Request to query search engines."""

    query: str
    engines: Sequence[str] | None = None
    """Names; None for the default engines."""
    max_results: int = 10
    freshness: str | None = None
    """Oldest acceptable results: `day`, `week`, `month` or `year`."""
    include_domains: Sequence[str] = ()
    exclude_domains: Sequence[str] = ()
    category: str | None = None
    include_text: str | None = None
    exclude_text: str | None = None
    cache: CachePolicy = field(default_factory=CachePolicy)
    principal: str = "local"
    deadline_s: float = 55.0
    """Seconds. The deadline of each engine may be shorter."""
