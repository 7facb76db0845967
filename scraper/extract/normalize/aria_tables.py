"""Tables that a page sets without the elements of tables: by ARIA's roles, or as cells in a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lxml import etree

from scraper.extract.dom.xpath import Element, elements

_GRIDS = frozenset({"table", "grid", "treegrid"})
_CELLS = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
_SUMMARIES = elements(".//div[contains(concat(' ', @class, ' '), ' summary-table ')]")
_WIDTHS = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}
"""The tables of javadoc since Java 16: their cells stand one behind the other."""

_MAX_TABLES = 500
_LEAST_ROWS = 2
_MAX_IN_A_ROW = 2_000
"""Elements of a row: rows may stand in rows, where each holds all that is in the others."""


def settle(root: Element, names: str, roles: Sequence[Element]) -> None:
    """Make each of them a table; `names` are the tree's classes, `roles` its elements with a role."""
    for grid in [element for element in roles if _is_outer_grid(element)][:_MAX_TABLES]:
        rows = [list(_cells_in(row)) for row in _rows_in(grid)]
        if len(rows) >= _LEAST_ROWS and all(rows) and grid.find(".//table") is None:
            _rebuild(grid, rows)
    settle_summaries(root, names)


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
