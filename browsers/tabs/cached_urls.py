"""Which addresses the HTTP cache of a tab may still hold something of.

Emptying the cache after each peek took a tenth of its CPU. But nobody sees an entry of it who does not ask
for its very address: so it is emptied before an address comes again, before a page is let in, which may ask
for any, and before it grows.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from browsers.http.url_credentials import without_userinfo

MOST_ADDRESSES = 32
MOST_BYTES = 4_000_000
"""Of bodies: a tab's cache lies in memory."""

_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_PLAIN = re.compile(
    rf"https?://(?:(?:{_BYTE}\.){{3}}{_BYTE}(?=[:/?#]|\Z)|(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*\.?)"
    r"(?!:(?:80|443)(?:[/?#]|\Z))(?::[1-9]\d*)?"
    r"(?:[/?#](?!(?:[^?#]*/)?(?:\.|%2e))[!-\[\]-~]*)?",
    re.ASCII | re.IGNORECASE,
)
"""An address that stands there as browsers write it, but for letters and percents. Others (dots to go up by,
the usual port, a host in foreign letters, other numbers for a host, backslashes) may mean any."""


class CachedAddresses:
    """What was answered since the cache was emptied."""

    def __init__(self) -> None:
        self.of_others = False
        """Whether some of it was answered to an earlier visit."""
        self._keys: set[str] = set()
        self._bytes = 0

    def __contains__(self, url: str) -> bool:
        return bool(self._keys) and (_PLAIN.fullmatch(url) is None or _key(url) in self._keys)

    @property
    def full(self) -> bool:
        """Whether the cache should be emptied for its size."""
        return len(self._keys) > MOST_ADDRESSES or self._bytes > MOST_BYTES

    def add(self, url: str, size: int = 0) -> None:
        """Note an answer of so many bytes."""
        self._keys.add(_key(url))
        self._bytes += size

    def begin(self) -> None:
        """Another visit begins: what is there by now is not its own."""
        self.of_others = bool(self._keys)

    def clear(self) -> None:
        """The cache is empty."""
        self.of_others = False
        self._keys.clear()
        self._bytes = 0


def _key(url: str) -> str:
    """The same for all plain spellings of an address: two with different keys differ for Chromium too."""
    parts = urlsplit(without_userinfo(url))
    return unquote(f"{parts.netloc.lower()}{parts.path or '/'}?{parts.query}").lower()
