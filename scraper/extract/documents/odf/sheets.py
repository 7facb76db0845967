"""OpenDocument spreadsheet reader: each sheet as a heading with tables, charts and comments."""

from __future__ import annotations

from collections.abc import Iterator

from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.odf.cells import EmbeddedObjects, read_grid
from scraper.extract.documents.odf.reader import check_encryption, read_metadata
from scraper.extract.documents.odf.styles import DRAW, DUBLIN, OFFICE, STYLE, TABLE, TEXT, get_attribute
from scraper.extract.documents.office import html_to_markdown
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.tables import format_region, split_regions
from scraper.extract.dom.xpath import Element, text_of

_SHEETS = 200
_REPEATED_CHARS = 200
"""Characters. Merged cells repeat shorter texts in every row and column, because rows are read one by one."""
_MOST_COMMENTS = 500


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the sheets of a workbook.

    Raises:
        MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: The workbook cannot be read.
    """
    parts = Parts(data)
    check_encryption(parts)
    content = parts.xml("content.xml")
    body = content.find(f"{OFFICE}body/{OFFICE}spreadsheet")
    sheets = [] if body is None else body.findall(TABLE + "table")
    reader = _Sheets(content, EmbeddedObjects(parts))
    texts = [reader.sheet(number, sheet) for number, sheet in enumerate(sheets[:_SHEETS], 1)]
    if len(sheets) > _SHEETS:
        reader.warnings.append(f"Only the first {_SHEETS} sheets are shown.")
    title, author = read_metadata(parts)
    return ParsedDocument(
        "ods", "\n\n".join(texts), title=title, author=author, pages=len(sheets), warnings=tuple(reader.warnings)
    )


class _Sheets:
    """Sheets of one file."""

    def __init__(self, content: Element, objects: EmbeddedObjects) -> None:
        self.warnings: list[str] = []
        self._objects = objects
        self._hidden = {
            get_attribute(style, STYLE + "name")
            for style in content.iter(STYLE + "style")
            for properties in style.iter(STYLE + "table-properties")
            if get_attribute(properties, TABLE + "display") == "false"
        }

    def sheet(self, number: int, sheet: Element) -> str:
        """Return one sheet under its heading."""
        name = get_attribute(sheet, TABLE + "name") or f"Sheet {number}"
        grid = read_grid(sheet, _text)
        if grid.cut:
            self.warnings.append(f"Sheet {name[:60]}: only the first {len(grid.rows):,} rows are shown.")
        mark = " (hidden sheet)" if get_attribute(sheet, TABLE + "style-name") in self._hidden else ""
        blocks = [format_region(block) for block in split_regions(grid.spread(_REPEATED_CHARS))]
        charts = [html_to_markdown(self._objects.chart(one), "") for one in sheet.iter(DRAW + "object")]
        return "\n\n".join(
            [f"<!-- page {number} -->\n\n## {name}{mark}", *blocks, *filter(None, charts), *_comments(sheet)]
        )


def _text(cell: Element) -> str:
    """Return the displayed text of a cell, without its comments."""
    shown = (" ".join(text_of(one).split()) for one in cell.iterchildren(TEXT + "p"))
    return " ".join(filter(None, shown))


def _comments(sheet: Element) -> Iterator[str]:
    lines: list[str] = []
    for note in sheet.iter(OFFICE + "annotation"):
        author = note.find(DUBLIN + "creator")
        name = "" if author is None else (author.text or "").strip()
        by = f"({name[:100]}) " if name else ""
        words = " ".join(" ".join(text_of(one).split()) for one in note.iter(TEXT + "p"))
        cell = note.getparent()
        at = "" if cell is None else _text(cell)[:60]
        if words and len(lines) < _MOST_COMMENTS:
            lines.append(f"- {at + ': ' if at else ''}{by}{words}")
    if lines:
        yield "\n".join(["Comments:", "", *lines])
