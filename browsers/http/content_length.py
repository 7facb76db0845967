"""How long a body is said to be: any text may stand there, and numbers longer than any body."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LENGTH = re.compile(r"\s*([0-9]{1,18})\s*")
"""More digits are no length of anything; Python does not read more than 4,300."""


def declared_bytes(headers: Mapping[str, str]) -> int | None:
    """The `Content-Length`; None where there is none that could be."""
    found = _LENGTH.fullmatch(headers.get("content-length", ""))
    return int(found[1]) if found else None
