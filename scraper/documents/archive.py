"""Readers of zip and tar archives: their files are listed, and the documents in a zip file read.

Files of Apple Pages, Numbers and Keynote are zip files too. Their PDF preview is read, if they contain one.
"""

import bz2
import contextlib
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO

from scraper.documents.dispatcher import EmbeddedFile, read_embedded
from scraper.documents.markdown_writing import pipe_table
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.pdf import reader as pdf_reader
from scraper.documents.safe_zip import ZipParts
from scraper.errors import MalformedDocumentError, ScraperError, UnsupportedTypeError
from scraper.text.sanitize import clean_line

_MAX_LISTED = 500
_MAX_INFLATED_BYTES = 64_000_000
"""Bytes. Limit for a compressed tar, whose entries are spread over the whole file."""
_XZ_MEMORY_BYTES = 128 << 20
_MAX_NAME_CHARS = 200
_DOCUMENT_NAMES = (
    ".pdf", ".docx", ".docm", ".doc", ".xlsx", ".xlsm", ".xls", ".xlsb", ".pptx", ".pptm", ".ppsx", ".ppt", ".odt",
    ".ods", ".odp", ".rtf", ".epub", ".fb2", ".pages", ".numbers", ".key", ".csv", ".tsv", ".txt", ".md", ".rst",
    ".adoc", ".org", ".tex", ".ipynb", ".html", ".htm", ".xhtml", ".ics", ".vcf", ".srt", ".vtt",
)  # fmt: skip
warm_up = pdf_reader.warm_up
_METADATA_FOLDER = "__MACOSX/"
_GZIP_NAME = re.compile(rb"\x1f\x8b\x08[\x08-\x0b].{6}([^\0]{1,500})\0", re.DOTALL)
"""RFC 1952, 2.3: the name follows the header directly if its flag is the only one before it."""
_SIGNATURES = (
    (b"PK", "zip"), (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"), (b"\x28\xb5\x2f\xfd", "zstd"),
)  # fmt: skip


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the list of names and sizes in the archive, and the documents of a zip file.

    Raises:
        MalformedDocumentError: A zip file has no complete list of its files.
    """
    kind = next((name for signature, name in _SIGNATURES if data.startswith(signature)), "tar")
    entries: list[tuple[str, int]] | None
    head = f"Archive ({kind}, {len(data):,} bytes). Its files are listed, not extracted."
    sections: list[str] = []
    warnings: tuple[str, ...] = ()
    if kind == "zip":
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                entries = [(entry.filename, entry.file_size) for entry in archive.infolist()]
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error):
            raise MalformedDocumentError(
                "The zip file is damaged, or was cut off: it has no complete list of its files."
            ) from None
        sections, warnings = read_embedded(_documents(data), request)
        if sections:
            head = f"Archive ({kind}, {len(data):,} bytes). The documents in it follow the list of its files."
            warnings += _warn_of_unread(entries)
    else:
        content = _decompress(data, kind)
        entries = _tar_entries(content)
        if entries is None and content:
            gzip_name = _GZIP_NAME.match(data)
            name = f" {clean_line(gzip_name[1].decode('latin-1'), _MAX_NAME_CHARS)}" if gzip_name else ""
            size = f"{'at least ' * (len(content) >= _MAX_INFLATED_BYTES)}{len(content):,} bytes"
            return ParsedDocument("archive", f"{head}\n\nIt holds one file{name} of {size}.")
    if entries is None:
        return ParsedDocument("archive", f"{head}\n\nThe list of {kind} files is not read here: unpack it first.")
    rows = [[clean_line(name, _MAX_NAME_CHARS), f"{size:,}"] for name, size in entries[:_MAX_LISTED]]
    parts = [head, f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'}."]
    parts += [pipe_table([["name", "bytes"], *rows])] if rows else []
    if len(entries) > _MAX_LISTED:
        warnings = (f"Only the first {_MAX_LISTED:,} entries are shown.", *warnings)
    return ParsedDocument("archive", "\n\n".join([*parts, *sections]), warnings=warnings)


def _documents(data: bytes) -> Iterator[EmbeddedFile]:
    try:
        parts = ZipParts(data)
    except ScraperError:
        return
    for name in parts.names:
        if _is_document(name):
            try:
                yield EmbeddedFile(name, parts.read(name))
            except ScraperError as error:
                yield EmbeddedFile(name, b"", problem=str(error))


def _is_document(name: str) -> bool:
    return name.lower().endswith(_DOCUMENT_NAMES) and not name.startswith(_METADATA_FOLDER)


def _warn_of_unread(entries: list[tuple[str, int]]) -> tuple[str, ...]:
    """Return a warning about the files of a zip archive that are not documents by the endings of their names."""
    names = [name for name, _ in entries if not name.endswith("/") and not name.startswith(_METADATA_FOLDER)]
    unread = [name for name in names if not _is_document(name)]
    if not unread:
        return ()
    first = clean_line(unread[0], _MAX_NAME_CHARS)
    return (f"{len(unread):,} of {len(names):,} files are listed but not read, such as {first}: unpack them first.",)


def _tar_entries(content: bytes) -> list[tuple[str, int]] | None:
    if content[257:262] != b"ustar":
        return None
    entries: list[tuple[str, int]] = []
    try:
        with tarfile.open(fileobj=BytesIO(content), mode="r:") as archive, contextlib.suppress(tarfile.TarError):
            entries.extend((member.name, member.size) for member in archive)  # Stops where a truncated archive ends.
    except (tarfile.TarError, ValueError, OSError, EOFError):
        return None
    return entries


def _decompress(data: bytes, kind: str) -> bytes:
    """Return the first decompressed bytes; empty if the data are damaged or of another compression."""
    if kind == "tar":
        return data
    with contextlib.suppress(zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
        if kind == "gzip":
            return zlib.decompressobj(wbits=31).decompress(data, _MAX_INFLATED_BYTES)
        if kind == "bzip2":
            return bz2.BZ2Decompressor().decompress(data, _MAX_INFLATED_BYTES)
        if kind == "xz":
            return lzma.LZMADecompressor(memlimit=_XZ_MEMORY_BYTES).decompress(data, _MAX_INFLATED_BYTES)
    return b""


_PREVIEWS = ("QuickLook/Preview.pdf", "preview.pdf")
_EXPORT = "Export it as PDF or Word (File > Export To), or look for another copy."


def read_iwork(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of the preview.

    Raises:
        UnsupportedTypeError: There is no preview in PDF.
        MalformedDocumentError: The preview is damaged.
    """
    parts = ZipParts(data)
    preview = next((name for name in _PREVIEWS if name in parts), None)
    if preview is None:
        raise UnsupportedTypeError(
            "This is a file of Apple Pages, Numbers or Keynote without a preview in PDF, which is not read here.",
            next_step=_EXPORT,
        )
    try:
        parsed = pdf_reader.read(parts.read(preview), request)
    except MalformedDocumentError:
        raise MalformedDocumentError("The PDF preview in this Apple file is damaged.", next_step=_EXPORT) from None
    warning = "Only the preview in this Apple file was read: it may lack pages, and text that was changed since."
    return replace(parsed, format="iwork", warnings=(*parsed.warnings, warning))
