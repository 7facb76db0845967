"""Spreadsheets of every age as tables, a heading for each sheet, by calamine."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import python_calamine
from python_calamine import CalamineWorkbook

from scraper.errors import ContentTooLargeError, EncryptedDocumentError, MalformedDocumentError
from scraper.extract.documents.cell_comments import comments_of
from scraper.extract.documents.charts import charts_of
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.sheet_truncation import MAX_ROWS, cut_sheets
from scraper.extract.documents.sniff import DocumentKind, kind_of
from scraper.extract.documents.table_regions import block_text, regions
from scraper.extract.documents.workbook_parts import sheet_parts

MAX_CELLS = 5_000_000
"""Between the first and the last used cell: the reader below keeps room for each of them."""
MAX_STRING_BYTES = 50_000_000
"""Of all texts in all cells: one text may be used a million times."""
MAX_COLUMNS = 100
MAX_SHOWN = 500_000
"""Cells of one sheet; what is beyond a few million characters is cut off anyway."""
_SHEETS = 200
_MAX_MERGED = 5_000
_MAX_SPANNED = 100
"""A title over a whole page is said once."""

_SMALLER = "Look for a smaller copy, or for its data as CSV."
_CELL = re.compile(rb'<(?:\w+:)?c\b[^<>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_SHARED = re.compile(
    rb"<(?:\w+:)?c\b[^<>]*?\bt=\"s\"[^<>]*>\s*(?:<(?:\w+:)?f\b.*?>)?\s*<(?:\w+:)?v>(\d{1,9})<"
)
_STRING = re.compile(rb"<(?:\w+:)?si\b.*?(?:</(?:\w+:)?si>|/>)", re.DOTALL)


def read(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """The sheets of a workbook.

    Raises:
        Malformed, TooLarge, Encrypted: it cannot be read.
    """
    kind = kind_of(data)
    parts = Parts(data) if kind in (DocumentKind.XLSX, DocumentKind.XLSB) else None
    long_rows: dict[str, int] = {}
    if parts is not None and kind is DocumentKind.XLSX:
        cut = cut_sheets(data, parts)
        _check(parts, cut.sheets)
        data, places = cut.data, dict(sheet_parts(parts))
        long_rows = {name: cut.rows[place] for name, place in places.items() if place in cut.rows}
    workbook = _opened(data)
    sections: list[str] = []
    warnings: list[str] = []
    names = workbook.sheet_names[:_SHEETS]
    charts = charts_of(parts) if parts is not None else {}
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
    return ParsedDocument(
        kind.value, "\n\n".join(sections), pages=len(workbook.sheet_names), warnings=tuple(warnings)
    )


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
    """The cells between the first and the last used one; a merged cell's value wherever it spans."""
    try:
        sheet = workbook.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=True)
        top, left = sheet.start or (0, 0)
        merged = sheet.merged_cell_ranges or []
    except (python_calamine.CalamineError, ValueError, OSError):
        return []  # a sheet of charts, or a damaged one among others
    for (first_row, first_column), (last_row, last_column) in merged[:_MAX_MERGED]:
        if (last_row - first_row + 1) * (last_column - first_column + 1) > _MAX_SPANNED:
            continue
        if rows and last_column - first_column + 1 >= len(rows[0]):
            continue  # a heading over the whole sheet
        value = _cell(rows, first_row - top, first_column - left)
        for row in range(first_row - top, last_row - top + 1):
            for column in range(first_column - left, last_column - left + 1):
                if value and 0 <= row < len(rows) and 0 <= column < len(rows[row]):
                    rows[row][column] = value
    return rows


def _cell(rows: Sequence[Sequence[Any]], row: int, column: int) -> Any:
    return rows[row][column] if 0 <= row < len(rows) and 0 <= column < len(rows[row]) else ""


def _tables(rows: Sequence[Sequence[Any]], name: str, of_rows: int, warnings: list[str]) -> Iterator[str]:
    """The blocks of filled cells of a sheet, each a table; `of_rows`: how many a sheet had that was cut."""
    width = len(rows[0]) if rows else 0
    shown = min(MAX_ROWS, MAX_SHOWN // max(1, min(width, MAX_COLUMNS)))
    if (count := max(of_rows, len(rows))) > shown:
        warnings.append(f"Sheet {name[:60]}: only the first {shown:,} of {count:,} rows are shown.")
    if width > MAX_COLUMNS:
        warnings.append(f"Sheet {name[:60]}: only the first {MAX_COLUMNS} of {width:,} columns are shown.")
    texts = [[_text(cell) for cell in row[:MAX_COLUMNS]] for row in rows[:shown]]
    yield from map(block_text, regions(texts))


def _text(cell: Any) -> str:
    """A cell as it is shown: whole numbers without a point, dates in ISO 8601."""
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
    """Refuse what would fill the memory: a cell far out, a long text used again and again.

    Raises:
        TooLarge: it does.
    """
    lengths: list[int] | None = None
    total = 0
    for xml in sheets.values():
        rows, columns = _extent(xml)
        if rows * columns > MAX_CELLS:
            raise ContentTooLargeError(
                f"A sheet spans {rows:,} rows and {columns:,} columns, more than are read.",
                next_step=_SMALLER,
            )
        for match in _SHARED.finditer(xml):
            if lengths is None:
                lengths = _shared_lengths(parts)
            index = int(match[1])
            total += lengths[index] if index < len(lengths) else 0
            if total > MAX_STRING_BYTES:
                raise ContentTooLargeError("The cells hold more text than is read.", next_step=_SMALLER)


def _extent(xml: bytes) -> tuple[int, int]:
    """How far the used cells reach; what a sheet declares of itself is not relied on."""
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
