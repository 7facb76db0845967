"""Read what calamine leaves out of workbooks: errors, formulas, leading zeros and links of cells, comments."""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from scraper.documents.compound_file import CompoundFile
from scraper.documents.model import locked_error
from scraper.documents.office_xml import THREADED, S, find_related_parts, find_relations, iter_sheet_parts
from scraper.documents.safe_zip import ZipParts
from scraper.html.dom.parsing import text_of
from scraper.text.sanitize import clean_line

_STYLES = "xl/styles.xml"
_ERROR = re.compile(rb"(<(?:\w+:)?c\b[^<>]*?\bt=[\"'])e([\"'])")
"""Type of a cell with an error such as #DIV/0!, which calamine leaves out."""
_NUMBER = re.compile(
    rb"(<(?:\w+:)?c\b[^<>]*?\bs=\"(\d{1,5})\"[^<>/]*)(>\s*"
    rb"(?:<(?:\w+:)?f\b[^<>]*(?:/>|>[^<>]*</(?:\w+:)?f>)\s*)?<(?:\w+:)?v>)(\d{1,15})</"
)
"""Cell with a style and a whole number: its tag, its style, the text before the number, and the number."""
_FORMULA = re.compile(
    rb"<((?:\w+:)?)c\b(?![^<>]*\bt=\"(?!n\"))([^<>]*)>\s*<(?:\w+:)?f\b[^<>]*?(?:/>|>([^<>]*)</(?:\w+:)?f>)"
    rb"\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""Cell with a formula and without a value: prefix, attributes and formula. An empty text has the type `str`."""
_EMPTY_CELL = re.compile(rb"<(?:\w+:)?c\b[^<>]*?(?:/>|>\s*</(?:\w+:)?c>)")


def read_padded_styles(parts: ZipParts) -> dict[int, int]:
    """Return the number of digits of cell styles that fill numbers with zeros, by index of the style."""
    root = parts.xml_or_none(_STYLES) if _STYLES in parts else None
    if root is None:
        return {}
    codes = {one.get("numFmtId"): str(one.get("formatCode")) for one in root.iter(S + "numFmt")}
    styles = enumerate(codes.get(style.get("numFmtId"), "") for style in root.iterfind(f"{S}cellXfs/{S}xf"))
    # The number format of postal codes and other numbers that keep their leading zeros.
    return {index: len(code) for index, code in styles if set(code) == {"0"} and 1 < len(code) < 16}


def write_as_text(xml: bytes, padded_styles: Mapping[int, int]) -> tuple[bytes, int]:
    """Return a sheet in which errors, numbers with leading zeros and formulas without a value are text.

    Returns:
        The sheet, and the number of formulas without a value.
    """

    def pad(match: re.Match[bytes]) -> bytes:
        tag, style, before, digits = match.groups()
        width = padded_styles.get(int(style))
        if width is None or b" t=" in tag:
            return match[0]
        return tag + b' t="str"' + before + digits.zfill(width) + b"</"

    def show(match: re.Match[bytes]) -> bytes:
        prefix, attributes, formula = match.groups()
        tag = b"<" + prefix + b"c" + attributes.replace(b' t="n"', b"") + b' t="str"><' + prefix + b"v>="
        return tag + (formula or b"...") + b"</" + prefix + b"v></" + prefix + b"c>"

    xml = _ERROR.sub(rb"\1str\2", xml)
    xml, count = _FORMULA.subn(show, xml) if b"f>" in xml or b"f " in xml else (xml, 0)
    return (_NUMBER.sub(pad, xml) if padded_styles else xml), count


def drop_empty_cells(xml: bytes) -> bytes:
    """Return a sheet without the cells that only have a format."""
    return _EMPTY_CELL.sub(b"", xml)


_LINK = re.compile(rb"<(?:\w+:)?hyperlink\b[^<>]*>")
_LINKED_CELL = re.compile(rb"\bref=\"([A-Z]{1,3})(\d{1,7})[:\"]")
_LINK_ID = re.compile(rb"\b\w+:id=\"([^\"]{1,100})\"")
_MAX_LINKS = 20_000
_MAX_LINKED_BYTES = 20_000_000
"""Bytes. Links of larger sheets, of which only the first rows are shown, are left out."""


def read_sheet_links(parts: ZipParts) -> dict[str, dict[tuple[int, int], str]]:
    """Return the addresses of links by sheet name, and by row and column from 0."""
    return {name: links for name, part in iter_sheet_parts(parts) if (links := _read_links(parts, part))}


def _read_links(parts: ZipParts, part: str) -> dict[tuple[int, int], str]:
    targets = find_relations(parts, part, "hyperlink", external=True)
    if not targets or part not in parts or parts.size_of(part) > _MAX_LINKED_BYTES:
        return {}
    found: dict[tuple[int, int], str] = {}
    for tag in _LINK.findall(parts.read(part))[:_MAX_LINKS]:
        cell, identifier = _LINKED_CELL.search(tag), _LINK_ID.search(tag)
        url = targets.get(identifier[1].decode("utf-8", "replace"), "") if identifier else ""
        if cell and url:
            found[int(cell[2]) - 1, column_number(cell[1]) - 1] = url
    return found


def column_number(name: bytes) -> int:
    """Return the number of a column, from 1 for A."""
    number = 0
    for letter in name:
        number = number * 26 + letter - 64
    return number


def column_name(index: int) -> str:
    """Return the letters of a column, from 0 for A."""
    before, last = divmod(index, 26)
    return (column_name(before - 1) if before else "") + chr(65 + last)


_MAX_COMMENTS = 500
_MAX_COMMENT_CHARS = 2_000
_MAX_NAME_CHARS = 100

_COPY_AUTHOR = "tc="
"""Beginning of the author of the copy of a thread that older editions of Excel show as a note."""


def read_sheet_comments(parts: ZipParts) -> dict[str, list[str]]:
    """Return the comments by sheet name, each as one list in Markdown."""
    roots = (parts.xml_or_none(part) for part in find_related_parts(parts, "xl/workbook.xml", "person"))
    people = (person for root in roots if root is not None for person in root.iter(THREADED + "person"))
    names = {str(person.get("id")): str(person.get("displayName", "")) for person in people}
    found: dict[str, list[str]] = {}
    for name, part in iter_sheet_parts(parts):
        thread_parts = find_related_parts(parts, part, "threadedComment")
        threads = [line for thread_part in thread_parts for line in _format_threads(parts, thread_part, names)]
        note_parts = find_related_parts(parts, part, "comments")
        notes = [line for note in note_parts for line in _format_notes(parts, note, skip_copies=bool(threads))]
        if lines := [*notes, *threads]:
            found[name] = ["\n".join(["Comments:", "", *lines[:_MAX_COMMENTS]])]
    return found


def _format_threads(parts: ZipParts, part: str, names: dict[str, str]) -> Iterator[str]:
    """Yield each thread as a list item, and its replies as items of a nested list."""
    root = parts.xml_or_none(part)
    comments = [] if root is None else list(root.iter(THREADED + "threadedComment"))
    threads: dict[str, list[str]] = {str(one.get("id")): [] for one in comments if one.get("parentId") is None}
    for comment in comments:
        author = clean_line(names.get(str(comment.get("personId")), ""), _MAX_NAME_CHARS)
        resolved = "resolved" if comment.get("done") in ("1", "true") else ""
        facts = ", ".join(filter(None, (author, clean_line(str(comment.get("dT", ""))[:10], 10), resolved)))
        text = clean_line(comment.findtext(THREADED + "text", ""), _MAX_COMMENT_CHARS)
        thread = threads.get(str(comment.get("parentId")))
        if thread is not None and text:
            thread.append(f"  - {facts or 'Reply'}: {text}")
        elif thread is None:
            threads.setdefault(str(comment.get("id")), []).insert(0, _format_comment(comment.get("ref"), facts, text))
    yield from chain.from_iterable(threads.values())


def _format_notes(parts: ZipParts, part: str, *, skip_copies: bool) -> Iterator[str]:
    """Yield each note of a cell as a list item; copies of threads only where the threads cannot be read."""
    root = parts.xml_or_none(part)
    if root is None:
        return
    authors = [text_of(author) for author in root.iter(S + "author")]
    for comment in root.iter(S + "comment"):
        number = str(comment.get("authorId", ""))
        author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
        if is_copy := author.startswith(_COPY_AUTHOR):
            author = ""
        if is_copy and skip_copies:
            continue
        element = comment.find(S + "text")
        text = "" if element is None else text_of(element)
        if text.startswith("[Threaded comment]"):  # Excel's hint for older editions.
            text = text.partition("Comment:\n")[2]
        if text := clean_line(text, _MAX_COMMENT_CHARS):
            yield _format_comment(comment.get("ref"), author, text)


_FIRST, _BOUND_SHEET, _PASSWORD, _NOTE, _OBJECT, _TEXT, _CONTINUED = 0x0809, 0x85, 0x2F, 0x1C, 0x5D, 0x1B6, 0x3C
"""Types of records ([MS-XLS], 2.3)."""
_UNICODE_VERSION, _COMMON_DATA = 0x06, 0x15


def read_old_comments(data: bytes) -> dict[str, list[str]]:
    """Return the comments of a workbook of the format until 2003 by sheet name, as a list in Markdown, and text boxes.

    Raises:
        EncryptedDocumentError: It needs a password.
    """
    names: dict[int, str] = {}
    texts: dict[tuple[str, int], str] = {}
    found: dict[str, list[tuple[str, str, int]]] = {}
    sheet, number, missing, is_unicode = "", 0, 0, True
    for at, kind, record in _iter_records(CompoundFile(data)):
        if kind == _PASSWORD:
            raise locked_error("The spreadsheet")
        if kind == _FIRST:
            sheet, is_unicode = names.get(at, sheet), record[1] >= _UNICODE_VERSION
        elif kind == _BOUND_SHEET:
            name = record[7:] if is_unicode else b"\0" + record[7:]
            names[int.from_bytes(record[:4], "little")] = _decode_old(name, record[6])
        elif kind == _OBJECT and record[0] == _COMMON_DATA:
            number = int.from_bytes(record[6:8], "little")
        elif kind == _TEXT:
            missing = int.from_bytes(record[10:12], "little")
        elif kind == _CONTINUED and missing > 0:
            text = _decode_old(record, missing)
            texts[sheet, number] = texts.get((sheet, number), "") + text
            missing -= len(text) or missing
        elif kind == _NOTE:
            row, column, size, identifier, author = struct.unpack_from("<5H", record)
            cell = f"{column_name(column)}{row + 1}"
            if is_unicode:
                found.setdefault(sheet, []).append((cell, _decode_old(record[10:], author), identifier))
            elif row < 0xFFFF:  # Its text is in the record itself.
                texts[sheet, -at] = _decode_old(b"\0" + record[6:], size)
                found.setdefault(sheet, []).append((cell, "", -at))
    return _format_old_texts(found, texts)


def _format_old_texts(
    found: Mapping[str, Sequence[tuple[str, str, int]]], texts: Mapping[tuple[str, int], str]
) -> dict[str, list[str]]:
    """Return the list of comments of each sheet, then its other texts: those of text boxes."""
    lists: dict[str, list[str]] = {}
    boxes = dict(texts)
    for sheet, notes in found.items():
        named = ((cell, author, boxes.pop((sheet, key), "")) for cell, author, key in notes)
        lines = (
            _format_comment(cell, author, text.removeprefix(f"{author}:" if author else ""))
            for cell, author, text in named
        )
        lists[sheet] = ["\n".join(["Comments:", "", *lines])]
    for (sheet, _), text in boxes.items():
        lists.setdefault(sheet, []).append(clean_line(text, _MAX_COMMENT_CHARS))
    return lists


def _iter_records(streams: CompoundFile) -> Iterator[tuple[int, int, bytes]]:
    """Yield place, type and content of each record; other short contents than texts are filled with zeros."""
    stream, at = streams.read("Workbook") or streams.read("Book"), 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        record = stream[at + 4 : at + 4 + size]
        yield at, kind, record if kind == _CONTINUED and record else record.ljust(12, b"\0")
        at += 4 + size


def _decode_old(record: bytes, length: int) -> str:
    """Return a text of at most this many characters; its first byte says if they have two bytes."""
    is_wide = record[0] & 1
    return record[1 : 1 + length * (1 + is_wide)].decode("utf-16-le" if is_wide else "cp1252", "replace")


def _format_comment(cell: str | None, facts: str, text: str) -> str:
    name = f" ({clean_line(facts, _MAX_NAME_CHARS)})" if facts else ""
    return f"- {clean_line(cell or '', _MAX_NAME_CHARS)}{name}: {clean_line(text, _MAX_COMMENT_CHARS)}"
