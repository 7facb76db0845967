"""Resolve redirect targets as browsers do, and remove user names and passwords from URLs."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

# Browsers take backslashes for slashes, and any number of them; the last @ before the path ends it.
_USERINFO = re.compile(r"\A(\s*https?:[\\/]*)[^\\/?#]*@", re.IGNORECASE)


def strip_credentials(url: str) -> str:
    """The web address without what stands before its host."""
    return _USERINFO.sub(r"\1", url) if "@" in url else url


def has_credentials(url: str) -> bool:
    """Whether a name or a password stands before the host of the web address."""
    return "@" in url and _USERINFO.match(url) is not None


_AROUND = "".join(map(chr, range(0x21)))
_INSIDE = str.maketrans("", "", "\t\r\n")
"""Both are dropped (URL Standard, "basic URL parser")."""
_ABSOLUTE = re.compile(r"(https?):(/*)", re.IGNORECASE)


def resolve_location(base: str, location: str) -> str:
    """The address that `location` means at the web address `base`, without a name before its host.

    What cannot be an address at all comes back as it is written.
    """
    text = location.strip(_AROUND).translate(_INSIDE)
    try:
        return urljoin(base, strip_credentials(_with_slashes(urlsplit(base).scheme, text)))
    except ValueError:
        return text


def _with_slashes(scheme: str, text: str) -> str:
    """Backslashes are slashes to browsers, and of slashes before a host any number is two."""
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
