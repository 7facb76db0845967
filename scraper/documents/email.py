"""Reader of emails (RFC 5322), of mailboxes, which hold many, and of pages that a browser saved as an email (MHTML)."""

import binascii
import re
import struct
from collections import Counter
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import CloseBoundaryNotFoundDefect, HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32

from browsers.http.charset import decode
from scraper.documents import rtf_reader
from scraper.documents.dispatcher import EmbeddedFile, read_embedded
from scraper.documents.html import find_saved_page, read_saved_page
from scraper.documents.markdown_writing import join_pages
from scraper.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.documents.office_markup import convert_html
from scraper.documents.sniff import SEALED, TNEF
from scraper.text.markdown_structure import strip_markdown

_HEADERS = ("From", "To", "Cc", "Bcc", "Date", "Subject")
_SENT = ("MIME-Version", "Message-ID", "Received", "Content-Type")
_MAX_DEPTH = 20
_MAX_MAILS = 500
_BODY_TYPES = ("text/plain", "text/html", "text/enriched", "text/richtext", "text/rfc822-headers")
_MAIL_TYPES = ("message/rfc822", "message/global", "message/news")
_SMIME_TYPES = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_SIGNED, _CONTENT = bytes.fromhex("06092a864886f70d010702"), bytes.fromhex("06092a864886f70d010701")
"""Object identifiers of signed data and of the content in it (RFC 5652)."""
_SUBJECT, _TEXT, _NAME, _FILE, _PROPERTIES = 0x18004, 0x2800C, 0x18010, 0x6800F, 0x69003
"""Attributes of a TNEF file (MS-OXTNEF, 2.1.3.4)."""
_RTF = b"\x02\x01\x09\x10"
"""Type and number of the property with the text as compressed RTF; their count and length follow."""
_OCTETS, _UNTIL_MARK = 0x04, 0x80
_MAIL_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]*\d[^\n]*\n(?=[!-9;-~]+:)")
"""Line before each mail of a mailbox (RFC 4155)."""
_BOUNDARY = re.compile(r"^--(\S[^\r\n]{0,200}?)[ \t]*\r?\n(?=content-[\w-]+:|\r?\n)", re.MULTILINE | re.IGNORECASE)
_COMPARED_CHARS = 100_000
_MAX_MISSING_SHARE = 0.2
"""Share of the groups of three letters. An alternative that lacks more than these is another text."""


class _Policy(Compat32):
    """Headers as text: bytes above ASCII are decoded by their own encoding."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the value of a header without escaped bytes."""
        return value if value.isascii() else decode(value.encode("utf-8", "surrogateescape"), "text/plain")


def warm_up() -> None:
    """Load the modules that the email library imports late."""
    read(
        b"From: a <a@b.example>\nSubject: =?utf-8?q?a?=\nMIME-Version: 1.0\n"
        b"Content-Type: multipart/mixed; boundary=x\n\n"
        b"--x\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"<p>a</p>\n--x\nContent-Type: text/plain\n"
        b'Content-Disposition: attachment; filename="a"\n\na\n--x--\n',
        ParseRequest(),
    )


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return sender, recipients, date, subject, body and attachments, or the page that a browser saved as an email.

    The mails of a mailbox are its pages.
    """
    if data.startswith(TNEF):
        return _read_outlook_mail(data, request)
    if data.startswith(b"0") and SEALED in data[:40]:
        content = _read_signed(data)
        problem = "" if content else "it is encrypted, or holds only a signature or certificates"
        file = EmbeddedFile(request.name.removesuffix(".p7m") or "signed file", content, problem=problem)
        sections, problems = read_embedded([file], request)
        return ParsedDocument("p7m", "\n\n".join(sections), warnings=problems)
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    starts = [match.span() for match in _MAIL_START.finditer(data)] if data.startswith(b"From ") else []
    if len(starts) < 2:
        return _read_mail(data[starts[0][1] if starts else 0 :], request)
    ends = [start for start, _ in starts[1:]] + [len(data)]
    mails, size = [], 0
    for (_, start), end in zip(starts[:_MAX_MAILS], ends, strict=False):
        mails.append(_read_mail(data[start:end], request))
        size += len(mails[-1].markdown)
        if size > MAX_CHARACTERS:
            break
    warnings = [f"Mail {number}: {text}" for number, mail in enumerate(mails, 1) for text in mail.warnings]
    if len(mails) < len(starts):
        warnings.append(f"Only the first {len(mails):,} of {len(starts):,} mails are shown.")
    pages = [(number, mail.markdown) for number, mail in enumerate(mails, 1)]
    return ParsedDocument("mbox", join_pages(pages), pages=len(starts), warnings=tuple(warnings))


def _read_mail(data: bytes, request: ParseRequest) -> ParsedDocument:
    message = message_from_bytes(data, policy=_Policy())
    if (page := find_saved_page(message)) is not None:
        return read_saved_page(message, page)
    mail = _Mail()
    body = mail.read(message, 0)
    sections, warnings = read_embedded(mail.files, request)
    if not body.strip():
        mail.problems.append("The mail has no text in its body.")
    markdown = "\n\n".join(filter(None, (_format_headers(message), body, *sections)))
    title = _header(message, "Subject") or None
    return ParsedDocument("eml", markdown, title=title, warnings=(*dict.fromkeys(mail.problems), *warnings))


def _read_outlook_mail(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return subject, text and attachments of a mail in a file such as winmail.dat."""
    at, name, found, files = 6, "", dict[int, str](), list[EmbeddedFile]()
    while at + 9 <= len(data):
        attribute, length = struct.unpack_from("<II", data, at + 1)
        value = data[at + 9 : at + 9 + length]
        at += 11 + length
        if attribute == _FILE:
            files.append(EmbeddedFile(name, value))
        elif attribute == _PROPERTIES and (start := value.find(_RTF)) >= 0:
            found[_TEXT] = rtf_reader.read(rtf_reader.decompress(value[start + len(_RTF) + 8 :]), request).markdown
        elif attribute in (_SUBJECT, _TEXT, _NAME):
            text = found[attribute] = decode(value.rstrip(b"\0"), "text/plain").strip()
            name = text if attribute == _NAME else name
    sections, warnings = read_embedded(files, request)
    texts = (f"Subject: {found[_SUBJECT]}" if found.get(_SUBJECT) else "", found.get(_TEXT, ""), *sections)
    return ParsedDocument("tnef", "\n\n".join(filter(None, texts)), title=found.get(_SUBJECT), warnings=warnings)


