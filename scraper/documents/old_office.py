"""Readers of the binary formats of Office from 1997 to 2003, in OLE compound files.

Word (MS-DOC): text, tables and notes. PowerPoint (MS-PPT): texts of slides and notes.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from browsers.http.charset import decode
from scraper.documents.compound_file import CompoundFile
from scraper.documents.markdown_writing import join_pages, pipe_table
from scraper.documents.model import ParsedDocument, ParseRequest, locked_error, name_unread_files
from scraper.errors import MalformedDocumentError, UnsupportedTypeError

_SIGNATURE, _SIGNATURE_6, _FIRST_VERSION = 0xA5EC, 0xA5DC, 0x00C1
_IN_PIECES, _ENCRYPTED, _SECOND_TABLE = 0x0004, 0x0100, 0x0200
_COUNTS_AT, _FORMATS_AT, _PIECES_AT = 0x4C, 0xFA, 0x01A2
"""Offsets in the File Information Block: counts of characters by part, places of the tables of formats and pieces."""
_PAGE_BYTES = 512
"""Bytes of a page of formats (MS-DOC, 2.9.33)."""
_HIDING = (0x0800, 0x083C)
"""Properties of characters (MS-DOC, 2.6.1): deleted while changes are tracked, hidden."""
_OPERAND_BYTES = (1, 1, 2, 4, 2, 2, 0, 3)
"""By the highest three bits of a property; 0 if the first byte says it."""
_HIDDEN = "\x0f"
"""Written instead of hidden characters, which count in the lengths of the parts."""
_MARGINS = 2
"""Index of headers and footers among these parts; macros follow, then comments, endnotes and text boxes."""
_ONE_BYTE = 0x40000000
_FIELD = re.compile("\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_MAX_FIELD_DEPTH = 20
_DROPPED: dict[int, int | None] = dict.fromkeys([*range(1, 7), 8, *range(0x0E, 0x13), *range(0x16, 0x1E), 0x1F])
_DROPPED[0x1E] = ord("-")
_MAX_COLUMNS = 63
_PLAIN_WARNING = "Headings and lists of this old Word format appear as plain text."
_OLD_WARNING = "Its character set is guessed, and text that is deleted or hidden is not left out."
_TOO_OLD = "This is a {} file of a format older than 1997, which is not read."
_ADVICE = "Convert it to a new format, for example by `soffice --convert-to pdf FILE`, or look for a PDF."


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
        texts, warnings = _read_texts(main, streams)
    except (struct.error, IndexError, ValueError):
        raise MalformedDocumentError("The Word file is damaged: its text cannot be recovered.") from None
    for index, text in enumerate(texts):  # Replace fields such as links by what is displayed, the innermost first.
        count, depth = 1, 0
        while count and depth < _MAX_FIELD_DEPTH:
            text, count = _FIELD.subn(lambda match: match[1] or "", text)
            depth += 1
        texts[index] = "\n\n".join(_blocks(text.translate(_DROPPED)))
    markdown = next(filter(None, texts), "")
    return ParsedDocument("doc", markdown, warnings=(_PLAIN_WARNING, *warnings))


def _read_texts(main: bytes, streams: CompoundFile) -> tuple[list[str], list[str]]:
    """Return the text of the document and that of its page headers and footers; and warnings."""
    signature, version = struct.unpack_from("<HH", main, 0)
    (flags,) = struct.unpack_from("<H", main, 10)
    if signature != _SIGNATURE or version < _FIRST_VERSION:
        return [_read_single_piece(signature, flags, main), ""], [_OLD_WARNING]
    if flags & _ENCRYPTED:
        raise locked_error("The Word file")
    table = streams.read("1Table" if flags & _SECOND_TABLE else "0Table")
    at, size = struct.unpack_from("<II", main, _PIECES_AT)
    try:
        hidden = list(_find_hidden(table, main))
    except (struct.error, IndexError):  # Damaged formats do not prevent reading.
        hidden = []
    characters = "".join(_pieces(table[at : at + size], main, hidden))
    counts = [max(0, count) for count in struct.unpack_from("<7i", main, _COUNTS_AT)]
    ends = list(accumulate(counts))
    parts = [characters[end - count : end] for count, end in zip(counts, ends, strict=True)]
    headers = parts.pop(_MARGINS)
    texts = (text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
             for text in ("\r".join(parts), headers))  # fmt: skip
    count = characters.count(_HIDDEN)
    return list(texts), [f"{count:,} characters that are deleted or hidden are left out."] if count else []


def _read_single_piece(signature: int, flags: int, main: bytes) -> str:
    """Return the text and footnotes of a file of Word 6 or 95; also deleted and hidden text."""
    if signature not in (_SIGNATURE, _SIGNATURE_6) or flags & (_ENCRYPTED | _IN_PIECES):
        raise UnsupportedTypeError(_TOO_OLD.format("Word"), next_step=_ADVICE)
    (start,), counts = struct.unpack_from("<I", main, 0x18), struct.unpack_from("<2I", main, 0x34)
    return decode(main[start : start + sum(counts)], "text/plain")


def _find_hidden(table: bytes, main: bytes) -> Iterator[tuple[int, int]]:
    """Yield the places in the main stream whose characters are not displayed."""
    at, size = struct.unpack_from("<II", main, _FORMATS_AT)
    count = max(0, size - 4) // 8
    for (page,) in struct.iter_unpack("<I", table[at + 4 * (count + 1) :][: 4 * count]):
        formats = main[(page & 0x3FFFFF) * _PAGE_BYTES :][:_PAGE_BYTES]
        if len(formats) < _PAGE_BYTES:
            continue
        runs = formats[-1]
        places = struct.unpack_from(f"<{runs + 1}I", formats)
        for index, start in enumerate(formats[4 * (runs + 1) :][:runs]):
            properties, at, is_hidden = formats[2 * start + 1 :][: formats[2 * start]] if start else b"", 0, False
            while at + 3 <= len(properties):
                (name,) = struct.unpack_from("<H", properties, at)
                if name in _HIDING:
                    is_hidden |= properties[at + 2] in (0x01, 0x81)
                at += 2 + (_OPERAND_BYTES[name >> 13] or 1 + properties[at + 2])
            if is_hidden:
                yield places[index], places[index + 1]


def _pieces(pieces: bytes, main: bytes, hidden: list[tuple[int, int]]) -> Iterator[str]:
    """Yield the text of the pieces in their order, one character for each unit of UTF-16."""
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
        width = 1 if place & _ONE_BYTE else 2
        start = (place & ~_ONE_BYTE) // 2 if width == 1 else place
        data = main[start : start + width * length]
        text = (
            data.decode("cp1252", "replace")
            if width == 1
            else "".join(map(chr, memoryview(data[: len(data) // 2 * 2]).cast("H")))
        )
        characters = list(text)
        for first, last in hidden:
            begin, end = max(0, first - start) // width, min(len(text), (last - start) // width)
            characters[begin:end] = _HIDDEN * (end - begin)
        yield "".join(characters)


def _blocks(text: str) -> Iterator[str]:
    cells: list[str] = []
    *ended, rest = text.split("\x07")
    for piece in ended:
        *before, last = [piece] if cells else piece.split("\r")
        yield from _paragraphs(before)
        cells.append(" ".join(last.split()))
    yield from _table(cells)
    yield from _paragraphs(rest.replace("\x0c", "\r").split("\r"))


def _paragraphs(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if joined := "<br>".join(filter(None, (" ".join(part.split()) for part in line.split("\x0b")))):
            yield joined


def _table(cells: list[str]) -> Iterator[str]:
    """Yield the rows as a table if one width explains all marks of row ends, which look like empty cells."""
    if not cells:
        return
    rows: list[list[str]]
    for width in range(1, min(_MAX_COLUMNS, len(cells)) + 1):
        if len(cells) % (width + 1) == 0 and not any(cells[width :: width + 1]):
            rows = [cells[at : at + width] for at in range(0, len(cells), width + 1)]
            yield pipe_table([row for row in rows if any(row)])  # A deleted row is empty.
            return
    rows = [[]]
    for cell in cells:  # Rows of different widths: an empty cell ends one.
        if cell:
            rows[-1].append(cell)
        elif rows[-1]:
            rows.append([])
    yield pipe_table([row for row in rows if row])


_CONTAINER = 0x0F
_SLIDE, _NOTES, _NOTES_FACTS, _LIST, _LIST_ITEM, _OBJECT = 0x03EE, 0x03F0, 0x03F1, 0x0FF0, 0x03F3, 0x0FCC
_SLIDES, _NOTES_PAGES = 0, 2
"""Instances of lists (MS-PPT, 2.4.14.3): of slides, and of pages of notes."""
_SLIDE_ID_AT = 12
"""Offset in a list item of the ID that notes refer to."""
_EDIT, _EDIT_AT, _LOCKED = 0x0FF5, 16, 0xF3D1C4DF
"""Type of the record of an edit, offset of its place in the stream `Current User`, mark of locked files there."""
_PLACES_BITS = 20
"""Bits of the first number in a run of places; the higher ones count the places (MS-PPT, 2.3.4)."""
_TAG, _COMMENT, _STRING = 0x138B, 0x2EE0, 0x0FBA
"""Types of records: data that later versions added, a comment, and its author and text (MS-PPT, 2.5.24)."""
_HEADER, _CHARACTERS, _BYTES = 0x0F9F, 0x0FA0, 0x0FA8
"""Types of records: type of a text, text in UTF-16, text in single bytes."""
_TITLES = (0, 6)
_MAX_DEPTH = 20
_MAX_RECORDS = 200_000
_NOT_TEXT = "*"


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
    folder = "PP97_DUALSTORAGE/" if "PP97_DUALSTORAGE/Current User" in streams else ""  # PowerPoint 95 reads it too.
    if not folder and "Text_Content" in streams:
        raise UnsupportedTypeError(_TOO_OLD.format("PowerPoint"), next_step=_ADVICE)
    user = streams.read(f"{folder}Current User").ljust(_EDIT_AT + 4, b"\0")
    mark, edit = struct.unpack_from("<II", user, _EDIT_AT - 4)
    if "EncryptedSummary" in streams or mark == _LOCKED:
        raise locked_error("The presentation")
    try:
        reader = _SlideReader(streams.read(f"{folder}PowerPoint Document"), edit)
        slides = reader.read()
    except (struct.error, IndexError):
        raise MalformedDocumentError("The presentation is damaged: its text cannot be recovered.") from None
    warnings = ["Lists and tables of this old PowerPoint format appear as plain text."]
    warnings += [name_unread_files(reader.objects)] if reader.objects else []
    return ParsedDocument("ppt", join_pages(list(enumerate(slides, 1))), pages=len(slides), warnings=tuple(warnings))


class _SlideReader:
    def __init__(self, stream: bytes, edit: int) -> None:
        self._stream = stream
        self._remaining = _MAX_RECORDS
        self.objects: list[str] = []
        try:
            self._places = self._read_places(edit)
        except (struct.error, IndexError):
            self._places = {}

    def _read_places(self, edit: int) -> dict[int, int]:
        """Return the current places of slides and other objects by number, from this edit and the ones before it."""
        places: dict[int, int] = {}
        seen: set[int] = set()
        while edit not in seen and edit + 36 <= len(self._stream) and self._number(edit) >> 16 == _EDIT:
            seen.add(edit)
            before, directory, document = struct.unpack_from("<III", self._stream, edit + 16)
            at, end = directory + 8, directory + 8 + self._number(directory + 4)
            while at + 4 <= end:
                first, count = self._number(at) & ((1 << _PLACES_BITS) - 1), self._number(at) >> _PLACES_BITS
                for index in range(count):
                    places.setdefault(first + index, self._number(at + 4 + 4 * index))
                at += 4 + 4 * count
            places.setdefault(0, places.get(document, 0))
            edit = before
        return places

    def _record_at(self, place: int) -> _Record:
        version, kind, length = struct.unpack_from("<HHI", self._stream, place)
        end = min(len(self._stream), place + 8 + length)
        return _Record(kind, version >> 4, place + 8, end, version & 0x0F == _CONTAINER)

    def read(self) -> list[str]:
        """Return the text of each slide: from the outline, then from its drawing, then its notes."""
        document = self._record_at(self._places[0]) if self._places else _Record(0, 0, 0, len(self._stream), True)
        outlines: list[tuple[int, int, list[str]]] = []
        drawings: list[_Record] = []
        placed_drawings: list[_Record] = []
        pages: list[_Record] = []
        for record in list(self._records(document.start, document.end, 0)):
            if record.kind == _LIST and record.instance in (_SLIDES, _NOTES_PAGES):
                listed = self._outline(record)[1:]
                placed = [self._record_at(self._places[number]) for number, *_ in listed if number in self._places]
                if record.instance == _SLIDES:
                    outlines, placed_drawings = outlines + listed, placed_drawings + placed
                else:
                    pages += placed
            elif record.kind == _SLIDE:
                drawings.append(record)
            elif record.kind == _NOTES:
                pages.append(record)
            elif record.kind == _OBJECT:
                self.objects.append(f"object {len(self.objects) + 1}")
        if self._places:
            drawings = placed_drawings
        notes: dict[int, list[str]] = {}
        for page in pages:
            records = self._records(page.start, page.end, 0)
            slide = next((self._number(record.start) for record in records if record.kind == _NOTES_FACTS), 0)
            notes[slide] = self._outline(page)[0][2]
        slides = []
        for index in range(max(len(outlines), len(drawings))):
            _, slide, texts = outlines[index] if index < len(outlines) else (0, 0, [])
            texts = texts + (self._outline(drawings[index])[0][2] if index < len(drawings) else [])
            found = notes.get(slide, ()) if slide else ()
            comments = self._comments(drawings[index : index + 1])
            slides.append("\n\n".join([*dict.fromkeys(texts), *(f"Notes: {text}" for text in found), *comments]))
        return slides

    def _records(self, start: int, end: int, depth: int) -> Iterator[_Record]:
        """Yield the records, and those inside of containers that are neither slides nor lists."""
        while start + 8 <= end and self._remaining > 0:
            self._remaining -= 1
            record = self._record_at(start)
            stop = min(end, record.end)
            yield record
            if (
                (record.is_container or record.kind == _TAG)
                and record.kind not in (_SLIDE, _NOTES, _LIST)
                and depth < _MAX_DEPTH
            ):
                yield from self._records(record.start, stop, depth + 1)
            start = stop

    def _outline(self, parent: _Record) -> list[tuple[int, int, list[str]]]:
        """Return the number of its place, ID and texts of each slide; first those of texts outside of slides."""
        slides: list[tuple[int, int, list[str]]] = [(0, 0, [])]
        kind = -1
        for record in self._records(parent.start, parent.end, 0):
            if record.kind == _LIST_ITEM:
                slides.append((self._number(record.start), self._number(record.start + _SLIDE_ID_AT), []))
            elif record.kind == _HEADER:
                kind = self._number(record.start)
            elif text := self._text(record, kind):
                slides[-1][2].append(text)
        return slides

    def _comments(self, slides: Sequence[_Record]) -> Iterator[str]:
        end, author = 0, ""
        for record in (one for slide in slides for one in self._records(slide.start, slide.end, 0)):
            if record.kind == _COMMENT:
                end = record.end
            elif record.kind == _STRING and record.start < end:
                text = " ".join(self._stream[record.start : record.end].decode("utf-16-le", "replace").split())
                if record.instance == 1:
                    yield f"Comment by {author}: {text}"
                author = text if record.instance == 0 else author

    def _number(self, at: int) -> int:
        return int(struct.unpack_from("<I", self._stream, at)[0])

    def _text(self, record: _Record, kind: int) -> str:
        if record.kind not in (_CHARACTERS, _BYTES):
            return ""
        data = self._stream[record.start : record.end]
        text = data.decode("utf-16-le" if record.kind == _CHARACTERS else "latin-1", "replace")
        lines = [line for part in text.replace("\x0b", "\r").split("\r") if (line := " ".join(part.split()))]
        if not lines or lines == [_NOT_TEXT]:
            return ""
        return f"# {' '.join(lines)}" if kind in _TITLES else "\n\n".join(lines)
