"""Where a `Location` leads, as browsers read it: the standard library reads some otherwise."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from browsers.http.url_credentials import without_userinfo

_AROUND = "".join(map(chr, range(0x21)))
_INSIDE = str.maketrans("", "", "\t\r\n")
"""Both are dropped (URL Standard, "basic URL parser")."""
_ABSOLUTE = re.compile(r"(https?):(/*)", re.IGNORECASE)


def resolved(base: str, location: str) -> str:
    """The address that `location` means at the web address `base`, without a name before its host.

    What cannot be an address at all comes back as it is written.
    """
    text = location.strip(_AROUND).translate(_INSIDE)
    try:
        return urljoin(base, without_userinfo(_with_slashes(urlsplit(base).scheme, text)))
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
