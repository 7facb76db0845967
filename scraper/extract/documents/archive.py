"""An archive is listed, never extracted."""

from __future__ import annotations

import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from scraper.extract.characters import line
from scraper.extract.documents.grids import pipe_table
from scraper.extract.documents.model import Asked, Parsed

__all__ = ["read"]

MAX_SHOWN = 500
MAX_INFLATED_BYTES = 64_000_000
"""Of a compressed tar: its list is spread over all of it."""
_MAX_NAME = 200
_KINDS = (
    (b"PK", "zip"), (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"), (b"\x28\xb5\x2f\xfd", "zstd"),
)  # fmt: skip


def read(data: bytes, asked: Asked) -> Parsed:
    """What the archive says it holds."""
    kind = next((name for mark, name in _KINDS if data.startswith(mark)), "tar")
    entries = _zip_entries(data) if kind == "zip" else _tar_entries(data, kind)
    head = f"Archive ({kind}, {len(data):,} bytes). Its files are listed, not extracted."
    if entries is None:
        return Parsed("archive", f"{head}\n\nIts list cannot be read here.")
    rows = [[line(name, _MAX_NAME), f"{size:,}"] for name, size in entries[:MAX_SHOWN]]
    parts = [head, f"{len(entries):,} entries.", pipe_table([["name", "bytes"], *rows])]
    warnings = (f"Only the first {MAX_SHOWN:,} entries are shown.",) if len(entries) > MAX_SHOWN else ()
    return Parsed("archive", "\n\n".join(parts), warnings=warnings)


def _zip_entries(data: bytes) -> list[tuple[str, int]] | None:
    try:
        with zipfile.ZipFile(BytesIO(data)) as opened:
            return [(entry.filename, entry.file_size) for entry in opened.infolist()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error):
        return None


def _tar_entries(data: bytes, kind: str) -> list[tuple[str, int]] | None:
    inside = _inflated(data) if kind == "gzip" else data if kind == "tar" else b""
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
        return  # cut off: what stood before is told


def _inflated(data: bytes) -> bytes:
    """A gzip's beginning; what is damaged or beyond the bound is left out."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data, MAX_INFLATED_BYTES)
    except zlib.error:
        return b""
