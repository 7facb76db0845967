"""Reader of Outlook messages (MS-OXMSG): main headers, text and attachments."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from browsers.http.charset import decode
from scraper.documents.embedded import EmbeddedFile, read_embedded
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_markup import convert_html
from scraper.documents.ole.compound_file import CompoundFile

_HEADERS = (("From", "0C1A"), ("To", "0E04"), ("Cc", "0E03"), ("Subject", "0037"))
_PLAIN, _HTML, _SENT = "1000", "1013", 0x0039
_SHORT_NAME, _LONG_NAME, _DATA = "3704", "3707", "3701"
"""Numbers of properties (MS-OXPROPS)."""
_ATTACHMENT, _PROPERTY = "__attach_version1.0_#", "__substg"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_PROPERTIES_AT, _PROPERTY_BYTES, _TIME = 32, 16, 0x0040


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return sender, recipients, date, subject, body and attachments."""
    streams = CompoundFile(data)
    headers = [f"{name}: {text}  " for name, number in _HEADERS if (text := _text(streams, "", number))]
    if date := _date(streams.read("__properties_version1.0")):
        headers.append(f"Date: {date}  ")
    plain, html = _text(streams, "", _PLAIN, keep_lines=True), streams.read(f"__substg1.0_{_HTML}0102")
    body = plain or (convert_html(decode(html, "text/html")) if html else "")
    sections, warnings = read_embedded(_attachments(streams), request)
    subject = _text(streams, "", "0037")
    markdown = "\n\n".join(filter(None, ("\n".join(headers).rstrip(), body, *sections)))
    return ParsedDocument("msg", markdown, title=subject or None, warnings=warnings)


def _text(streams: CompoundFile, folder: str, number: str, *, keep_lines: bool = False) -> str:
    """Return a text property, in UTF-16 or in an 8-bit encoding."""
    unicode = streams.read(f"{folder}__substg1.0_{number}001F")
    text = unicode.decode("utf-16-le", "replace") or decode(
        streams.read(f"{folder}__substg1.0_{number}001E"), "text/plain"
    )
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    return text if keep_lines else " ".join(text.split())


def _date(properties: bytes) -> str:
    """Return the time at which the message was sent; empty if unknown."""
    for at in range(_PROPERTIES_AT, len(properties) - _PROPERTY_BYTES + 1, _PROPERTY_BYTES):
        kind, number, _, ticks = struct.unpack_from("<HHIQ", properties, at)
        if (number, kind) == (_SENT, _TIME) and ticks < 1 << 61:
            return f"{_EPOCH + timedelta(microseconds=ticks // 10):%Y-%m-%d %H:%M} UTC"
    return ""


def _attachments(streams: CompoundFile) -> Iterator[EmbeddedFile]:
    paths = (path.partition("/") for path in streams.names if path.startswith(_ATTACHMENT))
    for folder in dict.fromkeys(folder for folder, _, name in paths if name.startswith(_PROPERTY)):
        name = _text(streams, f"{folder}/", _LONG_NAME) or _text(streams, f"{folder}/", _SHORT_NAME)
        data = streams.read(f"{folder}/__substg1.0_{_DATA}0102")
        yield EmbeddedFile(name or "attachment", data)
