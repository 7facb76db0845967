"""List of pages that are checked for changes, each at its own interval."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from scraper.call_context import Deadline
from scraper.errors import ScraperError
from scraper.reading.batch import read_with_other_urls
from scraper.site.model import PageChange
from scraper.site.page_change_tracker import PAGES_AT_ONCE, PageChangeTracker
from scraper.store.record_logs import RecordLogs

_PRINCIPAL = "local"
_LOG = "watch:"
_EARLY_SHARE = 0.05
"""Share of the interval by which a page may be checked early, because cron starts at slightly different times."""
_DEADLINE_S = 120.0
"""Seconds to read all pages that are due."""

Outcome = PageChange | ScraperError


@dataclass(frozen=True, slots=True)
class WatchedPage:
    """A page of the list with the time and status of its last check."""

    url: str
    every_s: int
    """Minimum seconds between two checks."""
    added_at: float
    checked_at: float = 0.0
    """Unix time of the last check, 0 before the first; `added_at` is one too."""
    status: str = "new"
    """Status of `PageChange`, `failed`, or `new` before the first check."""
    other_url: str = ""
    """URL that replaces `url` if only this one can be reached, for an address without a scheme."""

    def is_due(self, now: float) -> bool:
        """Return True if the interval since the last check has passed."""
        # A clock that was set back must not postpone a page.
        return now < self.checked_at or now - self.checked_at >= self.every_s * (1 - _EARLY_SHARE)


class WatchList:
    """Pages in the record logs of the local user, one log for each page."""

    def __init__(self, records: RecordLogs) -> None:
        """Keep the list in `records`."""
        self._records = records

    async def pages(self) -> list[WatchedPage]:
        """Return all pages of the list."""
        names = await self._records.list_logs(_PRINCIPAL, _LOG)
        logs = [await self._records.read(_PRINCIPAL, name) for name in names]
        return [WatchedPage(**json.loads(rows[-1].data)) for rows in logs if rows]

    async def add(self, page: WatchedPage) -> WatchedPage:
        """Add a page, or replace its interval; return it with the URL that the list knows it by."""
        if any(known.url == page.other_url for known in await self.pages()):
            page = replace(page, url=page.other_url, other_url="")
        await self._write(page)
        return page

    async def remove(self, urls: Collection[str]) -> list[str]:
        """Remove the pages with these URLs; return those that were in the list."""
        found = sorted({page.url for page in await self.pages()}.intersection(urls))
        for url in found:
            await self._records.delete(_PRINCIPAL, _LOG + url)
        return found

    async def check(
        self, tracker: PageChangeTracker, pages: Sequence[WatchedPage], now: float
    ) -> list[tuple[WatchedPage, Outcome]]:
        """Compare pages with their last versions and store the outcomes; return each page with its own."""
        compared = await _compare(tracker, pages)
        for stored, (page, outcome) in zip(pages, compared, strict=True):
            if page.url != stored.url:
                await self._records.delete(_PRINCIPAL, _LOG + stored.url)
            if isinstance(outcome, ScraperError):
                checked = replace(page, checked_at=now, status="failed")
            else:
                checked = replace(page, checked_at=now, status=outcome.status, other_url="")
            await self._write(checked)
        return compared

    async def _write(self, page: WatchedPage) -> None:
        rows = await self._records.read(_PRINCIPAL, _LOG + page.url)
        number = rows[-1].number + 1 if rows else 0
        await self._records.append(_PRINCIPAL, _LOG + page.url, number, json.dumps(asdict(page)).encode())
        await self._records.delete(_PRINCIPAL, _LOG + page.url, below=number)


async def _compare(tracker: PageChangeTracker, pages: Sequence[WatchedPage]) -> list[tuple[WatchedPage, Outcome]]:
    """Compare the pages; return each with the URL that could be reached, and its outcome."""
    slots, deadline = asyncio.Semaphore(PAGES_AT_ONCE), Deadline.within(_DEADLINE_S)

    async def compare_one(page: WatchedPage) -> tuple[WatchedPage, Outcome]:
        async def compare(others: Mapping[str, str]) -> tuple[str, Outcome]:
            url = others.get(page.url, page.url)
            (outcome,) = await tracker.compare([url], deadline_s=deadline.left_s())
            return url, outcome

        async with slots:
            url, outcome = await read_with_other_urls(compare, {page.url: page.other_url}, lambda one: dict([one]))
        if url != page.url and not isinstance(outcome, ScraperError):
            page = replace(page, url=url, other_url="")
        return page, outcome

    return await asyncio.gather(*map(compare_one, pages))
