"""Convert tables into Markdown pipe tables, and detect tables for layout, code and formulas."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from textwrap import indent
from typing import ClassVar

from scraper.extract.code.blocks import detect_code_language, extract_code, find_code_in_table
from scraper.extract.markdown import tree_converter
from scraper.extract.markdown.tree_converter import ConversionContext, ElementHandler, MarkdownRules, Tags
from scraper.html.dom.parsing import CELLS, HEADINGS, LISTS, TABLE_SECTIONS, Element, element_selector, text_of

_MAX_COLSPAN = 50
_MAX_ROWSPAN = 200
_MAX_COLUMNS = 200
"""Columns. Spans and short rows are filled up to this width: a span may claim a thousand columns."""

_MIN_PROSE_CELL = 300
"""Characters. A single column with a cell this long is a page laid out as a table."""

_MAX_VALUE = 40
"""Characters. A table in a cell with no more text than this is not page layout."""

_MAX_FORMULAS_PER_ROW = 3
"""Formulas: left of a relation, the relation, and right of it. A row with more belongs to a table of formulas."""

_RANK = re.compile(r"\s*(\d{1,4})[.)]\s*")
_MIN_ITEMS = 3
_EQUATION_NUMBER = re.compile(r"\s*\(?[A-Z]?[\d.\-]+[a-z]?\)?\s*")
_PAGE_PARTS = HEADINGS | LISTS | {"pre", "dl", "blockquote", "section", "figure"}
"""Blocks that cells with a single value never contain."""

_BREAK = re.compile(r"(?<!\s)\s*\n\s*")
"""A line break and the white space around it. The match starts at the first space; from each of 60,000 non-breaking
spaces in a cell, the search took 5 s."""
_BLANKS = re.compile(r"[ \t]{2,}")
_BARE_PIPE = re.compile(r"(?<!\\)\|")
_DIGITS = re.compile(r"\d{1,4}")
_INNER_TABLES = element_selector(".//table")
_HEADERS = element_selector("(.//th)[1]")


def table_rows(table: Element) -> Iterator[Element]:
    """Yield the rows of this table, not of nested tables."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in TABLE_SECTIONS:
            yield from child.iterchildren("tr")


def row_cells(row: Element) -> list[Element]:
    """Return the cells of a row."""
    return list(row.iterchildren("td", "th"))


def _is_layout_table(table: Element) -> bool:
    if table.get("role") in ("presentation", "none"):
        return True
    inner = _INNER_TABLES(table)
    headed = table if inner and _is_headed(table) else None
    if not all(_is_value(one, headed) for one in inner) or _holds_one_value(table):
        return True
    if _HEADERS(table):
        return False
    rows = [row_cells(row) for row in table_rows(table)]
    filled = [cell for row in rows for cell in row if _is_readable(cell)]
    widest = max(map(len, rows), default=0)
    if len(rows) == 1 and (widest == 1 or sum(map(_is_readable, rows[0])) == 1 or any(map(_is_page_part, filled))):
        return True
    return widest == 1 and any(len(text_of(cell)) > _MIN_PROSE_CELL for cell in filled)


def _is_value(inner: Element, headed: Element | None) -> bool:
    """Return True if a nested table is part of a value: one short text, or details below a header."""
    if _holds_one_value(inner):
        return True
    if next(inner.iterancestors("table")) is not headed or not _is_headed(inner):
        return False
    cell = next(inner.iterancestors("td"), None)
    return cell is not None and len(" ".join(text_of(cell).split())) <= _MIN_PROSE_CELL


def _is_headed(table: Element) -> bool:
    cells = next(map(row_cells, table_rows(table)), [])
    return len(cells) > 1 and all(cell.tag == "th" and text_of(cell).strip() for cell in cells)


def _holds_one_value(table: Element) -> bool:
    """Return True if a table contains at most one short text, such as a score next to a comment or a badge."""
    if len(text_of(table).strip()) > _MAX_VALUE or _INNER_TABLES(table) or _HEADERS(table):
        return False
    return sum(map(_is_readable, (cell for row in table_rows(table) for cell in row_cells(row)))) <= 1


def _find_ranked_items(table: Element) -> list[tuple[str, list[Element]]]:
    """Return number and filled cells of each item of a numbered list with several rows per item, or []."""
    if _HEADERS(table):
        return []
    items: list[tuple[str, list[Element]]] = []
    several = 0
    for row in table_rows(table):
        cells = [cell for cell in row_cells(row) if _is_readable(cell)]
        rank = _RANK.fullmatch(text_of(cells[0])) if cells else None
        if rank is not None:
            items.append((rank.group(1), cells[1:]))
        elif cells and not items:
            return []
        elif cells:
            items[-1][1].extend(cells)
            several += 1
    return items if len(items) >= _MIN_ITEMS and several * 2 >= len(items) else []


