"""Resolve redirect targets as browsers do, and remove user names and passwords from URLs."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

# Browsers treat backslashes as slashes, in any number. The last @ before the path ends the user information.
_USERINFO = re.compile(r"\A(\s*https?:[\\/]*)[^\\/?#]*@", re.IGNORECASE)


def strip_credentials(url: str) -> str:
    """Return the URL without user name and password."""
    return _USERINFO.sub(r"\1", url) if "@" in url else url


def has_credentials(url: str) -> bool:
    """Return True if the URL contains a user name or password."""
    return "@" in url and _USERINFO.match(url) is not None


_AROUND = "".join(map(chr, range(0x21)))
_INSIDE = str.maketrans("", "", "\t\r\n")
"""Removed by browsers (URL Standard, "basic URL parser")."""
_ABSOLUTE = re.compile(r"(https?):(/*)", re.IGNORECASE)


def resolve_location(base: str, location: str) -> str:
    """Resolve a `Location` header against `base`.

    Credentials in the header are removed, those of `base` are kept. An invalid location is returned trimmed.
    """
    text = location.strip(_AROUND).translate(_INSIDE)
    try:
        return urljoin(base, strip_credentials(_with_slashes(urlsplit(base).scheme, text)))
    except ValueError:
        return text


def _with_slashes(scheme: str, text: str) -> str:
    """Replace backslashes by slashes, and any number of slashes before a host by two."""
    head = re.split(r"[?#]", text, maxsplit=1)[0]
    absolute = _ABSOLUTE.match(head.replace("\\", "/"))
    if absolute is None and re.match(r"[a-z][a-z0-9+.-]*:", head, re.IGNORECASE):
        return text
    head, rest = head.replace("\\", "/"), text[len(head) :]
    if absolute is not None and (absolute[1].lower() != scheme or len(absolute[2]) > 1):
        return f"{absolute[1].lower()}://{head[absolute.end() :]}{rest}"
    if absolute is not None:
        return head[len(absolute[1]) + 1 :] + rest
    return f"{scheme}://{head.lstrip('/')}{rest}" if head.startswith("//") else head + rest
