"""What a caller wants kept or left out, held against merged rows: engines are told of it and forget it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from scraper.search.categories import is_within, of_category
from scraper.search.fusion import MergedResults

FRESHNESS: Mapping[str, timedelta] = MappingProxyType(
    {
        "day": timedelta(days=1),
        "week": timedelta(days=7),
        "month": timedelta(days=31),
        "year": timedelta(days=366),
    }
)
SLACK = timedelta(days=1)
"""A date without a time, in a zone that nobody told, is off by so much."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What rows must be; everything empty lets all of them through."""

    freshness: str | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    category: str | None = None
    include_text: str | None = None
    exclude_text: str | None = None

    def kept(
        self, rows: Sequence[MergedResults], now: datetime
    ) -> tuple[tuple[MergedResults, ...], Mapping[str, int]]:
        """The rows that fit, and how many each argument dropped."""
        dropped: dict[str, int] = {}
        left = tuple(rows)
        for name, test in self._tests(now):
            if test is None:
                continue
            fitting = tuple(row for row in left if test(row))
            if len(fitting) < len(left):
                dropped[name] = len(left) - len(fitting)
            left = fitting
        return left, dropped

    def _tests(self, now: datetime) -> Iterator[tuple[str, Callable[[MergedResults], bool] | None]]:
        yield "include_domains", self._included if self.include_domains else None
        yield "exclude_domains", self._not_excluded if self.exclude_domains else None
        yield "category", self._of_category if self.category else None
        yield "freshness", (lambda row: self._is_fresh(row, now)) if self.freshness else None
        yield "include_text", self._has_text if self.include_text else None
        yield "exclude_text", self._lacks_text if self.exclude_text else None

    def _included(self, row: MergedResults) -> bool:
        return any(is_within(row.host, domain) for domain in self.include_domains)

    def _not_excluded(self, row: MergedResults) -> bool:
        return not any(is_within(row.host, domain) for domain in self.exclude_domains)

    def _of_category(self, row: MergedResults) -> bool:
        assert self.category is not None
        return of_category(self.category, row.host, row.best.url, row.engines)

    def _is_fresh(self, row: MergedResults, now: datetime) -> bool:
        """A row without a date is left to the engines, which know more dates than they show."""
        assert self.freshness is not None
        dates = [result.date for _, result in row.rows if result.date is not None]
        return not dates or max(dates) >= now - FRESHNESS[self.freshness] - SLACK

    def _has_text(self, row: MergedResults) -> bool:
        return self.include_text is not None and _holds(row, self.include_text)

    def _lacks_text(self, row: MergedResults) -> bool:
        return self.exclude_text is None or not _holds(row, self.exclude_text)


def _holds(row: MergedResults, text: str) -> bool:
    sought = " ".join(text.casefold().split())
    return any(
        sought in " ".join(f"{result.title}\n{result.snippet}".casefold().split()) for _, result in row.rows
    )
