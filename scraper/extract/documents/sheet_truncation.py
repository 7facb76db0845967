"""Cuts sheets of a million rows to their beginning, before a reader that keeps room for every cell."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass

from scraper.extract.documents.safe_zip import MAX_PART_BYTES, Parts

MAX_ROWS = 20_000
MAX_COUNTED_BYTES = 400_000_000
"""Of a sheet that is only counted; a million rows of ten columns have as many."""

_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_LEFT_OUT = re.compile(r"xl/(?:media|embeddings|drawings|charts|printerSettings|theme)/")
_NAME = re.compile(rb"<((?:[A-Za-z_][\w.-]*:)?)sheetData\b")
_SMALL_BYTES = 20_000_000
"""A sheet up to here is read whole: what stands after its rows says which cells are merged."""
_SEAM = 64


@dataclass(frozen=True, slots=True)
class SheetTruncation:
    """A workbook that is small enough, and what was left out of it."""

    data: bytes
    rows: dict[str, int]
    """How many rows the cut sheets had, by their parts; at least, where counting was ended."""
    sheets: dict[str, bytes]
    """The sheets as they are read, by their parts."""


def cut_sheets(data: bytes, parts: Parts) -> SheetTruncation:
    """A workbook of which each sheet has no more rows than are shown.

    Raises:
        Malformed, TooLarge, Encrypted: a part cannot be read, or is too large without any rows.
    """
    rows: dict[str, int] = {}
    sheets: dict[str, bytes] = {}
    for name in parts.names:
        if not _SHEET.fullmatch(name):
            continue
        if parts.size_of(name) <= _SMALL_BYTES:
            sheets[name] = parts.read(name)
            continue
        sheets[name], count = _beginning(parts.chunks(name, MAX_COUNTED_BYTES))
        if count > MAX_ROWS:
            rows[name] = count
    return SheetTruncation(_written(parts, sheets) if rows else data, rows, sheets)


def _beginning(chunks: Iterable[bytes]) -> tuple[bytes, int]:
    """The first rows of a sheet, and how many it has."""
    kept, count, seam, close = bytearray(), 0, b"", b""
    for chunk in chunks:
        if count <= MAX_ROWS and len(kept) < MAX_PART_BYTES:
            kept += chunk
        if not close:
            named = _NAME.search(bytes(kept[: 1 << 20]))
            close = b"</" + named[1] + b"row>" if named else b""
            count = kept.count(close) if close else 0
        else:
            count += (seam + chunk).count(close) - seam.count(close)
        seam = chunk[-_SEAM:]
    return (_closed(kept, close), count) if count > MAX_ROWS else (bytes(kept), count)


def _closed(xml: bytearray, close: bytes) -> bytes:
    """A sheet's first rows with its ends set anew."""
    at = 0
    for _ in range(MAX_ROWS):
        following = xml.find(close, at)
        if following < 0:
            break
        at = following + len(close)
    prefix = close[2:-4]
    return bytes(xml[:at]) + b"</" + prefix + b"sheetData></" + prefix + b"worksheet>"


def _written(parts: Parts, sheets: dict[str, bytes]) -> bytes:
    """The workbook with other sheets, and without what is no text."""
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name in parts.names:
                if not _LEFT_OUT.match(name) and not name.endswith("/"):
                    archive.writestr(name, sheets[name] if name in sheets else parts.read(name))
        return file.getvalue()
