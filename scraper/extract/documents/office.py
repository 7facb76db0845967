"""Shared parts of the office readers: HTML to Markdown, review comments, list numerals."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from scraper.extract.dom.parsing import parse_html
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.markdown import converter
from scraper.extract.markdown.table_rules import row_cells, table_rows
from scraper.extract.text.sanitize import clean_line

ITEM = "\ue0f2{}\ue0f3"
"""Number of a list item, at the start of its text."""

_NOWHERE = "http://file.invalid/"
"""Base URL for links in a file; relative links lead nowhere."""
_ITEM = re.compile("\\s*\ue0f2(-?\\d+)\ue0f3")
_REPEATED_CHARS = 200
"""Characters. Repeat the text of a merged cell in every row and column it spans, because rows are read one by one.
Longer texts appear once."""
_SPAN = 100


def html_to_markdown(html: str, url: str) -> str:
    """Convert HTML blocks to Markdown; resolve links against `url`."""
    root = parse_html(f"<html><body>{html}</body></html>").root
    if root is None:
        return ""
    prepare(root)
    return remove_internal_links(converter.convert(root, url or _NOWHERE).markdown, url or _NOWHERE)


def remove_internal_links(text: str, base: str) -> str:
    """Remove links to anchors in the file itself, which no client can follow; keep their text."""
    own = re.escape(base) if base.endswith(".invalid/") else f"{re.escape(base)}#"
    return re.sub(rf"(?<!\!)\[((?:[^\[\]\\]|\\.){{0,2000}})\]\({own}[^()\s]*\)", r"\1", text)


def prepare(root: Element) -> None:
    """Rewrite tables and list items of the tree in place for the Markdown converter."""
    _flatten_inner_tables(root)
    for table in list(root.iter("table")):
        _spread(table)
    for item in root.iter("li"):
        _number(item)


def _flatten_inner_tables(root: Element) -> None:
    for table in [table for table in root.iter("table") if _is_inner(table)]:
        parent = table.getparent()
        if parent is None:
            continue
        texts = (" ".join(text_of(cell).split()) for row in table_rows(table) for cell in row_cells(row))
        paragraph = etree.Element("p")
        paragraph.text = " ".join(filter(None, texts))
        paragraph.tail = table.tail
        parent.replace(table, paragraph)


def _is_inner(table: Element) -> bool:
    """Return True if the table is in a cell of a table with other cells; a single cell is a frame."""
    return any(
        ancestor.tag == "table" and sum(len(row_cells(row)) for row in table_rows(ancestor)) > 1
        for ancestor in table.iterancestors()
    )


def _spread(table: Element) -> None:
    """Replace merged cells by one cell per position."""
    below: dict[int, tuple[int, Element]] = {}
    for row in list(table_rows(table)):
        column = 0
        for cell in row_cells(row):
            column = _fill_from_above(row, cell, column, below)
            across = _taken(cell, "colspan")
            down = _taken(cell, "rowspan")
            for step in range(across):
                if step:
                    cell.addnext(_copy(cell))
                if down > 1:
                    below[column + step] = (down - 1, cell)
            column += across
        _fill_from_above(row, None, column, below)


def _fill_from_above(row: Element, before: Element | None, column: int, below: dict[int, tuple[int, Element]]) -> int:
    while column in below:
        left, cell = below.pop(column)
        if left > 1:
            below[column] = (left - 1, cell)
        filler = _copy(cell)
        if before is None:
            row.append(filler)
        else:
            before.addprevious(filler)
        column += 1
    return column


def _taken(cell: Element, name: str) -> int:
    value = cell.attrib.pop(name, "1")
    return max(1, min(_SPAN, int(value))) if str(value).isdigit() else 1


def _copy(cell: Element) -> Element:
    if len(text_of(cell)) > _REPEATED_CHARS:
        return etree.Element(str(cell.tag))
    made = copy.deepcopy(cell)
    made.tail = None
    return made


def _number(item: Element) -> None:
    for holder in _first_texts(item):
        match = _ITEM.match(holder.text or "")
        if match:
            holder.text = (holder.text or "")[match.end() :]
            item.set("value", match[1])
            return


def _first_texts(item: Element) -> Iterator[Element]:
    """Yield the elements in which the text of an item can begin."""
    at: Element | None = item
    while at is not None:
        yield at
        if (at.text or "").strip() or not len(at):
            return
        at = at[0]


_MOST = 1_000
_LONGEST = 4_000
_MARK = re.compile("\ue0f4(\\d+)\ue0f5")
"""Placeholder of a note: Markdown's own characters would be escaped."""


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A reviewer's comment on a passage of the text."""

    author: str = ""
    date: str = ""
    text: str = ""
    resolved: bool = False


@dataclass(slots=True)
class ReviewComments:
    """The comments of one document, in text order."""

    _found: list[ReviewComment] = field(default_factory=list)

    def mark(self, comment: ReviewComment) -> str:
        """Return the placeholder for a comment in the text; empty for a comment without text."""
        if not comment.text.strip() or len(self._found) >= _MOST:
            return ""
        self._found.append(comment)
        return f"\ue0f4{len(self._found)}\ue0f5"

    def written(self, markdown: str) -> str:
        """Replace the placeholders by note references, and append the comments."""
        marked = _MARK.sub(lambda match: f"[^comment-{match[1]}]", markdown)
        lines = [f"[^comment-{number}]: {_said(comment)}" for number, comment in enumerate(self._found, 1)]
        return "\n\n".join(filter(None, (marked, *lines)))


def _said(comment: ReviewComment) -> str:
    facts = [clean_line(comment.author, 100) or "Comment", comment.date[:10]]
    facts += ["resolved"] if comment.resolved else []
    return f"{', '.join(filter(None, facts))}: {clean_line(comment.text, _LONGEST)}"


_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_EAST_ASIAN = "〇一二三四五六七八九"
_EAST_ASIAN_STYLES = (
    "chineseCounting",
    "chineseCountingThousand",
    "ideographDigital",
    "japaneseCounting",
    "taiwaneseCounting",
)


def format_numeral(count: int, style: str) -> str:
    """Format a count in one of Word's number styles; unknown styles give digits."""
    if style in ("lowerRoman", "upperRoman"):
        text = _roman(count)
        return text.upper() if style == "upperRoman" else text
    if style in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (count - 1) % 26) * min(9, (count - 1) // 26 + 1)
        return letter.upper() if style == "upperLetter" else letter
    if style == "decimalZero":
        return f"{count:02}"
    if style in _EAST_ASIAN_STYLES:
        return _east_asian(count)
    return "" if style == "none" else str(count)


def _roman(count: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        while count >= value and len(text) < 20:
            text += letters
            count -= value
    return text


def _east_asian(count: int) -> str:
    if not 0 < count < 100:
        return str(count)
    tens, ones = divmod(count, 10)
    before = ("" if tens == 1 else _EAST_ASIAN[tens]) + "十" if tens else ""
    return before + (_EAST_ASIAN[ones] if ones else "")
