"""Asks a site whether a page that was read before has changed, instead of reading it again (RFC 9110, 13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from browsers.model import Snapshot
from scraper.model import Reading
from scraper.store.protocols import PageEntry
from scraper.urls import cache_key

NOT_MODIFIED = 304
VALIDATOR_CHARS = 500
"""Longer ones are no validators that a server compares."""
REVALIDATED_S = 365 * 24 * 3_600.0
"""A page read longer ago is read anew."""


@dataclass(frozen=True, slots=True)
class CachedReading:
    """What the cache has of a page: a reading to be given out, or one to be asked about, or neither."""

    fresh: Reading | None = None
    stale: Reading | None = None


def known(entry: PageEntry | None, max_age_s: float) -> CachedReading:
    """How old a reading may be is the caller's; whether the site can tell of an older one, its headers'."""
    if entry is None:
        return CachedReading()
    age_s = (datetime.now(UTC) - entry.reading.retrieved_at).total_seconds()
    if age_s <= max_age_s:
        return CachedReading(fresh=replace(entry.reading, cached=True))
    return CachedReading(stale=entry.reading if conditions(entry.reading) else None)


def with_validators(reading: Reading, headers: Mapping[str, str]) -> Reading:
    """The reading with what the server calls this version of the page; header names in lower case."""
    etag, modified = _short(headers.get("etag")), _short(headers.get("last-modified"))
    if not (etag or modified):
        return reading
    return replace(reading, etag=etag or reading.etag, last_modified=modified or reading.last_modified)


def conditions(stale: Reading) -> tuple[tuple[str, str], ...]:
    """The request headers that ask whether it is still this version; none when nobody could tell."""
    headers = []
    if stale.etag:
        headers.append(("If-None-Match", stale.etag))
    if stale.last_modified:
        headers.append(("If-Modified-Since", stale.last_modified))
    return tuple(headers)


def renewed(stale: Reading, snapshot: Snapshot) -> Reading | None:
    """The reading as of now, when the site says that nothing has changed."""
    if snapshot.status != NOT_MODIFIED or not is_same_address(stale, snapshot):
        return None
    # RFC 9111, 4.3.4: what the answer says of the page is news even where the page is not.
    return replace(with_validators(stale, snapshot.headers), retrieved_at=datetime.now(UTC))


def is_same_address(stale: Reading, snapshot: Snapshot) -> bool:
    """Whether the way ended where it ended before: another page has its own reasons to be unchanged."""
    return cache_key(stale.url) == cache_key(snapshot.url)


def _short(value: str | None) -> str | None:
    return value if value and len(value) <= VALIDATOR_CHARS and value.isprintable() else None
