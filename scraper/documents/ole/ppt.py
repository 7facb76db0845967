"""Reader of PowerPoint files of the format used from 1997 to 2003: texts of slides and notes (MS-PPT)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.ole.compound_file import CompoundFile
from scraper.errors import EncryptedDocumentError, MalformedDocumentError

_MAIN = "PowerPoint Document"
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


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the texts of the slides; tables and lists appear as plain text.

    Raises:
        EncryptedDocumentError: The file needs a password.
        MalformedDocumentError: The file is damaged.
    """
    streams = CompoundFile(data)
    stream = streams.read(_MAIN)
    if "EncryptedSummary" in streams:
        raise EncryptedDocumentError(
            "The presentation is locked with a password.", next_step="Save it without a password."
        )
    reader = _SlideReader(stream)
    try:
        slides = reader.read()
    except (struct.error, IndexError):
        raise MalformedDocumentError("The presentation is damaged: its text cannot be recovered.") from None
    pages = (f"<!-- page {number} -->\n\n{text}".rstrip() for number, text in enumerate(slides, 1))
    markdown = "\n\n".join(pages) if any(slides) else ""
    warning = "Lists and tables of this old PowerPoint format appear as plain text."
    return ParsedDocument("ppt", markdown, pages=len(slides), warnings=(warning,))


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
