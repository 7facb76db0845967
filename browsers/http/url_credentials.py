"""A name and a password before the host of an address are for that host: no answer, cache or log has them."""

from __future__ import annotations

import re

# Browsers take backslashes for slashes, and any number of them; the last @ before the path ends it.
_USERINFO = re.compile(r"\A(\s*https?:[\\/]*)[^\\/?#]*@", re.IGNORECASE)


def without_userinfo(url: str) -> str:
    """The web address without what stands before its host."""
    return _USERINFO.sub(r"\1", url) if "@" in url else url


def has_userinfo(url: str) -> bool:
    """Whether a name or a password stands before the host of the web address."""
    return "@" in url and _USERINFO.match(url) is not None
