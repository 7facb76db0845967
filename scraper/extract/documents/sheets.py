"""Spreadsheet reader (calamine): each sheet as a heading with its tables."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import python_calamine
from python_calamine import CalamineWorkbook

from scraper.errors import ContentTooLargeError, EncryptedDocumentError, MalformedDocumentError
from scraper.extract.documents.charts import find_related_parts, iter_sheet_parts, read_charts
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.safe_zip import MAX_PART_BYTES, Parts
from scraper.extract.documents.sniff import DocumentKind, sniff_kind
from scraper.extract.documents.tables import format_region, split_regions
from scraper.extract.dom.xpath import text_of
from scraper.extract.text.sanitize import clean_line

MAX_CELLS = 5_000_000
"""Cells between the first and the last used one; calamine allocates all of them."""
MAX_STRING_BYTES = 50_000_000
"""Bytes of the texts of all cells; one shared string may be used a million times."""
MAX_COLUMNS = 100
MAX_SHOWN = 500_000
"""Cells of one sheet. The text of more cells would exceed the character limit anyway."""
_SHEETS = 200
_MAX_MERGED = 5_000
_MAX_SPANNED = 100
"""Cells. A larger merged cell is a title over a page, and appears once."""

_SMALLER = "Look for a smaller copy, or for its data as CSV."
_CELL = re.compile(rb'<(?:\w+:)?c\b[^<>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_SHARED = re.compile(rb"<(?:\w+:)?c\b[^<>]*?\bt=\"s\"[^<>]*>\s*(?:<(?:\w+:)?f\b.*?>)?\s*<(?:\w+:)?v>(\d{1,9})<")
_STRING = re.compile(rb"<(?:\w+:)?si\b.*?(?:</(?:\w+:)?si>|/>)", re.DOTALL)


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the sheets of a workbook.

    Raises:
        MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: The workbook cannot be read.
    """
    kind = sniff_kind(data)
    parts = Parts(data) if kind in (DocumentKind.XLSX, DocumentKind.XLSB) else None
    long_rows: dict[str, int] = {}
    if parts is not None and kind is DocumentKind.XLSX:
        cut = truncate_sheets(data, parts)
        _check(parts, cut.sheets)
        data, places = cut.data, dict(iter_sheet_parts(parts))
        long_rows = {name: cut.rows[place] for name, place in places.items() if place in cut.rows}
    workbook = _opened(data)
    sections: list[str] = []
    warnings: list[str] = []
    names = workbook.sheet_names[:_SHEETS]
    charts = read_charts(parts) if parts is not None else {}
    notes = comments_of(parts) if parts is not None else {}
    hidden = {sheet.name for sheet in workbook.sheets_metadata if "Visible" not in str(sheet.visible)}
    for number, name in enumerate(names, 1):
        blocks = [
            *_tables(_rows(workbook, name), name, long_rows.get(name, 0), warnings),
            *charts.get(name, ()),
            *notes.get(name, ()),
        ]
        mark = " (hidden sheet)" if name in hidden else ""
        sections.append("\n\n".join([f"<!-- page {number} -->\n\n## {name}{mark}", *blocks]))
    if len(workbook.sheet_names) > _SHEETS:
        warnings.append(f"Only the first {_SHEETS} sheets are shown.")
    return ParsedDocument(kind.value, "\n\n".join(sections), pages=len(workbook.sheet_names), warnings=tuple(warnings))


def _opened(data: bytes) -> CalamineWorkbook:
    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except python_calamine.PasswordError:
        raise EncryptedDocumentError(
            "The spreadsheet is locked with a password.", next_step="Save it without one."
        ) from None
    except (python_calamine.CalamineError, ValueError, OSError) as error:
        raise MalformedDocumentError(f"The spreadsheet is damaged: {str(error)[:200]}.") from None


