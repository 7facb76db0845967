"""Look up stored pages under the current settings, search them, and revalidate them (RFC 9110, section 13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from browsers.model import Snapshot
from scraper.caching.read_through import StoreLookup
from scraper.model import CachedPageSummary, PageHits, Reading
from scraper.settings import Settings
from scraper.store.protocols import CacheScope, PageEntry, PageStore
from scraper.urls import request_key

HOUR_S = 3_600.0
NOT_MODIFIED = 304
_MAX_VALIDATOR_CHARS = 500
"""Characters of an ETag or date. Longer ones are ignored: no server compares them."""
_REVALIDATION_AGE_S = 365 * 24 * HOUR_S
"""Seconds. An older page is not revalidated but read again."""


class PageCache:
    """Stored pages that the current settings allow to return."""

    def __init__(self, pages: PageStore, settings: Settings) -> None:
        """Use a page store under the operator's settings."""
        self.store = pages
        self._language = settings.language
        self._default_age_s = settings.cache_ttl_h * HOUR_S
        hosts = {f"{name}={address}:{port}" for name, address, port in settings.test_hosts}
        # A proxy that resolves names itself may reach hosts that would be refused here.
        proxies = {"proxy"} if settings.proxy else set()
        self._exceptions = frozenset(settings.allow_nets) | hosts | proxies
        """Exceptions from the address rules that the operator allows; stored with each page."""

    async def find(
        self, url: str, principal: str, *, methods: tuple[str, ...], max_age_s: float | None = None
    ) -> StoreLookup[Reading]:
        """Look up the caller's page of a canonical URL, read by one of `methods`.

        A page older than `max_age_s` seconds (by default the operator's limit) is returned as `stale` if it has
        validators.
        """
        limit_s = self._default_age_s if max_age_s is None else max_age_s
        entry = await self.store.get(
            url,
            scope=self._scope(principal),
            methods=methods,
            max_age_s=max(limit_s, _REVALIDATION_AGE_S),
            allowed=self._exceptions,
        )
        if entry is None:
            return StoreLookup()
        if (datetime.now(UTC) - entry.reading.retrieved_at).total_seconds() <= limit_s:
            return StoreLookup(fresh=replace(entry.reading, cached=True))
        return StoreLookup(stale=entry.reading if build_conditions(entry.reading) else None)

    def put(self, url: str, principal: str, reading: Reading) -> None:
        """Store a reading of a canonical URL; returns at once."""
        self.store.put(PageEntry(self._scope(principal), url, reading, self._exceptions))

    async def search(self, query: str, *, principal: str = "local", limit: int = 10) -> PageHits:
        """Return the pages that match a query, best first."""
        return await self.store.search(query, principal=principal, allowed=self._exceptions, limit=limit)

    async def recent(
        self, *, principal: str = "local", limit: int = 50, before: int | None = None
    ) -> list[CachedPageSummary]:
        """Return pages, newest first; with `before`, only those after the entry with this number in the list."""
        return await self.store.list_recent(principal=principal, allowed=self._exceptions, limit=limit, before=before)

    async def page(self, url: str, *, principal: str = "local") -> Reading | None:
        """Return the newest reading of a URL, or None."""
        entry = await self.store.find(url, principal=principal, allowed=self._exceptions)
        return None if entry is None else entry.reading

    def _scope(self, principal: str) -> CacheScope:
        return CacheScope(principal=principal, language=self._language)


def add_validators(reading: Reading, headers: Mapping[str, str]) -> Reading:
    """Return the reading with the validators of its response; header names are in lower case."""
    etag, modified = _parse_validator(headers.get("etag")), _parse_validator(headers.get("last-modified"))
    if not (etag or modified):
        return reading
    return replace(reading, etag=etag or reading.etag, last_modified=modified or reading.last_modified)


def build_conditions(stale: Reading) -> tuple[tuple[str, str], ...]:
    """Return the request headers that revalidate a reading; empty if it has no validators."""
    headers = (("If-None-Match", stale.etag), ("If-Modified-Since", stale.last_modified))
    return tuple((name, value) for name, value in headers if value)


def revalidate(stale: Reading, snapshot: Snapshot) -> Reading | None:
    """Return the reading as of now if the site answered that it has not changed, else None."""
    # A redirect may have led to another page, which is unchanged for itself only.
    if snapshot.status != NOT_MODIFIED or request_key(stale.url) != request_key(snapshot.url):
        return None
    # RFC 9111, 4.3.4: the headers of the response update those of the stored one.
    return replace(add_validators(stale, snapshot.headers), retrieved_at=datetime.now(UTC))


def _parse_validator(value: str | None) -> str | None:
    return value if value and len(value) <= _MAX_VALIDATOR_CHARS and value.isprintable() else None
