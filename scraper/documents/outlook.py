"""Reader of Outlook messages and appointments (MS-OXMSG): main headers, text and attachments."""

import struct
from datetime import UTC, datetime, timedelta

from browsers.http.charset import decode
from scraper.documents import rtf_reader
from scraper.documents.compound_file import CompoundFile
from scraper.documents.dispatcher import EmbeddedFile, read_embedded
from scraper.documents.email import choose_alternatives, warm_up
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_markup import convert_html
from scraper.errors import ScraperError

__all__ = ["read", "warm_up"]

_TITLE, _PLAIN, _HTML, _RTF = 0x0037, 0x1000, 0x1013, 0x1009
_HEADERS = (("From", 0x0C1A), ("To", 0x0E04), ("Cc", 0x0E03), ("Bcc", 0x0E02), ("Subject", _TITLE))
_TIMES = (("Date", 0x0039), ("Start", 0x820D), ("End", 0x820E), ("Start", 0x8104), ("Due", 0x8105))
_LOCATION, _CLASS = ("Location", 0x8208), 0x001A
_CONTACT = (
    ("Name", 0x3001), ("Company", 0x3A16), ("Title", 0x3A17), ("Email", 0x8083), ("Email", 0x8093), ("Phone", 0x3A08),
    ("Phone", 0x3A09), ("Mobile", 0x3A1C), ("Address", 0x3A15), ("Address", 0x801B), ("Address", 0x801A),
)  # fmt: skip
_NAMES, _DATA = (0x3707, 0x3704, 0x3001), 0x3701
_CODE_PAGE, _INTERNET_CODE_PAGE = 0x3FFD, 0x3FDE
"""Numbers of properties (MS-OXPROPS). From 0x8000 on, they are identifiers in the list of names."""
_CODE_PAGE_NAMES = {
    65001: "utf-8", 20127: "", 20866: "koi8-r", 21866: "koi8-u", 874: "windows-874", 932: "shift_jis", 936: "gbk",
    949: "euc-kr", 950: "big5", 50220: "iso-2022-jp", 51932: "euc-jp", 51949: "euc-kr", 54936: "gb18030",
    **{28590 + number: f"iso-8859-{number}" for number in range(1, 16)},
}  # fmt: skip
_NAME_LIST = "__nameid_version1.0/__substg1.0_00030102"
_ATTACHMENT, _PREFIX, _PROPERTIES = "__attach_version1.0_#", "__substg1.0_", "__properties_version1.0"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_OWN_BYTES, _INNER_BYTES, _PROPERTY_BYTES = 32, 24, 16
"""Bytes before the properties of the file's message and of one inside of it, and of each property."""
_INTEGER, _TIME = 0x0003, 0x0040
_MAX_DEPTH = 10


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return sender, recipients, date, subject, body and attachments; of an appointment also time and place."""
    files: list[EmbeddedFile] = []
    problems: list[str] = []
    message = _Message(CompoundFile(data), "", problems)
    markdown = message.markdown(files, request)
    sections, warnings = read_embedded(files, request)
    warnings += tuple(dict.fromkeys(problems))
    if not message.has_text:
        warnings += ("The message has no text in its body.",)
    return ParsedDocument(
        "msg", "\n\n".join([markdown, *sections]), title=message.text(_TITLE) or None, warnings=warnings
    )


class _Message:
    def __init__(self, streams: CompoundFile, folder: str, problems: list[str]) -> None:
        self._streams, self._folder, self._problems = streams, folder, problems
        self._numbers: dict[tuple[int, int], int] = {}
        properties = streams.read(folder + _PROPERTIES)
        start = _INNER_BYTES if folder else _OWN_BYTES
        for at in range(start, len(properties) - _PROPERTY_BYTES + 1, _PROPERTY_BYTES):
            kind, number, _, value = struct.unpack_from("<HHIQ", properties, at)
            self._numbers[number, kind] = value
        names = streams.read(_NAME_LIST)
        self._own_numbers = {
            name: 0x8000 + number for name, _, number in struct.iter_unpack("<IHH", names[: len(names) // 8 * 8])
        }
        self.has_text = False

    def _charset(self, number: int) -> str:
        page = self._numbers.get((number, _INTEGER), 0) & 0xFFFF
        name = _CODE_PAGE_NAMES.get(page, f"windows-{page}")
        return f"; charset={name}" if page and name else ""

    def text(self, number: int, *, keep_lines: bool = False, folder: str = "") -> str:
        """Return a text property, in UTF-16 or in the code page of the message."""
        path = f"{self._folder}{folder}{_PREFIX}{self._own_numbers.get(number, number):04x}"
        unicode = self._streams.read(f"{path}001f").decode("utf-16-le", "ignore")
        text = unicode or decode(self._streams.read(f"{path}001e"), f"text/plain{self._charset(_CODE_PAGE)}")
        text = text.replace("\0", "").replace("\r\n", "\n").strip()
        return text if keep_lines else " ".join(text.split())

    def markdown(self, files: list[EmbeddedFile], request: ParseRequest, depth: int = 0) -> str:
        """Return headers, text and attached messages; append the other attachments to `files`."""
        headers = [f"{name}: {text}  " for name, number in _HEADERS if (text := self.text(number))]
        for name, number in _TIMES:
            ticks = self._numbers.get((self._own_numbers.get(number, number), _TIME), 0)
            if 0 < ticks < 1 << 61:
                headers.append(f"{name}: {_EPOCH + timedelta(microseconds=ticks // 10):%Y-%m-%d %H:%M} UTC  ")
        fields = (_LOCATION, *(_CONTACT if self.text(_CLASS) == "IPM.Contact" else ()))
        headers += [f"{name}: {text}  " for name, number in fields if (text := self.text(number))]
        body = self._body(request)
        self.has_text = bool(body)
        inner = []
        paths = (path.removeprefix(self._folder).split("/") for path in self._streams.names
                 if path.startswith(self._folder + _ATTACHMENT))  # fmt: skip
        for folder in dict.fromkeys(f"{path[0]}/" for path in paths):
            name = next(filter(None, (self.text(number, folder=folder) for number in _NAMES)), "attachment")
            path = f"{self._folder}{folder}{_PREFIX}{_DATA:04x}"
            message = f"{path}000d/"
            if message + _PROPERTIES in self._streams and depth < _MAX_DEPTH:
                attached = _Message(self._streams, message, self._problems)
                inner.append(f"## {name}\n\n{attached.markdown(files, request, depth + 1)}")
                continue
            data = self._streams.read(f"{path}0102")
            files.append(EmbeddedFile(name, data, problem="" if data else "its data are not in the message"))
        return "\n\n".join(filter(None, ("\n".join(headers).rstrip(), body, *inner)))

    def _body(self, request: ParseRequest) -> str:
        path = f"{self._folder}{_PREFIX}"
        html = self._streams.read(f"{path}{_HTML:04x}0102")
        text = decode(html, f"text/html{self._charset(_INTERNET_CODE_PAGE)}") or self.text(_HTML, keep_lines=True)
        converted, problems = convert_html(text) if text else ("", ())
        self._problems += problems
        texts = choose_alternatives([self.text(_PLAIN, keep_lines=True), converted])
        rtf = b"" if texts else rtf_reader.decompress(self._streams.read(f"{path}{_RTF:04x}0102"))
        try:
            return "\n\n".join(texts) if texts else rtf_reader.read(rtf, request).markdown if rtf else ""
        except ScraperError as error:
            return f"(The text of the message is not read: {error})"