def read_body(data: bytes) -> str:
    """Return only the text of an email or of a page that was saved as one."""
    return _Mail().read(message_from_bytes(data, policy=_Policy()), 0)


def _header(message: Message, name: str) -> str:
    return _decode_words(str(message.get(name, "")))


def _decode_words(text: str) -> str:
    try:
        words = decode_header(text)
    except (HeaderParseError, binascii.Error, ValueError):
        words = [(text, None)]
    pieces = (
        word if isinstance(word, str)
        else decode(word, f"text/plain; charset={charset}") if charset
        else word.decode("raw-unicode-escape", "replace")
        for word, charset in words
    )  # fmt: skip
    return " ".join("".join(pieces).split())


def _format_headers(message: Message) -> str:
    """Return the main headers, or all those of a text that was never sent."""
    names = _HEADERS if any(name in message for name in _SENT) else dict.fromkeys(message.keys())
    return "\n".join(f"{name}: {text}  " for name in names if (text := _header(message, name))).rstrip()


class _Mail:
    """Files and problems of the parts of a mail that were read."""

    def __init__(self) -> None:
        self.files: list[EmbeddedFile] = []
        self.problems: list[str] = []

    def read(self, part: Message, depth: int, *, is_body: bool = True) -> str:
        """Return the text of a part and of those inside of it, without the files, which are collected."""
        part = _repair(part)
        media_type, name = part.get_content_type(), _decode_words(part.get_filename() or "")
        if depth > _MAX_DEPTH:
            self.problems.append("Parts of the mail nest deeper than the limit and are not read.")
            return ""
        if any(isinstance(defect, CloseBoundaryNotFoundDefect) for defect in part.defects):
            self.problems.append("The mail is cut off or damaged: the end of its last part is missing.")
        if media_type in _MAIL_TYPES:
            return self._read_inner_mail(part, name, depth)
        if part.is_multipart():
            return self._read_parts(part, media_type, depth)
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        if media_type in _SMIME_TYPES:
            return self._read_sealed(data, depth)
        is_file = part.get_content_disposition() == "attachment" or (name and not is_body)
        if media_type in _BODY_TYPES and not (is_file and depth):
            content_type = str(part.get("Content-Type", "text/plain"))
            is_utf7 = "utf-7" in content_type.lower()  # Browsers refuse it.
            text = data.decode("utf-7", "replace") if is_utf7 else decode(data, content_type).replace("\r\n", "\n")
            if media_type != "text/html":
                return text.strip()
            text, problems = convert_html(text)
            self.problems += problems
            return text
        if data not in (file.data for file in self.files):
            self.files.append(EmbeddedFile(name or f"attached {media_type}", data, media_type))
        return ""

    def _read_sealed(self, data: bytes, depth: int) -> str:
        if content := _read_signed(data):
            return self.read(message_from_bytes(content, policy=_Policy()), depth + 1)
        self.problems.append("The mail is encrypted: its text cannot be read.")
        return ""

    def _read_parts(self, part: Message, media_type: str, depth: int) -> str:
        parts = list(_children(part))
        if media_type == "multipart/encrypted":
            self.problems.append("The mail is encrypted: its text cannot be read.")
            return ""
        if not media_type.startswith("multipart/"):  # A status of delivery: blocks of headers.
            blocks = ["\n".join(f"{name}: {_decode_words(value)}  " for name, value in one.items()) for one in parts]
            return "\n\n".join(filter(None, [*blocks, *(self.read(block, depth + 1) for block in parts)]))
        is_choice = media_type == "multipart/alternative"
        texts = [self.read(one, depth + 1, is_body=is_choice or not index) for index, one in enumerate(parts)]
        return "\n\n".join(choose_alternatives(texts) if is_choice else filter(None, texts))

    def _read_inner_mail(self, part: Message, name: str, depth: int) -> str:
        inner = next(_children(part), None)
        if inner is None or not inner.keys():  # Base64, which RFC 2046 forbids here.
            encoded = str(part.get_payload() if inner is None else inner.get_payload())
            try:
                decoded = binascii.a2b_base64(encoded.encode("ascii", "ignore"))
            except binascii.Error:
                decoded = encoded.encode()
            inner = message_from_bytes(decoded, policy=_Policy())
        title = name or _header(inner, "Subject") or "attached mail"
        text = self.read(inner, depth + 1)
        return "\n\n".join(filter(None, (f"## {title}", _format_headers(inner), text)))


