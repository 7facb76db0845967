"""Find and remove user names and passwords in URLs, as browsers read them."""

from __future__ import annotations

import re

# Browsers treat backslashes as slashes, in any number. The last @ before the path ends the user information.
_USERINFO = re.compile(r"\A(\s*https?:[\\/]*)[^\\/?#]*@", re.IGNORECASE)


def strip_credentials(url: str) -> str:
    """Return the URL without user name and password."""
    return _USERINFO.sub(r"\1", url) if "@" in url else url


def has_credentials(url: str) -> bool:
    """Return True if the URL contains a user name or password."""
    return "@" in url and _USERINFO.match(url) is not None
