"""Detect the format of a document from its bytes; name and declared type are only used to choose among text formats."""

import enum
import re
import struct
import zipfile
import zlib
from io import BytesIO

from scraper.documents.compound_file import CompoundFile
from scraper.errors import MalformedDocumentError
from scraper.values.text import read_table


class DocumentKind(enum.StrEnum):
    """Formats that are distinguished."""

    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"
    XLSB = "xlsb"
    XLS = "xls"
    ODS = "ods"
    PPTX = "pptx"
    EPUB = "epub"
    ODT = "odt"
    ODP = "odp"
    RTF = "rtf"
    DOC = "doc"
    PPT = "ppt"
    LOCKED_OFFICE = "locked office document"
    DAMAGED_OFFICE = "damaged office document"
    CSV = "csv"
    FEED = "feed"
    FICTION_BOOK = "fb2"
    JSON = "json"
    NOTEBOOK = "ipynb"
    XML = "xml"
    TRANSCRIPT = "transcript"
    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    EMAIL = "eml"
    IMAGE = "image"
    ARCHIVE = "archive"
    MSG = "msg"
    IWORK = "iwork"
    BINARY = "binary"
    EMPTY = "empty"


FORMATS = read_table(__package__, "formats.toml")
_DOCUMENTS = frozenset(DocumentKind[name] for name in FORMATS["documents"].split())
"""Formats of documents, as opposed to web pages and text files."""
CONTAINER_FORMATS = (DocumentKind.EMAIL, DocumentKind.MSG, DocumentKind.ARCHIVE)
"""Formats of files that contain other files."""
_PDF_SIGNATURE_BYTES = 1_024
"""Bytes that are searched for the signature; Acrobat's own rule."""
_PDF_JUNK_BYTES = 65_536
"""Bytes before the signature of a file that ends as a PDF does."""
_HEAD_BYTES = 4_096
_ZIP_NAMES = 3_000

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS, _OFFICE_PARTS = (
    tuple((part, DocumentKind[name]) for part, name in FORMATS[key]) for key in ("ole_streams", "office_parts")
)
_MIMETYPES = {media_type: DocumentKind[name] for media_type, name in FORMATS["mimetypes"].items()}
_IWORK_PARTS = ("Index/Document.iwa", "Index.zip", "index.apxl", "index.xml.gz", "QuickLook/")
_MAIN_TYPE = re.compile(
    rb"(?:(wordprocessingml|ms-word)|(ms-excel\.sheet\.binary)|(spreadsheetml|ms-excel)|(?:presentationml|ms-powerpoint))"
    rb"\.[\w.]{0,60}?(?<=\.)main\b",
    re.IGNORECASE,
)
"""Content type of the main part. Charts of slides bring workbooks, whose types do not end so."""
_MAIN_KINDS = (DocumentKind.PPTX, DocumentKind.DOCX, DocumentKind.XLSB, DocumentKind.XLSX)
_IMAGES = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*",
    b"\0\0\1\0", b"8BPS", b"\xff\x0a",
)  # fmt: skip
_ARCHIVES = (
    b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
_FTYP_IMAGES = (b"avif", b"avis", b"heic", b"heix", b"mif1", b"msf1")
_HTML = re.compile(
    rb"(?:\s++|<\?xml[^>]*+>|<!--(?:(?!-->).)*+-->)*+"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|p|h1|table)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Possessive: when comments could end at any of several marks, 28 of them took half a minute."""
_XML = re.compile(rb"\s*<(?:\?xml\b|!--|!doctype\b|[A-Za-z_][\w:.-]*[\s/>])", re.IGNORECASE)
_ROOT = re.compile(rb"<(?:[\w.-]{1,40}:)?(rss|feed|rdf|fictionbook|svg|html)[\s>]", re.IGNORECASE)
_FEEDS = frozenset({b"rss", b"feed", b"rdf"})
_TRANSCRIPT = re.compile(rb"(?:<\?xml[^>]*+>)?\s*<transcript>\s*<text start=\"")
_HEADER_BLOCK = re.compile(rb"(?:>?From [^\n]*\n)?((?:[!-9;-~]{1,100}:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z))+)")
"""Header fields of an email (RFC 5322, 2.2), which a line of a mailbox may precede."""
_HEADER_NAME = re.compile(rb"^[!-9;-~]+(?=:)", re.MULTILINE)
_EMAIL_HEADERS = frozenset(
    b"from to date subject message-id received return-path mime-version content-type delivered-to "
    b"authentication-results sender reply-to content-transfer-encoding newsgroups".split()
)
"""Two of these, in any place, make a block of header fields that of an email."""
_EMAIL_NAMES = (".eml", ".emlx", ".mbox", ".mbx", ".mht", ".mhtml")
_EMAIL_TYPES = ("message/rfc822", "application/mbox", "multipart/related", "application/x-mimearchive")
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_MARKDOWN_NAMES = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd")
_CSV_NAMES = (".csv", ".tsv", ".tab")
_CSV_TYPES = ("text/csv", "application/csv", "text/tab-separated-values")
TNEF, SEALED, _SEAL_BYTES = b"\x78\x9f\x3e\x22", bytes.fromhex("06092a864886f70d0107"), 40
"""Signature of a mail of Outlook in a file (MS-OXTNEF), and the beginning of object identifiers (RFC 5652)."""
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b")


def sniff_kind(data: bytes, *, media_type: str = "", name: str = "") -> DocumentKind:
    """Return the format of a file."""
    head = data[:_HEAD_BYTES]
    if not data.strip():
        return DocumentKind.EMPTY
    if _is_pdf(data):
        return DocumentKind.PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _detect_zip_kind(data)
    if head.startswith(_OLE):  # By the streams of its root; those of embedded files are in storages.
        try:
            streams = CompoundFile(data)
        except MalformedDocumentError:
            return DocumentKind.DAMAGED_OFFICE
        return next((kind for name, kind in _OLE_STREAMS if name in streams), DocumentKind.BINARY)
    if head.startswith(b"{\\rtf"):
        return DocumentKind.RTF
    if head.startswith(TNEF) or (head.startswith(b"0") and SEALED in head[:_SEAL_BYTES]):
        return DocumentKind.EMAIL
    is_boxed = head[4:8] == b"ftyp" and head[8:12] in _FTYP_IMAGES
    is_webp = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
    if is_boxed or is_webp or (head.startswith(_IMAGES) and _count_controls(head)):
        return DocumentKind.IMAGE
    if head.startswith(_ARCHIVES) or data[257:262] == b"ustar":
        return DocumentKind.ARCHIVE
    return _detect_text_kind(data, head, media_type, name.lower())


def is_document(body: bytes, media_type: str) -> bool:
    """Return True if a response is a document, not a page or a text."""
    return sniff_kind(body, media_type=media_type) in _DOCUMENTS


def _is_pdf(data: bytes) -> bool:
    """Return True for a PDF, which may follow junk such as the headers of an HTTP response."""
    at = data.find(b"%PDF-", 0, _PDF_JUNK_BYTES)
    if at <= 0:
        return at == 0
    if at >= _PDF_SIGNATURE_BYTES and b"startxref" not in data[-_PDF_SIGNATURE_BYTES:]:
        return False
    if data.startswith((b"PK\x03\x04", _OLE, *_ARCHIVES)) or data[257:262] == b"ustar":
        return False
    return not _HTML.match(data[:at])


def _detect_zip_kind(data: bytes) -> DocumentKind:
    """Return the format of a zip file, from its parts, their folders or the list of their types."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = {entry.filename for entry in archive.infolist()[:_ZIP_NAMES]}
            if "mimetype" in names:
                declared = _read_start(archive, "mimetype").decode("ascii", "replace").strip()
                for prefix, kind in _MIMETYPES.items():
                    if declared.startswith(prefix):
                        return kind
            types = _read_start(archive, "[Content_Types].xml", 1 << 20) if "[Content_Types].xml" in names else b""
            if main := _MAIN_TYPE.search(types):
                return _MAIN_KINDS[main.lastindex or 0]
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, OSError, RuntimeError, struct.error):
        # Without a directory, search the names of the parts.
        return next((kind for part, kind in _OFFICE_PARTS if part.encode() in data), DocumentKind.ARCHIVE)
    if any(name.startswith(_IWORK_PARTS) for name in names):
        return DocumentKind.IWORK
    for part, kind in _OFFICE_PARTS:
        if any(name.startswith(part) for name in names):
            return kind
    return DocumentKind.ARCHIVE


