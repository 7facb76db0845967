"""Readers of the binary formats of Office from 1997 to 2003, in OLE compound files.

Word (MS-DOC): text, tables and notes. PowerPoint (MS-PPT): texts of slides and notes.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from scraper.documents.compound_file import CompoundFile
from scraper.documents.markdown_writing import join_pages, pipe_table
from scraper.documents.model import ParsedDocument, ParseRequest, locked_error
from scraper.errors import MalformedDocumentError, UnsupportedTypeError

_SIGNATURE, _FIRST_VERSION = 0xA5EC, 0x00C1
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
_COUNTS_AT, _PIECES_AT = 0x4C, 0x01A2
"""Offsets in the File Information Block: counts of characters by part, place of the piece table."""
_MARGINS = 2
"""Index of headers and footers among these parts; macros follow, then comments, endnotes and text boxes."""
_ONE_BYTE = 0x40000000
_FIELD = re.compile("\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_MAX_FIELD_DEPTH = 20
_DROPPED: dict[int, int | None] = dict.fromkeys([*range(1, 7), 8, *range(0x0E, 0x13), *range(0x16, 0x1E), 0x1F])
_DROPPED[0x1E] = ord("-")
_MAX_COLUMNS = 63
_ADVICE = "Convert it to .docx (Word, LibreOffice: `soffice --convert-to docx`), or look for a PDF."


def read_word(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return paragraphs and tables, or page headers and footers if there are none.

    The styles of headings and lists are not read.

    Raises:
        EncryptedDocumentError: The file needs a password.
        MalformedDocumentError: The file is damaged.
        UnsupportedTypeError: The format is older than 1997.
    """
    streams = CompoundFile(data)
    main = streams.read("WordDocument")
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
        raise locked_error("The Word file")
    table = streams.read("1Table" if flags & _SECOND_TABLE else "0Table")
    at, size = struct.unpack_from("<II", main, _PIECES_AT)
    characters = "".join(_pieces(table[at : at + size], main))
    counts = [max(0, count) for count in struct.unpack_from("<7i", main, _COUNTS_AT)]
    ends = list(accumulate(counts))
    parts = [characters[end - count : end] for count, end in zip(counts, ends, strict=True)]
    headers = parts.pop(_MARGINS)
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


_CONTAINER = 0x0F
_SLIDE, _NOTES, _NOTES_FACTS, _LIST, _LIST_ITEM = 0x03EE, 0x03F0, 0x03F1, 0x0FF0, 0x03F3
_SLIDE_ID_AT = 12
"""Offset in a list item of the ID that notes refer to."""
_HEADER, _CHARACTERS, _BYTES = 0x0F9F, 0x0FA0, 0x0FA8
"""Types of records: type of a text, text in UTF-16, text in single bytes."""
_TITLES = (0, 6)
_MAX_DEPTH = 20
_MAX_RECORDS = 200_000
_NOT_TEXT = "*"
"""Placeholder of slide numbers and dates."""


class _Record(NamedTuple):
    kind: int
    instance: int
    start: int
    end: int
    is_container: bool


def read_slides(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the texts of the slides; tables and lists appear as plain text.

    Raises:
        EncryptedDocumentError: The file needs a password.
        MalformedDocumentError: The file is damaged.
    """
    streams = CompoundFile(data)
    if "EncryptedSummary" in streams:
        raise locked_error("The presentation")
    try:
        slides = _SlideReader(streams.read("PowerPoint Document")).read()
    except (struct.error, IndexError):
        raise MalformedDocumentError("The presentation is damaged: its text cannot be recovered.") from None
    warning = "Lists and tables of this old PowerPoint format appear as plain text."
    return ParsedDocument("ppt", join_pages(list(enumerate(slides, 1))), pages=len(slides), warnings=(warning,))


class _SlideReader:
    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self._remaining = _MAX_RECORDS

    def read(self) -> list[str]:
        """Return the text of each slide: from the outline, then from its drawing, then its notes."""
        outlines: list[tuple[int, list[str]]] = []
        drawings: list[list[str]] = []
        notes: dict[int, list[str]] = {}
        for record in self._records(0, len(self._stream), 0):
            if record.kind == _LIST and record.instance == 0:
                outlines += self._outline(record)
            elif record.kind == _SLIDE:
                drawings.append(list(self._texts(record)))
            elif record.kind == _NOTES and (slide := self._slide_of_notes(record)):
                notes[slide] = list(self._texts(record))
        slides = []
        for index in range(max(len(outlines), len(drawings))):
            number, texts = outlines[index] if index < len(outlines) else (0, [])
            texts = texts + (drawings[index] if index < len(drawings) else [])
            slides.append("\n\n".join([*dict.fromkeys(texts), *(f"Notes: {text}" for text in notes.get(number, ()))]))
        return slides

    def _slide_of_notes(self, parent: _Record) -> int:
        """Return the ID of the slide that notes belong to; 0 for the master of notes."""
        records = self._records(parent.start, parent.end, 0)
        ids = (self._number(record.start) for record in records if record.kind == _NOTES_FACTS)
        return next(ids, 0)

    def _records(self, start: int, end: int, depth: int) -> Iterator[_Record]:
        """Yield the records, and those inside of containers that are neither slides nor lists."""
        while start + 8 <= end and self._remaining > 0:
            self._remaining -= 1
            version, kind, length = struct.unpack_from("<HHI", self._stream, start)
            stop = min(end, start + 8 + length)
            record = _Record(kind, version >> 4, start + 8, stop, version & 0x0F == _CONTAINER)
            yield record
            if record.is_container and kind not in (_SLIDE, _NOTES, _LIST) and depth < _MAX_DEPTH:
                yield from self._records(record.start, stop, depth + 1)
            start = stop

    def _outline(self, parent: _Record) -> list[tuple[int, list[str]]]:
        """Return ID and texts of the placeholders of each slide."""
        slides: list[tuple[int, list[str]]] = []
        kind = -1
        for record in self._records(parent.start, parent.end, 0):
            if record.kind == _LIST_ITEM:
                slides.append((self._number(record.start + _SLIDE_ID_AT), []))
            elif record.kind == _HEADER:
                kind = self._number(record.start)
            elif slides and (text := self._text(record, kind)):
                slides[-1][1].append(text)
        return slides

    def _texts(self, parent: _Record) -> Iterator[str]:
        kind = -1
        for record in self._records(parent.start, parent.end, 0):
            if record.kind == _HEADER:
                kind = self._number(record.start)
            elif text := self._text(record, kind):
                yield text

    def _number(self, at: int) -> int:
        return int(struct.unpack_from("<I", self._stream, at)[0])

    def _text(self, record: _Record, kind: int) -> str:
        """Return the text of a record; empty for other records."""
        if record.kind not in (_CHARACTERS, _BYTES):
            return ""
        data = self._stream[record.start : record.end]
        text = data.decode("utf-16-le" if record.kind == _CHARACTERS else "latin-1", "replace")
        lines = [line for part in text.replace("\x0b", "\r").split("\r") if (line := " ".join(part.split()))]
        if not lines or lines == [_NOT_TEXT]:
            return ""
        return f"# {' '.join(lines)}" if kind in _TITLES else "\n\n".join(lines)
