"""Asks a site whether a page that was read before has changed, instead of reading it again (RFC 9110, 13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from scraper.model import Reading

__all__ = ["conditions", "renewed", "with_validators"]

NOT_MODIFIED = 304
VALIDATOR_CHARS = 500
"""Longer ones are no validators that a server compares."""


def with_validators(reading: Reading, headers: Mapping[str, str]) -> Reading:
    """The reading with what the server calls this version of the page; header names in lower case."""
    etag, modified = headers.get("etag"), headers.get("last-modified")
    if not (etag or modified):
        return reading
    return replace(reading, etag=_short(etag), last_modified=_short(modified))


def conditions(stale: Reading) -> tuple[tuple[str, str], ...]:
    """The request headers that ask whether it is still this version; none when nobody could tell."""
    headers = []
    if stale.etag:
        headers.append(("If-None-Match", stale.etag))
    if stale.last_modified:
        headers.append(("If-Modified-Since", stale.last_modified))
    return tuple(headers)


def renewed(stale: Reading, status: int) -> Reading | None:
    """The reading as of now, when the site says that nothing has changed."""
    return replace(stale, retrieved_at=datetime.now(UTC)) if status == NOT_MODIFIED else None


def _short(value: str | None) -> str | None:
    return value if value and len(value) <= VALIDATOR_CHARS and value.isprintable() else None