def _read_start(archive: zipfile.ZipFile, name: str, limit: int = 200) -> bytes:
    try:
        with archive.open(name) as part:
            return part.read(limit)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, RuntimeError, EOFError, zlib.error):
        return b""


def _count_controls(head: bytes) -> int:
    return len(head) - len(head.translate(None, _CONTROLS))


def _detect_text_kind(data: bytes, head: bytes, media_type: str, name: str) -> DocumentKind:
    zeros = head.count(0)  # UTF-16 without a byte order mark has them as every other byte.
    is_wide = zeros > len(head) // 3 and max(head[::2].count(0), head[1::2].count(0)) > zeros * 0.9
    is_utf16 = head.startswith(_BYTE_ORDER_MARKS[:2]) or is_wide
    if not is_utf16 and _count_controls(head) > len(head) // 50:
        return DocumentKind.BINARY
    plain = head.replace(b"\0", b"").lstrip(b"\xff\xfe").removeprefix(_BYTE_ORDER_MARKS[2]).lstrip()
    if _HTML.match(plain):
        return DocumentKind.HTML
    if plain.startswith(b"<") and _XML.match(plain):
        return _detect_markup_kind(plain)
    if plain.startswith((b"{", b"[")) and _is_json(data, media_type, name):
        return DocumentKind.NOTEBOOK if b'"cell_type"' in data and b'"nbformat"' in data else DocumentKind.JSON
    if media_type.partition(";")[0] in _CSV_TYPES or name.endswith(_CSV_NAMES):
        return DocumentKind.CSV
    if "markdown" in media_type or name.endswith(_MARKDOWN_NAMES):
        return DocumentKind.MARKDOWN
    return DocumentKind.EMAIL if _is_email(plain, media_type, name) else DocumentKind.TEXT


