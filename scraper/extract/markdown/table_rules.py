"""Tables as Markdown has them, and those that only set line numbers beside code or place things on a page."""

from __future__ import annotations

from typing import ClassVar

from scraper.extract.code.blocks import code_in_table, code_text
from scraper.extract.code.languages import language_of
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.markdown.base_rules import Tags, block, is_inline
from scraper.extract.markdown.code_rules import CodeRules
from scraper.extract.markdown.math_rules import MathRules
from scraper.extract.markdown.table_model import (
    cells_of,
    inline_table,
    is_equation,
    is_layout,
    parted,
    pipe_table,
    ranked_items,
    rows_of,
)
from scraper.extract.markdown.tree_converter import ConversionContext, Handler, Node

_MAX_TITLE = 100
_PARTS = {
    "table": ("thead", "tbody", "tfoot", "tr", "colgroup", "col"),
    **dict.fromkeys(("thead", "tbody", "tfoot"), ("tr",)),
    "tr": ("td", "th"),
}


class TableRules(CodeRules, MathRules):
    """The rules of `table` and what is in it."""

    def __init__(self, base: str) -> None:
        super().__init__(base)
        self._cells: dict[Element, str] = {}

    def _table(self, element: Element, context: ConversionContext) -> str | None:
        code_block = code_in_table(element)
        if code_block is not None:
            code = code_text(code_block)
            language = language_of(code_block) or language_of(element)
            title = self._title(element, context)
            return title + self.fenced(code, language, context) if code else ""
        inside = ConversionContext(context.tags - {"_inline", "td", "th"}, context.depth, context.indents)
        parts = [] if is_inline(context.tags) else parted(element)
        if parts:
            return "\n\n".join([self._beside(element, inside), *(self.walk(part, context) for part in parts)])
        if is_equation(element):
            return self._beside(element, inside) + self._equations(element, context)
        items = ranked_items(element)
        if items:
            listed = "\n".join(self._item(rank, cells, inside) for rank, cells in items)
            return f"{self._beside(element, inside)}\n\n{listed}\n\n"
        if not is_layout(element):
            return None
        pieces = [self._beside(element, inside)]
        for row in rows_of(element):
            for cell in cells_of(row):
                self.said.append(None)
                pieces.append(self.inside(cell, inside))
        return "\n\n" + "\n\n".join(filter(None, map(str.strip, pieces))) + "\n\n"

    def _title(self, table: Element, context: ConversionContext) -> str:
        """The name of a file over a block, in the header of the table that numbers its lines."""
        words = " ".join(" ".join(text_of(header).split()) for header in table.iter("th"))
        if not 0 < len(words) <= _MAX_TITLE:
            return ""
        self.said += [None, words]
        return block(self.escape(words, context.tags), context.tags)

    def _beside(self, table: Element, context: ConversionContext) -> str:
        """What stands in a table beside its cells: a caption, or what its author misplaced."""
        pieces = []
        for place in (table, *table.iterchildren("thead", "tbody", "tfoot"), *rows_of(table)):
            for child in place.iterchildren():
                if child.tag not in _PARTS[place.tag]:
                    self.said.append(None)
                    pieces.append(self.walk(child, context).strip())
                pieces.append((child.tail or "").strip())
            pieces.append((place.text or "").strip())
        self.said += [None, " ".join(filter(None, pieces)) if any(pieces) else None]
        return "\n\n".join(filter(None, pieces))

    def _equations(self, table: Element, context: ConversionContext) -> str:
        """Each row of a table of formulas as a formula, the parts of one row put together."""
        rows = []
        for row in rows_of(table):
            parts = [text_of(formula).strip() for formula in row.iter("math")]
            self.said += [None, " ".join(parts)]
            if parts:
                rows.append(self.formula(" ".join(parts), True, context.tags).strip())
        return "\n\n" + "\n\n".join(rows) + "\n\n"

    def _item(self, rank: str, cells: list[Element], context: ConversionContext) -> str:
        """One item of a table that is a numbered list."""
        indent = " " * (len(rank) + 2)
        texts = []
        for cell in cells:
            self.said.append(None)
            texts.append(self.inside(cell, context).strip().replace("\n", f"\n{indent}"))
        return f"{rank}. " + f"  \n{indent}".join(filter(None, texts))

    def convert_td(self, el: Node, text: str, parent_tags: Tags) -> str:
        if not _is_in_grid(el.element):
            return block(text, parent_tags)
        self._cells[el.element] = text
        return ""

    convert_th = convert_td

    def convert_tr(self, el: Node, text: str, parent_tags: Tags) -> str:
        return text

    def convert_table(self, el: Node, text: str, parent_tags: Tags) -> str:
        """What stands in a table beside its cells, its caption above all, comes before it."""
        before = text.strip()
        if "_inline" in parent_tags:
            table = inline_table(el.element, lambda cell: self._cells.get(cell, ""))
            said = " ".join(filter(None, (before, table)))
            return f" {said} " if said else ""
        table = pipe_table(el.element, lambda cell: self._cells.get(cell, ""))
        return f"\n\n{before}\n\n{table}\n\n" if before or table else ""

    handlers: ClassVar[dict[str, Handler]] = {"table": _table}


def _is_in_grid(cell: Element) -> bool:
    """Whether a cell stands in a row of a table; strays are blocks like others."""
    row = cell.getparent()
    around = row.getparent() if row is not None and row.tag == "tr" else None
    if around is not None and around.tag in ("thead", "tbody", "tfoot"):
        around = around.getparent()
    return around is not None and around.tag == "table"
