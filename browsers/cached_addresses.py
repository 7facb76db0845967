"""Which addresses the HTTP cache of a tab may still hold something of.

Emptying the cache after each peek took a tenth of its CPU. But nobody sees an entry of it who does not ask
for its very address: so it is emptied before an address comes again, and before it grows.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

__all__ = ["CachedAddresses"]

MOST_ADDRESSES = 32
MOST_BYTES = 4_000_000
"""Of bodies: a tab's cache lies in memory."""


class CachedAddresses:
    """What was answered since the cache was emptied."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._bytes = 0

    def __contains__(self, url: str) -> bool:
        return bool(self._keys) and _key(url) in self._keys

    @property
    def full(self) -> bool:
        """Whether the cache should be emptied for its size."""
        return len(self._keys) > MOST_ADDRESSES or self._bytes > MOST_BYTES

    def add(self, url: str, size: int = 0) -> None:
        """Note an answer of so many bytes."""
        self._keys.add(_key(url))
        self._bytes += size

    def clear(self) -> None:
        """The cache is empty."""
        self._keys.clear()
        self._bytes = 0


def _key(url: str) -> str:
    """The same for all spellings of an address: two with different keys differ for Chromium too."""
    parts = urlsplit(url)
    return unquote(f"{parts.netloc.lower()}{parts.path or '/'}?{parts.query}").lower()