_MARKER = re.compile(r"\s*(\(?(?:\d{1,3}|[a-z]{1,4}|[IVXL]{1,6})[).]|[—–•-])\s*")


def _find_marked_rows(table: Element) -> list[tuple[str, list[Element]]]:
    """Return marker and text of each row if all rows consist of these two, as the paragraphs of laws; else []."""
    if _HEADERS(table):
        return []
    rows = []
    for cells in map(row_cells, table_rows(table)):
        marker = _MARKER.fullmatch(text_of(cells[0])) if len(cells) == 2 else None
        if marker is None or not _is_readable(cells[1]):
            return []
        rows.append((f"{marker[1]} ", cells[1:]))
    return rows


def _is_equation(table: Element) -> bool:
    if next(table.iter("math"), None) is None or _HEADERS(table):
        return False
    for row in table_rows(table):
        cells = [cell for cell in row_cells(row) if text_of(cell).strip()]
        formulas = [cell for cell in cells if next(cell.iter("math"), None) is not None]
        beside = (
            len("".join(text_of(cell).split())) - sum(len("".join(text_of(one).split())) for one in cell.iter("math"))
            for cell in formulas
        )
        if len(formulas) > _MAX_FORMULAS_PER_ROW or max(beside, default=0) > 1:
            return False
        if any(not _EQUATION_NUMBER.fullmatch(text_of(cell)) for cell in cells if cell not in formulas):
            return False
    return True


def _is_page_part(cell: Element) -> bool:
    several = sum(child.tag in ("p", "div") for child in cell) > 1 and len(text_of(cell)) > _MIN_PROSE_CELL
    return several or any(child.tag in _PAGE_PARTS for child in cell)


def _is_readable(cell: Element) -> bool:
    """Return True if a cell has text, code, a formula or a picture with a description. Others only reserve space."""
    described = any((picture.get("alt") or "").strip() for picture in cell.iter("img"))
    return described or bool(text_of(cell).strip()) or next(cell.iter("math", "pre"), None) is not None


def _format_pipe_table(table: Element, texts: Mapping[Element, str]) -> str:
    """Return the table as rows between pipes. Its first row is the header. `texts` is the Markdown of the cells."""
    grid = _build_grid(table, texts)
    width = min(_MAX_COLUMNS, max(map(len, grid), default=0))
    if not any(any(row) for row in grid):
        return ""
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in grid]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _build_grid(table: Element, texts: Mapping[Element, str]) -> list[list[str]]:
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in table_rows(table):
        cells = row_cells(row)
        if not cells:
            continue
        line: list[str] = []
        for cell in cells:
            _fill_spanned(line, below)
            one_line = _BLANKS.sub(" ", _BREAK.sub(" ", texts.get(cell, "").strip()))
            text = _BARE_PIPE.sub(r"\\|", one_line)
            rowspan = _parse_span(cell.get("rowspan"), _MAX_ROWSPAN)
            free = max(1, _MAX_COLUMNS - len(line))
            for place in range(min(free, _parse_span(cell.get("colspan"), _MAX_COLSPAN))):
                if rowspan > 1 and len(line) < _MAX_COLUMNS:
                    below[len(line)] = rowspan - 1, "" if place else text
                line.append("" if place else text)
        _fill_spanned(line, below)
        if any(line) or not grid:  # later empty rows only separate others
            grid.append(line)
    return grid


