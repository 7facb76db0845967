"""Readers of emails and of Outlook messages (MS-OXMSG): main headers, text and attachments; MHTML files are emails."""

from __future__ import annotations

import email
import email.policy
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

from browsers.http.charset import decode
from scraper.documents.compound_file import CompoundFile
from scraper.documents.dispatcher import EmbeddedFile, read_embedded
from scraper.documents.html import find_saved_page, read_saved_page
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_markup import convert_html

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules that the email library imports late."""
    read(
        b"From: a <a@b.example>\nSubject: =?utf-8?q?a?=\nMIME-Version: 1.0\n"
        b"Content-Type: multipart/mixed; boundary=x\n\n"
        b"--x\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"<p>a</p>\n--x\nContent-Type: text/plain\n"
        b'Content-Disposition: attachment; filename="a"\n\na\n--x--\n',
        request or ParseRequest(),
    )


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return sender, recipients, date, subject, body and attachments, or the page that a browser saved as an email."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if (page := find_saved_page(message)) is not None:
        return read_saved_page(message, page)
    headers = "\n".join(f"{name}: {' '.join(str(message[name]).split())}  " for name in _HEADERS if message[name])
    sections, warnings = read_embedded(_attachments(message), request)
    title = str(message["Subject"]) if message["Subject"] else None
    markdown = "\n\n".join(filter(None, (headers.rstrip(), _body(message), *sections)))
    return ParsedDocument("eml", markdown, title=title, warnings=warnings)


def _attachments(message: EmailMessage) -> Iterator[EmbeddedFile]:
    """Yield the attached files, and attached emails as their text."""
    for part in message.iter_attachments():
        name, media_type = part.get_filename() or "", part.get_content_type()
        is_email = media_type == "message/rfc822"
        try:
            payload: object = part.get_content() if is_email else part.get_payload(decode=True)
            data = _summarize(payload).encode() if isinstance(payload, EmailMessage) else payload
        except (LookupError, KeyError, ValueError, AttributeError):
            data = b""
        if isinstance(data, bytes) and (name or data):
            yield EmbeddedFile(name or f"attached {media_type}", data, "" if is_email else media_type)


def _summarize(message: EmailMessage) -> str:
    """Return an attached email as text: its headers in one line, its body, and the names of its attachments."""
    headers = "; ".join(f"{name}: {' '.join(str(message[name]).split())}" for name in _HEADERS if message[name])
    names = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    attachments = f"Attachments, not read inside of another file: {', '.join(names)}" if names else ""
    return "\n\n".join(filter(None, (headers, _body(message), attachments)))


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, KeyError, ValueError):
        payload = part.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if part.get_content_type() != "text/html":
        return text.strip()
    return convert_html(text)


_HEADER_PROPERTIES = (("From", "0C1A"), ("To", "0E04"), ("Cc", "0E03"), ("Subject", "0037"))
_PLAIN, _HTML, _SENT = "1000", "1013", 0x0039
_SHORT_NAME, _LONG_NAME, _DATA = "3704", "3707", "3701"
"""Numbers of properties (MS-OXPROPS)."""
_ATTACHMENT, _PREFIX = "__attach_version1.0_#", "__substg"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_PROPERTIES_AT, _PROPERTY_BYTES, _TIME = 32, 16, 0x0040


def read_outlook(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return sender, recipients, date, subject, body and attachments."""
    streams = CompoundFile(data)
    headers = [f"{name}: {text}  " for name, number in _HEADER_PROPERTIES if (text := _property(streams, "", number))]
    if date := _sent_date(streams.read("__properties_version1.0")):
        headers.append(f"Date: {date}  ")
    plain, html = _property(streams, "", _PLAIN, keep_lines=True), streams.read(f"__substg1.0_{_HTML}0102")
    body = plain or (convert_html(decode(html, "text/html")) if html else "")
    sections, warnings = read_embedded(_outlook_attachments(streams), request)
    subject = _property(streams, "", "0037")
    markdown = "\n\n".join(filter(None, ("\n".join(headers).rstrip(), body, *sections)))
    return ParsedDocument("msg", markdown, title=subject or None, warnings=warnings)


def _property(streams: CompoundFile, folder: str, number: str, *, keep_lines: bool = False) -> str:
    """Return a text property, in UTF-16 or in an 8-bit encoding."""
    unicode = streams.read(f"{folder}__substg1.0_{number}001F")
    text = unicode.decode("utf-16-le", "replace") or decode(
        streams.read(f"{folder}__substg1.0_{number}001E"), "text/plain"
    )
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    return text if keep_lines else " ".join(text.split())


def _sent_date(properties: bytes) -> str:
    """Return the time at which the message was sent; empty if unknown."""
    for at in range(_PROPERTIES_AT, len(properties) - _PROPERTY_BYTES + 1, _PROPERTY_BYTES):
        kind, number, _, ticks = struct.unpack_from("<HHIQ", properties, at)
        if (number, kind) == (_SENT, _TIME) and ticks < 1 << 61:
            return f"{_EPOCH + timedelta(microseconds=ticks // 10):%Y-%m-%d %H:%M} UTC"
    return ""


def _outlook_attachments(streams: CompoundFile) -> Iterator[EmbeddedFile]:
    paths = (path.partition("/") for path in streams.names if path.startswith(_ATTACHMENT))
    for folder in dict.fromkeys(folder for folder, _, name in paths if name.startswith(_PREFIX)):
        name = _property(streams, f"{folder}/", _LONG_NAME) or _property(streams, f"{folder}/", _SHORT_NAME)
        data = streams.read(f"{folder}/__substg1.0_{_DATA}0102")
        yield EmbeddedFile(name or "attachment", data)