def _read_signed(data: bytes) -> bytes:
    """Return the mail inside of a signature (RFC 8551, 3.5.2); empty if it is encrypted or damaged."""
    at = data.find(_CONTENT) if _SIGNED in data else -1
    try:
        return _read_octets(data, at + len(_CONTENT))[0] if at >= 0 else b""
    except IndexError:
        return b""


def _read_octets(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the octets of a value (X.690), also of one in parts, and the place after it."""
    is_simple, length, at = data[at] == _OCTETS, data[at + 1], at + 2
    has_end = length != _UNTIL_MARK
    if length > _UNTIL_MARK:
        size = length - _UNTIL_MARK
        length, at = int.from_bytes(data[at : at + size], "big"), at + size
    end = min(at + length, len(data)) if has_end else len(data)
    if is_simple:
        return data[at:end], end
    parts = []
    while at < end and (has_end or data[at : at + 2] != b"\0\0"):
        part, at = _read_octets(data, at)
        parts.append(part)
    return b"".join(parts), at if has_end else at + 2


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    return (one for one in (payload if isinstance(payload, list) else ()) if isinstance(one, Message))


def _repair(part: Message) -> Message:
    """Return a part whose separators were not found as a part with children, as its text shows them."""
    types = [str(value).lower() for value in part.get_all("Content-Type", ())]
    if part.is_multipart() or not any("multipart/" in value or "boundary=" in value for value in types):
        return part
    payload = part.get_payload(decode=True)
    text = payload.decode("ascii", "surrogateescape") if isinstance(payload, bytes) else ""
    boundary = _BOUNDARY.search(text)
    if boundary is None:
        if part.get_content_maintype() == "multipart":
            part.set_type("text/plain")
        return part
    kind = part.get_content_subtype() if part.get_content_maintype() == "multipart" else "mixed"
    head = f'Content-Type: multipart/{kind}; boundary="{boundary[1]}"\n\n'
    return message_from_bytes((head + text).encode("utf-8", "surrogateescape"), policy=_Policy())


def choose_alternatives(texts: list[str]) -> list[str]:
    """Return the alternatives that hold the whole text: the plainest, and others only as far as they say more."""
    chosen: list[tuple[str, Counter[str]]] = []
    for text in filter(None, texts):
        letters = "".join(filter(str.isalnum, strip_markdown(text[:_COMPARED_CHARS]).lower()))
        groups = Counter(letters[at : at + 3] for at in range(len(letters) - 2))
        if all(_lacks(shown, groups) for _, shown in chosen):
            chosen = [(other, shown) for other, shown in chosen if _lacks(groups, shown)]
            chosen.append((text, groups))
    return [text for text, _ in chosen]


def _lacks(groups: Counter[str], other: Counter[str]) -> bool:
    return (other - groups).total() > _MAX_MISSING_SHARE * other.total()
