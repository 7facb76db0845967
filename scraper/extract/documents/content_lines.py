"""Make the content lines of contacts (vCard) and calendars (iCalendar) readable: join folded lines, decode values."""

from __future__ import annotations

import quopri
import re

_START = re.compile(r"\s*BEGIN:(?:VCARD|VCALENDAR)\s", re.IGNORECASE)
_OLD_VERSION = re.compile(r"^VERSION:2\.1\s*$", re.MULTILINE)
"""vCard 2.1 folds lines at a space, which belongs to the text; later versions insert the space (RFC 6350, 3.2)."""
_QUOTED_LINE = re.compile(
    r"^(?P<name>[^:\n]*?);ENCODING=QUOTED-PRINTABLE(?P<parameters>[^:\n]*):(?P<value>(?:[^\n]*=\n)*[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_CHARSET = re.compile(r";CHARSET=\"?([\w.:-]{1,40})\"?", re.IGNORECASE)
_BASE64_LINE = re.compile(
    r"^(?P<name>[^:\n]*(?:;ENCODING=(?:b|BASE64)[;:]|:data:)[^:,\n]*[:,]??)(?P<value>[A-Za-z0-9+/= ]{200,})$",
    re.MULTILINE | re.IGNORECASE,
)


def unfold_content_lines(text: str) -> str:
    """Return contacts or a calendar with one property per line, and any other text unchanged.

    Values in quoted-printable are decoded. Pictures in base64 are replaced by their size.
    """
    if not _START.match(text):
        return text
    text = _QUOTED_LINE.sub(_decode_quoted, text.replace("\r\n", "\n"))
    text = re.sub(r"\n(?=[ \t])" if _OLD_VERSION.search(text) else r"\n[ \t]", "", text)
    return _BASE64_LINE.sub(lambda line: f"{line['name']}({len(line['value']) * 3 // 4:,} bytes)", text)


def _decode_quoted(line: re.Match[str]) -> str:
    value = quopri.decodestring(line["value"].encode())
    parameters = line["name"] + line["parameters"]
    charset = _CHARSET.search(parameters)
    try:
        decoded = value.decode(charset[1] if charset else "utf-8")
    except (LookupError, UnicodeError):
        decoded = value.decode("utf-8", "replace")
    # A line break in the value is written as in the other values.
    decoded = decoded.replace("\r\n", "\n").replace("\n", "\\n")
    return f"{_CHARSET.sub('', parameters)}:{decoded}"
