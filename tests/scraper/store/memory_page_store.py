"""A minimal second backend: the guarantees of the protocol must not depend on SQLite."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from scraper.model import CachedPageSummary, PageHit, PageHits
from scraper.store.protocols import CacheScope, PageEntry, PageStoreStats

FUTURE_S = 60.0


@dataclass(frozen=True, slots=True)
class _Kept:
    number: int
    entry: PageEntry


class MemoryPageStore:
    """The `PageStore` protocol over a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[tuple[CacheScope, str, str], _Kept] = {}
        self._hits = self._misses = self._written = 0

    async def get(
        self, key: str, *, scope: CacheScope, methods: tuple[str, ...], max_age_s: float, allowed: frozenset[str]
    ) -> PageEntry | None:
        now = time.time()
        found = [
            kept.entry
            for method in methods
            if max_age_s > 0
            and (kept := self._kept.get((scope, key, method))) is not None
            and kept.entry.allowances <= allowed
            and -FUTURE_S <= now - _moment(kept.entry) <= max_age_s
        ]
        self._hits += bool(found)
        self._misses += not found
        return max(found, key=_moment, default=None)

    def put(self, entry: PageEntry) -> None:
        self._written += 1
        place = (entry.scope, entry.key, entry.reading.method)
        self._kept.pop(place, None)
        self._kept[place] = _Kept(self._written, entry)

    async def flush(self) -> None:
        pass

    async def search(self, query: str, *, principal: str, allowed: frozenset[str], limit: int) -> PageHits:
        found: dict[str, PageHit] = {}
        for kept in reversed(list(self._of(principal, allowed))):
            reading = kept.entry.reading
            words = f"{reading.document.title or ''} {reading.document.text}".casefold().split()
            if query and all(word in words for word in query.casefold().split()):
                hit = PageHit(reading.url, reading.document.title or "", "", 0, _moment(kept.entry), 1.0)
                found.setdefault(reading.url, hit)
        return PageHits(tuple(found.values())[:limit])

    async def list_recent(
        self, *, principal: str, allowed: frozenset[str], limit: int, before: int | None = None
    ) -> list[CachedPageSummary]:
        facts = []
        for kept in reversed(list(self._of(principal, allowed))):
            reading = kept.entry.reading
            if before is None or kept.number < before:
                size = len(reading.document.text)
                title = reading.document.title or ""
                facts.append(CachedPageSummary(kept.number, reading.url, title, size, _moment(kept.entry)))
        return facts[:limit]

    async def find(self, url: str, *, principal: str, allowed: frozenset[str]) -> PageEntry | None:
        found = [kept.entry for kept in self._of(principal, allowed) if kept.entry.reading.url == url]
        return max(found, key=_moment, default=None)

    async def iter_entries(self) -> AsyncIterator[PageEntry]:
        for kept in list(self._kept.values()):
            yield kept.entry

    async def clear(self) -> int:
        count = len(self._kept)
        self._kept.clear()
        return count

    async def stats(self) -> PageStoreStats:
        size = sum(len(kept.entry.reading.document.text) for kept in self._kept.values())
        return PageStoreStats(True, None, len(self._kept), size, self._hits, self._misses, self._written, 0)

    async def close(self) -> None:
        pass

    def _of(self, principal: str, allowed: frozenset[str]) -> Iterator[_Kept]:
        for (scope, _, _), kept in self._kept.items():
            if scope.principal == principal and kept.entry.allowances <= allowed:
                yield kept


def _moment(entry: PageEntry) -> float:
    return entry.reading.retrieved_at.timestamp()