def _fill_spanned(line: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Repeat the text of a cell from above that spans this row: each row then says all that holds for it."""
    while (rows := below.get(len(line), (0, ""))[0]) > 0:
        text = below[len(line)][1]
        below[len(line)] = rows - 1, text
        line.append(text)


def _parse_span(value: str | None, most: int) -> int:
    digits = _DIGITS.search(value) if value else None
    return max(1, min(most, int(digits.group()))) if digits else 1


_MAX_TITLE = 100
_ALLOWED_CHILDREN = {
    "table": TABLE_SECTIONS | {"tr", "colgroup", "col"},
    **dict.fromkeys(TABLE_SECTIONS, frozenset({"tr"})),
    "tr": CELLS,
}


class TableRules(MarkdownRules):
    """Rules of `table` and its parts."""

    def _table(self, element: Element, context: ConversionContext) -> str | None:
        code_block = find_code_in_table(element)
        if code_block is not None:
            code = extract_code(code_block)
            language = detect_code_language(code_block) or detect_code_language(element)
            title = self._title(element, context)
            return title + self.format_code(code, language, context) if code else ""
        unwrapped = ConversionContext(context.tags - {"_inline"} - CELLS, context.depth, context.indents)
        if _is_equation(element):
            return self._convert_outside_cells(element, unwrapped) + self._equations(element, context)
        ranked = _find_ranked_items(element)
        items = [(f"{rank}. ", "", cells) for rank, cells in ranked]
        items += [] if ranked else [("- ", marker, cells) for marker, cells in _find_marked_rows(element)]
        if items:
            outside = self._convert_outside_cells(element, unwrapped)
            listed = "\n".join(self._item(*item, unwrapped) for item in items)
            return f"\n\n{outside}\n\n{listed}\n\n"
        if not _is_layout_table(element):
            return None
        pieces = [self._convert_outside_cells(element, unwrapped)]
        rows = list(map(row_cells, table_rows(element)))
        for cells in rows:
            texts = []
            for cell in cells:
                self.plain_pieces.append(None)
                texts.append(self.render_children(cell, unwrapped).strip())
            is_pair = len(rows) > 1 and len(texts) == 2 and all(texts) and not any(map(_is_page_part, cells))
            is_pair = is_pair and max(map(len, texts)) <= _MAX_VALUE and "\n" not in "".join(texts)
            pieces += [" ".join(texts)] if is_pair else texts  # a label stays beside its value
        return "\n\n" + "\n\n".join(filter(None, map(str.strip, pieces))) + "\n\n"

    def _title(self, table: Element, context: ConversionContext) -> str:
        """Return the file name above a code block, from the header of the table with the line numbers."""
        words = " ".join(" ".join(text_of(header).split()) for header in table.iter("th"))
        if not 0 < len(words) <= _MAX_TITLE:
            return ""
        self.plain_pieces += [None, words]
        return tree_converter.format_block(self.escape(words, context.tags), context.tags)

    def _convert_outside_cells(self, table: Element, context: ConversionContext) -> str:
        """Return the content of a table outside of its cells: a caption, or misplaced elements."""
        pieces = []
        for place in (table, *table.iterchildren(*TABLE_SECTIONS), *table_rows(table)):
            for child in place.iterchildren():
                if child.tag not in _ALLOWED_CHILDREN[place.tag]:
                    self.plain_pieces.append(None)
                    pieces.append(self.render_element(child, context).strip())
                pieces.append((child.tail or "").strip())
            pieces.append((place.text or "").strip())
        self.plain_pieces += [None, " ".join(filter(None, pieces)) if any(pieces) else None]
        return "\n\n".join(filter(None, pieces))

    def _equations(self, table: Element, context: ConversionContext) -> str:
        rows = []
        for row in table_rows(table):
            parts = [text_of(formula).strip() for formula in row.iter("math")]
            self.plain_pieces += [None, " ".join(parts)]
            if parts:
                rows.append(self.format_formula(" ".join(parts), True, context.tags).strip())
        return "\n\n" + "\n\n".join(rows) + "\n\n"

    def _item(self, bullet: str, marker: str, cells: list[Element], context: ConversionContext) -> str:
        self.plain_pieces += [None, marker]
        texts = []
        for cell in cells:
            text = self.render_children(cell, context).strip()
            texts.append(indent(text, " " * len(bullet)).lstrip())
            self.plain_pieces.append(None)
        marker = marker.replace(".", tree_converter.ESCAPED_POINT) if marker[:1].isdigit() else marker
        return f"{bullet}{marker}" + f"  \n{' ' * len(bullet)}".join(filter(None, texts))

    def convert_td(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Store the Markdown of a cell for the table; cells outside of a row become blocks."""
        around = [one.tag for one in islice(el.iterancestors(), 3) if one.tag not in TABLE_SECTIONS]
        if around[:2] == ["tr", "table"]:
            self.cells[el] = text
            return ""
        return tree_converter.format_block(text, parent_tags)

    convert_th = convert_td

    def convert_tr(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Return the text unchanged: the table reads its cells."""
        return text

    def convert_table(self, el: Element, text: str, parent_tags: Tags) -> str:
        """Return the table after its caption and other content outside of the cells.

        In inline context, as in the cell of another table, return its rows on one line.
        """
        before = text.strip()
        if "_inline" in parent_tags:  # nested: pipes would split the outer cell
            rows = ((self.cells.get(cell, "").strip() for cell in row_cells(row)) for row in table_rows(el))
            table = "; ".join(filter(None, (" ".join(filter(None, row)) for row in rows)))
            joined = " ".join(filter(None, (before, table)))
            return f" {joined} " if joined else ""
        table = _format_pipe_table(el, self.cells)
        return f"\n\n{before}\n\n{table}\n\n" if before or table else ""

    handlers: ClassVar[dict[str, ElementHandler]] = {"table": _table}
