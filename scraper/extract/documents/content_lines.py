"""Make the content lines of contacts (vCard) and calendars (iCalendar) readable: join folded lines, decode values."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator

from browsers.http.charset import decode

_START = re.compile(r"\s*BEGIN:(?:VCARD|VCALENDAR)\s", re.IGNORECASE)
_CARD = re.compile(r"^(?=BEGIN:VCARD\b)", re.MULTILINE | re.IGNORECASE)
_OLD_VERSION = re.compile(r"^VERSION:2\.1\b", re.MULTILINE)
"""vCard 2.1 folds lines at a space, which belongs to the text; later versions insert the space (RFC 6350, 3.2)."""
_CHARSET = "CHARSET="
_QUOTED = "ENCODING=QUOTED-PRINTABLE"
_BASE64 = re.compile(r"[A-Za-z0-9+/= ]{200,}")


def unfold_content_lines(text: str) -> str:
    """Return contacts or a calendar with one property per line, and any other text unchanged.

    Values in quoted-printable are decoded. Pictures in base64 are replaced by their size.
    """
    if not _START.match(text):
        return text
    return "\n".join(line for card in _CARD.split(text.replace("\r\n", "\n")) for line in _read_card(card))


def _read_card(card: str) -> Iterator[str]:
    card = card.removesuffix("\n")
    folded = r"\n(?=[ \t])" if _OLD_VERSION.search(card) else r"\n[ \t]"
    lines = iter(re.sub(folded, "", card).split("\n"))
    for line in lines:
        head, colon, value = line.partition(":")
        parameters = head.split(";")
        if colon and _QUOTED in map(str.upper, parameters):
            parts = [value]
            while parts[-1].endswith("=") and (more := next(lines, None)) is not None:
                parts.append(more)
            yield _decode_quoted(parameters, "\n".join(parts))
        elif (data := _find_base64(head, value)) is not None:
            yield f"{line[: len(line) - len(data)]}({len(data) * 3 // 4:,} bytes)"
        else:
            yield line


def _find_base64(head: str, value: str) -> str | None:
    """Return a long value in base64, also behind the start of a `data:` URL, or None."""
    if value.startswith("data:"):
        data = value.partition(",")[2]
    elif re.search(r";ENCODING=(?:b|BASE64)(?:;|$)", head, re.IGNORECASE):
        data = value
    else:
        return None
    return data if _BASE64.fullmatch(data) else None


def _decode_quoted(parameters: list[str], encoded: str) -> str:
    charset = next((one[len(_CHARSET) :] for one in parameters if one.upper().startswith(_CHARSET)), "utf-8")
    decoded = decode(quopri.decodestring(encoded.encode()), f"text/plain; charset={charset}")
    # A line break in the value is written as in the other values.
    decoded = decoded.replace("\r\n", "\n").replace("\n", "\\n")
    kept = [one for one in parameters if one.upper() != _QUOTED and not one.upper().startswith(_CHARSET)]
    return f"{';'.join(kept)}:{decoded}"
