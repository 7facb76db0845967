"""Reader of Word files of the format used from 1997 to 2003: text, tables and notes (MS-DOC)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import accumulate

from scraper.documents.markdown_writing import pipe_table
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.ole.compound_file import CompoundFile
from scraper.errors import EncryptedDocumentError, MalformedDocumentError, UnsupportedTypeError

_MAIN = "WordDocument"
_SIGNATURE, _FIRST_VERSION = 0xA5EC, 0x00C1
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
_COUNTS_AT, _PIECES_AT = 0x4C, 0x01A2
"""Offsets in the File Information Block: counts of characters by part, place of the piece table."""
_HEADERS = 2
"""Index of headers and footers among these parts; macros follow, then comments, endnotes and text boxes."""
_ONE_BYTE = 0x40000000
_FIELD = re.compile("\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_MAX_FIELD_DEPTH = 20
_DROPPED: dict[int, int | None] = dict.fromkeys([*range(1, 7), 8, *range(0x0E, 0x13), *range(0x16, 0x1E), 0x1F])
_DROPPED[0x1E] = ord("-")
_MAX_COLUMNS = 63
_ADVICE = "Convert it to .docx (Word, LibreOffice: `soffice --convert-to docx`), or look for a PDF."


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return paragraphs and tables, or page headers and footers if there are none.

    The styles of headings and lists are not read.

    Raises:
        EncryptedDocumentError: The file needs a password.
        MalformedDocumentError: The file is damaged.
        UnsupportedTypeError: The format is older than 1997.
    """
    streams = CompoundFile(data)
    main = streams.read(_MAIN)
    try:
        texts = _read_texts(main, streams)
    except (struct.error, IndexError, ValueError):
        raise MalformedDocumentError("The Word file is damaged: its text cannot be recovered.") from None
    markdown = next(filter(None, ("\n\n".join(_blocks(_resolve_fields(text))) for text in texts)), "")
    return ParsedDocument(
        "doc", markdown, warnings=("Headings and lists of this old Word format appear as plain text.",)
    )


def _read_texts(main: bytes, streams: CompoundFile) -> tuple[str, str]:
    """Return the text of the document, and that of its page headers and footers."""
    signature, version = struct.unpack_from("<HH", main, 0)
    (flags,) = struct.unpack_from("<H", main, 10)
    if signature != _SIGNATURE or version < _FIRST_VERSION:
        raise UnsupportedTypeError(
            "This is a Word file of a format older than 1997, which is not read.", next_step=_ADVICE
        )
    if flags & _ENCRYPTED:
        raise EncryptedDocumentError(
            "The Word file is locked with a password.",
            next_step="Save it without a password, or look for another copy.",
        )
    table = streams.read("1Table" if flags & _SECOND_TABLE else "0Table")
    at, size = struct.unpack_from("<II", main, _PIECES_AT)
    characters = "".join(_pieces(table[at : at + size], main))
    counts = [max(0, count) for count in struct.unpack_from("<7i", main, _COUNTS_AT)]
    ends = list(accumulate(counts))
    parts = [characters[end - count : end] for count, end in zip(counts, ends, strict=True)]
    headers = parts.pop(_HEADERS)
    return "\r".join(parts), headers


def _pieces(pieces: bytes, main: bytes) -> Iterator[str]:
    """Yield the text of the pieces in their order."""
    at = 0
    while pieces[at] == 1:  # Properties before the table.
        at += 3 + int(struct.unpack_from("<H", pieces, at + 1)[0])
    (size,) = struct.unpack_from("<I", pieces, at + 1)
    table = pieces[at + 5 : at + 5 + size]
    count = (len(table) - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", table)
    for index in range(count):
        (place,) = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * index + 2)
        length = max(0, ends[index + 1] - ends[index])
        if place & _ONE_BYTE:
            start = (place & ~_ONE_BYTE) // 2
            yield main[start : start + length].decode("cp1252", "replace")
        else:
            yield main[place : place + 2 * length].decode("utf-16-le", "replace")


def _resolve_fields(text: str) -> str:
    """Replace fields such as links and page numbers by their displayed results, from the innermost outwards."""
    for _ in range(_MAX_FIELD_DEPTH):
        text, count = _FIELD.subn(lambda match: match[1] or "", text)
        if not count:
            break
    return text.translate(_DROPPED)


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and tables; a mark ends each cell, and one more each row."""
    cells: list[str] = []
    for piece in re.split("(?<=\x07)", text):
        if piece.endswith("\x07"):
            *before, last = piece[:-1].split("\r") if not cells else [piece[:-1]]
            yield from _paragraphs(before)
            cells.append(" ".join(last.split()))
            continue
        yield from _table(cells)
        cells = []
        yield from _paragraphs(re.split("[\r\x0c]", piece))
    yield from _table(cells)


def _paragraphs(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if joined := "<br>".join(filter(None, (" ".join(part.split()) for part in line.split("\x0b")))):
            yield joined


def _table(cells: list[str]) -> Iterator[str]:
    """Yield the rows as a table if one width explains all marks of row ends, which look like empty cells."""
    if not cells:
        return
    for width in range(1, min(_MAX_COLUMNS, len(cells)) + 1):
        if len(cells) % (width + 1) == 0 and not any(cells[width :: width + 1]):
            yield pipe_table([cells[at : at + width] for at in range(0, len(cells), width + 1)])
            return
    rows: list[list[str]] = [[]]
    for cell in cells:  # Rows of different widths: an empty cell ends one.
        if cell:
            rows[-1].append(cell)
        elif rows[-1]:
            rows.append([])
    yield pipe_table([row for row in rows if row])
