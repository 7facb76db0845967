"""Title, author and form fields of a PDF, from XMP, the document information dictionary and PDFium."""

from __future__ import annotations

import collections
import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

from scraper.extract.text.sanitize import clean_line

_TITLE = re.compile(r"<dc:title>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_CREATOR = re.compile(r"<dc:creator>.{0,200}?<rdf:li[^>]*>([^<]{1,1000})<", re.DOTALL)
_INFO = re.compile(rb"/Info\s+(\d{1,10})\s+(\d{1,5})\s+R")
_REACH = 20_000
_STRING = rb"/%s\s*(?:\((?P<text>(?:[^()\\]|\\.|\([^()]{0,500}\)){0,2000})\)|<(?P<hex>[0-9A-Fa-f\s]{0,4000})>)"
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_SINGLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b"", b"\n": b"", b"\r": b"", b"\r\n": b""}
_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel)|PowerPoint) - ")
_NO_TITLE = re.compile(
    r"(?:untitled|title|powerpoint presentation|document\d*|slide \d+|print"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|pdf|cdr))",
    re.IGNORECASE,
)
"""Titles that programs write: file names and placeholders."""


def read_metadata(data: bytes, xmp: str, *, encrypted: bool) -> tuple[str | None, str | None]:
    """Return title and author if the file declares them."""
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
    """Return the bytes around the information dictionary; empty if compressed, encrypted or missing."""
    named = _last(_INFO, data)
    at = None if named is None else _last(re.compile(rb"(?<!\d)%s\s+%s\s+obj\b" % (named[1], named[2])), data)
    return b"" if at is None else data[at.end() : at.end() + _REACH].partition(b"endobj")[0]


def _last(pattern: re.Pattern[bytes], data: bytes) -> re.Match[bytes] | None:
    """Return the last match: later changes are appended to the file."""
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


FILLED_ELSEWHERE = frozenset({2, 3})
"""Form types (PDFium's FPDF_GetFormType) whose content is Adobe's XML (XFA) instead of the pages."""

_MOST = 500
_MAX_NAME, _MAX_VALUE = 120, 1_000
_PASSWORD = 1 << 13
"""Flag of a password field, whose text is never shown: PDF 32000-1, 12.7.4.3."""
_OPEN = "[ ]"
_CHOICES = ("combobox", "listbox")


def format_form(fields: Iterable[Any]) -> str:
    """Return the filled fields of a page as a list; empty if none is filled."""
    found: dict[str, str] = {}
    empty: set[str] = set()
    filled = False
    for field in fields:
        name, value = _name(field), _value(field)
        if value is None or len(found) >= _MOST:
            continue
        filled = filled or value not in ("", _OPEN)
        if not value:
            empty.add(name)
        elif found.setdefault(name, value) != value and value not in found[name].split(", "):
            found[name] += f", {value}"
    return "\n".join(_lines(found, len(empty - set(found)))) if filled else ""


def _lines(found: dict[str, str], empty: int) -> Iterator[str]:
    yield "Filled in on this form:"
    yield ""
    for name, value in found.items():
        yield f"- {name}: {value}"
    if empty:
        yield f"- ({empty} more {'field is' if empty == 1 else 'fields are'} empty)"


def _name(field: Any) -> str:
    """Return the label of a field: its tooltip, or the last part of its path."""
    said = clean_line(str(field.alternate_name or ""), _MAX_NAME)
    return said or clean_line(str(field.name or "").rpartition(".")[2], _MAX_NAME) or "(without a name)"


def _value(field: Any) -> str | None:
    """Return the value of a field; empty for no value, None for a field that cannot be filled in."""
    if field.type == "checkbox":
        return "[x]" if field.checked else _OPEN
    if field.type == "radio":
        return clean_line(str(field.export_value or field.value or ""), _MAX_VALUE) if field.checked else ""
    if field.type in _CHOICES:
        chosen = ", ".join(map(str, field.selected_options or ())) or str(field.value or "")
        return clean_line(chosen, _MAX_VALUE)
    if field.type == "text":
        hidden = int(field.field_flags or 0) & _PASSWORD
        return "(hidden)" if hidden and field.value else clean_line(str(field.value or ""), _MAX_VALUE)
    return None