def _rows(workbook: CalamineWorkbook, name: str) -> list[list[Any]]:
    """Return the cells between the first and the last used one; merged cells repeat their value."""
    try:
        sheet = workbook.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=True)
        top, left = sheet.start or (0, 0)
        merged = sheet.merged_cell_ranges or []
    except (python_calamine.CalamineError, ValueError, OSError):
        return []  # A sheet of charts, or a damaged sheet among others.
    for (first_row, first_column), (last_row, last_column) in merged[:_MAX_MERGED]:
        if (last_row - first_row + 1) * (last_column - first_column + 1) > _MAX_SPANNED:
            continue
        if rows and last_column - first_column + 1 >= len(rows[0]):
            continue  # A heading over the whole sheet.
        value = _cell(rows, first_row - top, first_column - left)
        for row in range(first_row - top, last_row - top + 1):
            for column in range(first_column - left, last_column - left + 1):
                if value and 0 <= row < len(rows) and 0 <= column < len(rows[row]):
                    rows[row][column] = value
    return rows


def _cell(rows: Sequence[Sequence[Any]], row: int, column: int) -> Any:
    return rows[row][column] if 0 <= row < len(rows) and 0 <= column < len(rows[row]) else ""


def _tables(rows: Sequence[Sequence[Any]], name: str, of_rows: int, warnings: list[str]) -> Iterator[str]:
    """Yield the tables of a sheet; `of_rows` is the row count of a truncated sheet."""
    width = len(rows[0]) if rows else 0
    shown = min(MAX_ROWS, MAX_SHOWN // max(1, min(width, MAX_COLUMNS)))
    if (count := max(of_rows, len(rows))) > shown:
        warnings.append(f"Sheet {name[:60]}: only the first {shown:,} of {count:,} rows are shown.")
    if width > MAX_COLUMNS:
        warnings.append(f"Sheet {name[:60]}: only the first {MAX_COLUMNS} of {width:,} columns are shown.")
    texts = [[_text(cell) for cell in row[:MAX_COLUMNS]] for row in rows[:shown]]
    yield from map(format_region, split_regions(texts))


def _text(cell: Any) -> str:
    """Return a cell as displayed: integers without a point, dates in ISO 8601."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(round(cell, 12))
    if isinstance(cell, datetime.datetime):
        whole = cell.time() == datetime.time()
        return cell.date().isoformat() if whole else cell.isoformat(sep=" ", timespec="seconds")
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell).strip()


def _check(parts: Parts, sheets: Mapping[str, bytes]) -> None:
    """Refuse sheets that would exhaust the memory: cells far out, long texts used repeatedly.

    Raises:
        ContentTooLargeError: The workbook exceeds a limit.
    """
    lengths: list[int] | None = None
    total = 0
    for xml in sheets.values():
        rows, columns = _extent(xml)
        if rows * columns > MAX_CELLS:
            raise ContentTooLargeError(
                f"A sheet spans {rows:,} rows and {columns:,} columns, more than are read.", next_step=_SMALLER
            )
        for match in _SHARED.finditer(xml):
            if lengths is None:
                lengths = _shared_lengths(parts)
            index = int(match[1])
            total += lengths[index] if index < len(lengths) else 0
            if total > MAX_STRING_BYTES:
                raise ContentTooLargeError("The cells hold more text than is read.", next_step=_SMALLER)


def _extent(xml: bytes) -> tuple[int, int]:
    """Return the highest row and column in use; the declared dimension is not trusted."""
    rows = columns = 0
    for letters, digits in _CELL.findall(xml):
        rows = max(rows, int(digits))
        columns = max(columns, _column(letters))
    return rows, columns


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _shared_lengths(parts: Parts) -> list[int]:
    name = "xl/sharedStrings.xml"
    return [len(match[0]) for match in _STRING.finditer(parts.read(name))] if name in parts else []


MAX_ROWS = 20_000
MAX_COUNTED_BYTES = 400_000_000
"""Bytes of a sheet whose rows are only counted; a million rows of ten columns have as many."""

_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_LEFT_OUT = re.compile(r"xl/(?:media|embeddings|drawings|charts|printerSettings|theme)/")
_NAME = re.compile(rb"<((?:[A-Za-z_][\w.-]*:)?)sheetData\b")
_SMALL_BYTES = 20_000_000
"""Bytes. Smaller sheets are read whole, because merged cells are declared after the rows."""
_SEAM = 64


@dataclass(frozen=True, slots=True)
class SheetTruncation:
    """A workbook within the size limits, and the size of the removed parts."""

    data: bytes
    rows: dict[str, int]
    """Row counts of truncated sheets by part; lower bounds if counting stopped early."""
    sheets: dict[str, bytes]
    """XML of the sheets as they are read, by part."""


def truncate_sheets(data: bytes, parts: Parts) -> SheetTruncation:
    """Limit each sheet of a workbook to the rows that are shown.

    Raises:
        MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: A part cannot be read, or is too
            large without rows.
    """
    rows: dict[str, int] = {}
    sheets: dict[str, bytes] = {}
    for name in parts.names:
        if not _SHEET.fullmatch(name):
            continue
        if parts.size_of(name) <= _SMALL_BYTES:
            sheets[name] = parts.read(name)
            continue
        sheets[name], count = _read_first_rows(parts.chunks(name, MAX_COUNTED_BYTES))
        if count > MAX_ROWS:
            rows[name] = count
    return SheetTruncation(_rewrite_workbook(parts, sheets) if rows else data, rows, sheets)


def _read_first_rows(chunks: Iterable[bytes]) -> tuple[bytes, int]:
    """Return the XML up to the last row that is shown, and the row count."""
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
    return (_close_tags(kept, close), count) if count > MAX_ROWS else (bytes(kept), count)


def _close_tags(xml: bytearray, close: bytes) -> bytes:
    """Close the elements of a truncated sheet."""
    at = 0
    for _ in range(MAX_ROWS):
        following = xml.find(close, at)
        if following < 0:
            break
        at = following + len(close)
    prefix = close[2:-4]
    return bytes(xml[:at]) + b"</" + prefix + b"sheetData></" + prefix + b"worksheet>"


def _rewrite_workbook(parts: Parts, sheets: dict[str, bytes]) -> bytes:
    """Return the workbook with the truncated sheets, and without parts that are no text."""
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name in parts.names:
                if not _LEFT_OUT.match(name) and not name.endswith("/"):
                    archive.writestr(name, sheets[name] if name in sheets else parts.read(name))
        return file.getvalue()


_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_MOST = 500
_LONGEST = 2_000


def comments_of(parts: Parts) -> dict[str, list[str]]:
    """Return the comments by sheet name, one list per sheet."""
    found: dict[str, list[str]] = {}
    for name, part in iter_sheet_parts(parts):
        lines = [said for place in find_related_parts(parts, part, "comments") for said in _comments(parts, place)]
        if lines:
            found[name] = ["\n".join(["Comments:", "", *lines[:_MOST]])]
    return found


def _comments(parts: Parts, part: str) -> list[str]:
    root = parts.xml_or_none(part)
    if root is None:
        return []
    authors = [text_of(author) for author in root.iter(_S + "author")]
    lines = []
    for comment in root.iter(_S + "comment"):
        text = comment.find(_S + "text")
        number = str(comment.get("authorId", ""))
        author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
        by = "" if author.startswith("tc=") else f" ({clean_line(author, 100)})" if author else ""
        said = "" if text is None else clean_line(_remove_compatibility_text(text_of(text)), _LONGEST)
        if said:
            lines.append(f"- {comment.get('ref', '')}{by}: {said}")
    return lines


def _remove_compatibility_text(text: str) -> str:
    """Remove the hint for older editions that Excel adds to threaded comments."""
    return text.partition("Comment:\n")[2] if text.startswith("[Threaded comment]") else text
