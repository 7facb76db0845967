"""Spreadsheet reader (calamine): each sheet as a heading with its tables."""

import contextlib
import datetime
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import python_calamine
from python_calamine import CalamineWorkbook, SheetMetadata, SheetTypeEnum, SheetVisibleEnum

from scraper.documents import sheet_parts
from scraper.documents.markdown_writing import format_regions, write_link
from scraper.documents.model import ParsedDocument, ParseRequest, locked_error
from scraper.documents.office_xml import iter_sheet_parts, read_charts
from scraper.documents.safe_zip import MAX_PART_BYTES, ZipParts, write_zip
from scraper.documents.sniff import DocumentKind, sniff_kind
from scraper.errors import ContentTooLargeError, MalformedDocumentError

_MAX_CELLS = 5_000_000
"""Cells between the first and the last used one; calamine allocates all of them."""
_MAX_STRING_BYTES = 50_000_000
"""Bytes of the texts of all cells; one shared string may be used a million times."""
_MAX_ROWS = 20_000
_MAX_COLUMNS = 100
_MAX_SHOWN_CELLS = 500_000
"""Cells of one sheet. The text of more cells would exceed the character limit anyway."""
_MAX_COUNTED_BYTES = 400_000_000
"""Bytes of a sheet whose rows are only counted; a million rows of ten columns have as many."""
_MAX_SHEETS = 200
_MAX_MERGED_RANGES = 5_000
_MAX_MERGED_CELLS = 100
"""Cells. A larger merged cell is a title over a page, and appears once."""
_SMALLER = "Look for a smaller copy, or for its data as CSV."
_CELL = re.compile(rb'<(?:\w+:)?c\b[^<>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_SHARED = re.compile(rb"<(?:\w+:)?c\b[^<>]*?\bt=\"s\"[^<>]*>\s*(?:<(?:\w+:)?f\b.*?>)?\s*<(?:\w+:)?v>(\d{1,9})<")
_STRING = re.compile(rb"<(?:\w+:)?si\b.*?(?:</(?:\w+:)?si>|/>)", re.DOTALL)
_SHARED_STRINGS = "xl/sharedStrings.xml"
_OMITTED = tuple(f"xl/{name}/" for name in ("media", "embeddings", "drawings", "charts", "printerSettings", "theme"))
_SHEET_DATA = re.compile(rb"<((?:[A-Za-z_][\w.-]*:)?)sheetData\b")
_SMALL_BYTES = 20_000_000
"""Bytes. Smaller sheets are read whole, because merged cells are declared after the rows."""
_OVERLAP_BYTES = 64
"""Bytes of a chunk that are searched again with the next one; a closing tag is shorter."""


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the sheets of a workbook.

    Raises:
        EncryptedDocumentError: It needs a password.
        MalformedDocumentError: It is damaged.
        ContentTooLargeError: It exceeds a limit.
    """
    kind = sniff_kind(data)
    parts = ZipParts(data) if kind in (DocumentKind.XLSX, DocumentKind.XLSB) else None
    row_counts: dict[str, int] = {}
    warnings: list[str] = []
    comments = sheet_parts.read_old_comments(data) if parts is None else sheet_parts.read_sheet_comments(parts)
    if parts is not None and kind is DocumentKind.XLSX:
        data, row_counts = _limit_workbook(data, parts, warnings)
    try:
        with _native_errors():
            workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    except python_calamine.PasswordError:
        raise locked_error("The spreadsheet") from None
    except (python_calamine.CalamineError, ValueError, OSError) as error:
        raise MalformedDocumentError(f"The spreadsheet is damaged: {str(error)[:200]}.") from None
    sections: list[str] = []
    charts = read_charts(parts) if parts is not None else {}
    links = sheet_parts.read_sheet_links(parts) if parts is not None and kind is DocumentKind.XLSX else {}
    for number, sheet in enumerate(workbook.sheets_metadata[:_MAX_SHEETS], 1):
        name = sheet.name
        mark = "" if sheet.visible == SheetVisibleEnum.Visible else " (hidden sheet)"
        rows = _read_rows(workbook, sheet, links.get(name, {}), warnings)
        tables = _format_sheet(rows, name, row_counts.get(name, 0), warnings)
        blocks = [*tables, *charts.get(name, ()), *comments.get(name, ())]
        sections.append("\n\n".join([f"<!-- page {number} -->\n\n## {name}{mark}", *blocks]))
    if len(workbook.sheet_names) > _MAX_SHEETS:
        warnings.append(f"Only the first {_MAX_SHEETS} sheets are shown.")
    return ParsedDocument(kind.value, "\n\n".join(sections), pages=len(workbook.sheet_names), warnings=tuple(warnings))


@contextlib.contextmanager
def _native_errors() -> Iterator[None]:
    """Turn a panic of the native reader, which is no `Exception`, into a ValueError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise ValueError("its structure is not understood") from None
        raise


def _read_rows(
    workbook: CalamineWorkbook, metadata: SheetMetadata, links: Mapping[tuple[int, int], str], warnings: list[str]
) -> list[list[Any]]:
    """Return the cells between the first and the last used one; merged cells repeat their value."""
    try:
        with _native_errors():
            sheet = workbook.get_sheet_by_name(metadata.name)
            rows = sheet.to_python(skip_empty_area=True)
            top, left = sheet.start or (0, 0)
            merged = sheet.merged_cell_ranges or []
    except (python_calamine.CalamineError, ValueError, OSError) as error:
        if metadata.typ == SheetTypeEnum.WorkSheet:
            warnings.append(f"Sheet {metadata.name[:60]} is damaged and not read: {str(error)[:200]}.")
        return []
    for (first_row, first_column), (last_row, last_column) in merged[:_MAX_MERGED_RANGES]:
        height, width = last_row - first_row + 1, last_column - first_column + 1
        if height * width > _MAX_MERGED_CELLS or (rows and width >= len(rows[0])):
            continue  # A title over a page or over the whole sheet.
        first_row, first_column = first_row - top, first_column - left
        inside = 0 <= first_row < len(rows) and 0 <= first_column < len(rows[first_row])
        if inside and (value := rows[first_row][first_column]):
            for row in rows[first_row : first_row + height]:
                row[first_column : first_column + width] = [value] * min(width, len(row) - first_column)
    for (number, column), url in links.items():
        cells = rows[number - top] if top <= number < top + len(rows) else []
        if left <= column < left + len(cells):
            cells[column - left] = write_link(_format_value(cells[column - left]), url)
    return rows


def _format_sheet(rows: Sequence[Sequence[Any]], name: str, row_count: int, warnings: list[str]) -> Iterator[str]:
    width = len(rows[0]) if rows else 0
    shown = min(_MAX_ROWS, _MAX_SHOWN_CELLS // max(1, min(width, _MAX_COLUMNS)))
    if (count := max(row_count, len(rows))) > shown:
        warnings.append(f"Sheet {name[:60]}: only the first {shown:,} of {count:,} rows are shown.")
    if width > _MAX_COLUMNS:
        warnings.append(f"Sheet {name[:60]}: only the first {_MAX_COLUMNS} of {width:,} columns are shown.")
    yield from format_regions([[_format_value(cell) for cell in row[:_MAX_COLUMNS]] for row in rows[:shown]])


def _format_value(cell: Any) -> str:
    """Return a cell as displayed: integers without a point, dates in ISO 8601."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e16 else f"{cell:.15g}"
    if isinstance(cell, datetime.datetime):
        whole = cell.time() == datetime.time()
        return cell.date().isoformat() if whole else cell.isoformat(sep=" ", timespec="seconds")
    if isinstance(cell, datetime.timedelta):
        seconds = round(abs(cell).total_seconds())  # Hours may be more than 24.
        sign = "-" if cell < datetime.timedelta() and seconds else ""
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell).strip()


def _limit_workbook(data: bytes, parts: ZipParts, warnings: list[str]) -> tuple[bytes, dict[str, int]]:
    """Limit each sheet to the rows that are shown, and write some cells as text."""
    row_counts: dict[str, int] = {}
    sheets: dict[str, bytes] = {}
    names = {part: name for name, part in iter_sheet_parts(parts)}
    for part in parts.names:
        folder, _, file = part.rpartition("/")
        if folder != "xl/worksheets" or not file.endswith(".xml"):
            continue
        try:
            if parts.size_of(part) <= _SMALL_BYTES:
                sheets[part], count = parts.read(part), 0
            else:
                sheets[part], count = _read_first_rows(parts.chunks(part, _MAX_COUNTED_BYTES))
        except MalformedDocumentError as error:
            sheets[part], count = b"", 0
            warnings.append(f"Sheet {names.get(part, part)[:60]} is not read: {error}")
        if count > _MAX_ROWS:
            row_counts[names.get(part, part)] = count
    before = dict(sheets)
    _check_memory(parts, sheets)
    padded_styles = sheet_parts.read_padded_styles(parts)
    written: dict[str, bytes] = {}
    for part, xml in sheets.items():
        written[part], count = sheet_parts.write_as_text(xml, padded_styles)
        if count:
            warnings.append(
                f"Sheet {names.get(part, part)[:60]}: {count:,} formulas have no stored value and are shown themselves."
            )
    if row_counts or written != before:  # Also leave out pictures, drawings and themes.
        kept = (name for name in parts.names if not name.startswith(_OMITTED) and not name.endswith("/"))
        data = write_zip({name: written[name] if name in written else parts.read(name) for name in kept})
    return data, row_counts


def _read_first_rows(chunks: Iterable[bytes]) -> tuple[bytes, int]:
    """Return the XML up to the last row that is shown, and the row count."""
    xml, count, overlap, row_end = bytearray(), 0, b"", b""
    for chunk in chunks:
        if count <= _MAX_ROWS and len(xml) < MAX_PART_BYTES:
            xml += chunk
        if not row_end:
            sheet_data = _SHEET_DATA.search(bytes(xml[: 1 << 20]))
            row_end = b"</" + sheet_data[1] + b"row>" if sheet_data else b""
            count = xml.count(row_end) if row_end else 0
        else:
            count += (overlap + chunk).count(row_end) - overlap.count(row_end)
        overlap = chunk[-_OVERLAP_BYTES:]
    if count <= _MAX_ROWS:
        return bytes(xml), count
    end = 0
    for _ in range(_MAX_ROWS):
        following = xml.find(row_end, end)
        if following < 0:
            break
        end = following + len(row_end)
    prefix = row_end[2:-4]
    return bytes(xml[:end]) + b"</" + prefix + b"sheetData></" + prefix + b"worksheet>", count


def _check_memory(parts: ZipParts, sheets: dict[str, bytes]) -> None:
    """Refuse sheets that would exhaust the memory, because of distant cells or long texts that are used repeatedly."""
    lengths: list[int] | None = None
    total = 0
    for name, xml in sheets.items():
        rows, columns = _used_range(xml)
        if rows * columns > _MAX_CELLS:
            xml = sheets[name] = sheet_parts.drop_empty_cells(xml)
            rows, columns = _used_range(xml)
        if rows * columns > _MAX_CELLS:
            raise ContentTooLargeError(
                f"A sheet spans {rows:,} rows and {columns:,} columns, more than are read.", next_step=_SMALLER
            )
        for match in _SHARED.finditer(xml):
            if lengths is None:
                strings = parts.read(_SHARED_STRINGS) if _SHARED_STRINGS in parts else b""
                lengths = [len(string[0]) for string in _STRING.finditer(strings)]
            index = int(match[1])
            total += lengths[index] if index < len(lengths) else 0
            if total > _MAX_STRING_BYTES:
                raise ContentTooLargeError("The cells contain more text than the limit.", next_step=_SMALLER)


def _used_range(xml: bytes) -> tuple[int, int]:
    cells = _CELL.findall(xml)
    rows = max((int(digits) for _, digits in cells), default=0)
    return rows, max(map(sheet_parts.column_number, {name for name, _ in cells}), default=0)
