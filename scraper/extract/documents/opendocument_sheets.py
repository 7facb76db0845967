"""OpenDocument spreadsheets as tables, a heading for each sheet."""

from __future__ import annotations

from scraper.extract.documents.blocks_of_cells import regions
from scraper.extract.documents.grids import pipe_table
from scraper.extract.documents.model import Asked, Parsed
from scraper.extract.documents.opendocument import check_lock, facts_of
from scraper.extract.documents.opendocument_cells import table_rows
from scraper.extract.documents.opendocument_text import OFFICE, TABLE, TEXT, inline
from scraper.extract.documents.zips import Parts
from scraper.extract.xpath import Element

__all__ = ["read"]

_SHEETS = 200


def read(data: bytes, asked: Asked) -> Parsed:
    """The sheets of a workbook.

    Raises:
        Malformed, TooLarge, Encrypted: it cannot be read.
    """
    parts = Parts(data)
    check_lock(parts)
    body = parts.xml("content.xml").find(f"{OFFICE}body/{OFFICE}spreadsheet")
    sheets = [] if body is None else body.findall(TABLE + "table")
    sections = []
    for number, sheet in enumerate(sheets[:_SHEETS], 1):
        blocks = [
            next(filter(None, block[0]))
            if len(block) == 1 and sum(map(bool, block[0])) == 1
            else pipe_table(block)
            for block in regions(table_rows(sheet, _text))
        ]
        heading = f"<!-- page {number} -->\n\n## {sheet.get(TABLE + 'name', f'Sheet {number}')}"
        sections.append("\n\n".join([heading, *blocks]))
    title, author = facts_of(parts)
    return Parsed("ods", "\n\n".join(sections), title=title, author=author, pages=len(sheets))


def _text(cell: Element) -> str:
    return " ".join(filter(None, (inline(paragraph, []) for paragraph in cell.iter(TEXT + "p"))))