def _is_email(plain: bytes, media_type: str, name: str) -> bool:
    """Return True for a block of header fields that has those of an email, or whose name or type says so."""
    block = _HEADER_BLOCK.match(plain.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    if block is None:
        return False
    is_declared = media_type.partition(";")[0] in _EMAIL_TYPES or name.endswith(_EMAIL_NAMES)
    found = {header.lower() for header in _HEADER_NAME.findall(block[1])} & _EMAIL_HEADERS
    return bool(found) and (is_declared or (len(found) > 1 and found != {b"date", b"subject"}))


def _detect_markup_kind(plain: bytes) -> DocumentKind:
    names = set(map(bytes.lower, _ROOT.findall(plain)))
    if not names.isdisjoint(_FEEDS):
        return DocumentKind.FEED
    if b"fictionbook" in names:
        return DocumentKind.FICTION_BOOK
    if _TRANSCRIPT.match(plain):
        return DocumentKind.TRANSCRIPT
    if b"svg" in names:
        return DocumentKind.IMAGE
    return DocumentKind.HTML if b"html" in names else DocumentKind.XML


def _is_json(data: bytes, media_type: str, name: str) -> bool:
    if "json" in media_type or name.endswith((".json", ".jsonl", ".ndjson", ".geojson", ".ipynb")):
        return True
    end = data[-64:].rstrip(b"\0 \r\n\t")
    return end.endswith((b"}", b"]")) and re.match(rb'[{\[]\s*["{\[\d\]}tfn-]', data.lstrip()[:64]) is not None
