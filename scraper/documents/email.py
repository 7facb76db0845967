"""Email reader: main headers, text and attachments; MHTML files are emails too."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage

from scraper.documents import mhtml
from scraper.documents.embedded import EmbeddedFile, read_embedded
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
    if (page := mhtml.find_page(message)) is not None:
        return mhtml.read(message, page)
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
