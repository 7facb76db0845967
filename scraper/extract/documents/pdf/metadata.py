"""Title and author of a PDF: from its XML of metadata, or from the older table of facts beside it."""

from __future__ import annotations

import collections
import html
import re

_TITLE = re.compile(r"<dc:title>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_CREATOR = re.compile(r"<dc:creator>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_INFO = re.compile(rb"/Info\s+(\d{1,10})\s+(\d{1,5})\s+R")
_REACH = 20_000
_STRING = (
    rb"/%s\s*(?:\((?P<text>(?:[^()\\]|\\.|\([^()]{0,500}\)){0,2000})\)|<(?P<hex>[0-9A-Fa-f\s]{0,4000})>)"
)
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_SINGLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b"", b"\n": b"", b"\r": b"", b"\r\n": b""}
_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel)|PowerPoint) - ")
_NO_TITLE = re.compile(
    r"(?:untitled|title|powerpoint presentation|document\d*|slide \d+|print"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|pdf|cdr))",
    re.IGNORECASE,
)
"""Names that programs give: of the file, of nothing."""


def facts_of(data: bytes, xmp: str, *, encrypted: bool) -> tuple[str | None, str | None]:
    """Title and author, where the file says so."""
    table = b"" if encrypted else _table(data)
    title = _in_xmp(_TITLE, xmp) or _titled(_in_table(table, b"Title"))
    author = _in_xmp(_CREATOR, xmp) or _in_table(table, b"Author")
    return title, author


def _in_xmp(pattern: re.Pattern[str], xmp: str) -> str | None:
    found = pattern.search(xmp)
    return html.unescape(found[1]).strip() or None if found else None


def _titled(said: str | None) -> str | None:
    title = _PROGRAM.sub("", said or "").strip()
    return None if not title or _NO_TITLE.fullmatch(title) else title


def _table(data: bytes) -> bytes:
    """The bytes around the table of facts; empty where it is packed, locked or missing."""
    named = _last(_INFO, data)
    at = None if named is None else _last(re.compile(rb"(?<!\d)%s\s+%s\s+obj\b" % (named[1], named[2])), data)
    return b"" if at is None else data[at.end() : at.end() + _REACH].partition(b"endobj")[0]


def _last(pattern: re.Pattern[bytes], data: bytes) -> re.Match[bytes] | None:
    """The last place counts: what was changed later stands further down."""
    found = collections.deque(pattern.finditer(data), maxlen=1)
    return found[0] if found else None


def _in_table(table: bytes, name: bytes) -> str | None:
    found = re.search(_STRING % name, table, re.DOTALL)
    if found is None:
        return None
    if found["hex"] is not None:
        digits = re.sub(rb"\s", b"", found["hex"])
        raw = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())
    else:
        raw = _ESCAPED.sub(_unescaped, found["text"])
    return " ".join(_letters(raw).split()) or None


def _unescaped(match: re.Match[bytes]) -> bytes:
    said = match[1]
    if said[:1].isdigit():
        return bytes([int(said, 8) & 0xFF])
    return _SINGLE.get(said, said)


def _letters(raw: bytes) -> str:
    if raw.startswith((b"\xfe\xff", b"\xff\xfe")):
        return raw.decode("utf-16", "replace")
    if raw.startswith(b"\xef\xbb\xbf"):
        return raw[3:].decode("utf-8", "replace")
    return raw.decode("cp1252", "replace").replace("\ufffd", "")
