"""Tables that a page sets without the elements of tables, and headings that it sets within tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lxml import etree

from scraper.extract.markup import remove
from scraper.extract.tables import cells_of, is_headed, rows_of
from scraper.extract.xpath import Element, elements, text_of

__all__ = ["settle", "settle_summaries"]

_GRIDS = frozenset({"table", "grid", "treegrid"})
_CELLS = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
_SUMMARIES = elements(".//div[contains(concat(' ', @class, ' '), ' summary-table ')]")
_WIDTHS = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}
"""The tables of javadoc since Java 16: their cells stand one behind the other."""

_MAX_TABLES = 500
_MAX_PARTS = 100
_LEAST_ROWS = 2
_MAX_IN_A_ROW = 2_000
"""Elements of a row: rows may stand in rows, where each holds all that is in the others."""


def settle(root: Element, names: str, roles: Sequence[Element]) -> None:
    """Make each of them a table; `names` are the tree's classes, `roles` its elements with a role.

    A heading that is all of its row goes before the rows that it heads.
    """
    for grid in [element for element in roles if _is_outer_grid(element)][:_MAX_TABLES]:
        rows = [list(_cells_in(row)) for row in _rows_in(grid)]
        if len(rows) >= _LEAST_ROWS and all(rows) and grid.find(".//table") is None:
            _rebuild(grid, rows)
    settle_summaries(root, names)
    for heading in list(islice(_alone_in_rows(root), _MAX_PARTS)):
        _free(heading)


def settle_summaries(root: Element, names: str) -> None:
    """Make tables of javadoc's cells in a row; before blocks are chosen, since a row must stay whole."""
    for grid in _SUMMARIES(root)[:_MAX_TABLES] if "summary-table" in names else ():
        width = next((_WIDTHS[name] for name in (grid.get("class") or "").split() if name in _WIDTHS), 0)
        cells = list(grid)
        if width and len(cells) % width == 0:
            for cell in cells:
                cell.tag = "th" if "table-header" in (cell.get("class") or "") else "td"
            _rebuild(grid, [cells[at : at + width] for at in range(0, len(cells), width)])


def _is_outer_grid(element: Element) -> bool:
    if element.get("role") not in _GRIDS or element.tag == "table":
        return False
    return all(around.get("role") not in _GRIDS for around in element.iterancestors())


def _rows_in(grid: Element) -> Iterator[Element]:
    return (element for element in grid.iterdescendants() if element.get("role") == "row")


def _cells_in(row: Element) -> Iterator[Element]:
    for element in islice(row.iterdescendants(), _MAX_IN_A_ROW):
        tag = _CELLS.get(element.get("role") or "")
        if tag:
            element.tag = tag
            yield element


def _rebuild(grid: Element, rows: Iterable[list[Element]]) -> None:
    made = []
    for cells in rows:
        row = etree.Element("tr")
        for cell in cells:
            cell.tail = None
            row.append(cell)
        made.append(row)
    grid.tag, grid.text = "table", None
    grid.attrib.pop("role", "")
    grid[:] = made


def _alone_in_rows(root: Element) -> Iterator[Element]:
    """The headings that are all of their row."""
    for heading in root.iter("h1", "h2", "h3", "h4"):
        cell = heading.getparent()
        if cell is None or cell.tag not in ("td", "th"):
            continue
        row = cell.getparent()
        alone = row is not None and row.tag == "tr" and len(row) == 1
        if alone and text_of(cell).strip() == text_of(heading).strip():
            yield heading


def _free(heading: Element) -> None:
    """Part the table above the row of a heading, and put the heading between the two."""
    row = next(heading.iterancestors("tr"))
    table = next(row.iterancestors("table"), None)
    rows = list(rows_of(table)) if table is not None else []
    if table is None or row not in rows or max(len(cells_of(one)) for one in rows) == 1:
        return
    at = rows.index(row)
    if at and is_headed(table):
        return
    if at:
        above = etree.Element("table")
        above.extend([*table.iterchildren("caption"), *rows[:at]])
        table.addprevious(above)
    heading.tail = None
    table.addprevious(heading)
    remove(row)
