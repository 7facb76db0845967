"""Archive reader: lists the files of zip and tar archives without extracting them."""

from __future__ import annotations

import bz2
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.tables import pipe_table
from scraper.extract.text.sanitize import clean_line

MAX_SHOWN = 500
MAX_INFLATED_BYTES = 64_000_000
"""Bytes. Limit for a compressed tar, whose entries are spread over the whole file."""
_XZ_MEMORY_BYTES = 128 << 20
_MAX_NAME = 200
_GZIP_NAME = re.compile(rb"\x1f\x8b\x08[\x08-\x0b].{6}([^\0]{1,500})\0", re.DOTALL)
"""RFC 1952, 2.3: the name follows the header directly if its flag is the only one before it."""
_KINDS = (
    (b"PK", "zip"), (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"), (b"\x28\xb5\x2f\xfd", "zstd"),
)  # fmt: skip


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the list of names and sizes in the archive."""
    kind = next((name for mark, name in _KINDS if data.startswith(mark)), "tar")
    head = f"Archive ({kind}, {len(data):,} bytes). Its files are listed, not extracted."
    if kind == "zip":
        entries = _zip_entries(data)
    else:
        inside = _decompress(data, kind)
        entries = _tar_entries(inside)
        if entries is None and inside:
            return ParsedDocument("archive", f"{head}\n\n{_describe_single_file(data, inside)}")
    if entries is None:
        return ParsedDocument("archive", f"{head}\n\nThe list of {kind} files is not read here.")
    rows = [[clean_line(name, _MAX_NAME), f"{size:,}"] for name, size in entries[:MAX_SHOWN]]
    parts = [head, f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'}."]
    parts += [pipe_table([["name", "bytes"], *rows])] if rows else []
    warnings = (f"Only the first {MAX_SHOWN:,} entries are shown.",) if len(entries) > MAX_SHOWN else ()
    return ParsedDocument("archive", "\n\n".join(parts), warnings=warnings)


def _zip_entries(data: bytes) -> list[tuple[str, int]] | None:
    try:
        with zipfile.ZipFile(BytesIO(data)) as opened:
            return [(entry.filename, entry.file_size) for entry in opened.infolist()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error):
        return None


def _tar_entries(inside: bytes) -> list[tuple[str, int]] | None:
    if inside[257:262] != b"ustar":
        return None
    try:
        with tarfile.open(fileobj=BytesIO(inside), mode="r:") as opened:
            return list(_members(opened))
    except (tarfile.TarError, ValueError, OSError, EOFError):
        return None


def _members(opened: tarfile.TarFile) -> Iterator[tuple[str, int]]:
    try:
        for member in opened:
            yield member.name, member.size
    except tarfile.TarError:
        return  # Truncated: report the entries before the end.


def _describe_single_file(data: bytes, inside: bytes) -> str:
    """Describe a single compressed file: its name and size."""
    named = _GZIP_NAME.match(data)
    name = f" {clean_line(named[1].decode('latin-1'), _MAX_NAME)}" if named else ""
    more = "at least " if len(inside) >= MAX_INFLATED_BYTES else ""
    return f"It holds one file{name} of {more}{len(inside):,} bytes."


def _decompress(data: bytes, kind: str) -> bytes:
    """Return the first decompressed bytes; empty if the data are damaged or of another compression."""
    if kind == "tar":
        return data
    try:
        if kind == "gzip":
            return zlib.decompressobj(wbits=31).decompress(data, MAX_INFLATED_BYTES)
        if kind == "bzip2":
            return bz2.BZ2Decompressor().decompress(data, MAX_INFLATED_BYTES)
        if kind == "xz":
            packed = lzma.LZMADecompressor(memlimit=_XZ_MEMORY_BYTES)
            return packed.decompress(data, MAX_INFLATED_BYTES)
    except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError):
        pass
    return b""
