"""Read the lines of lists that are written in any elements: list items, cells, boxes, line breaks."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, cast

from lxml import etree

from scraper.facts.schema_graph import clean_text
from scraper.html.dom.tags import HEADINGS, LISTS
from scraper.html.dom.xpath import Element, depth_of, text_of
from scraper.words.matcher import WordPattern

STEP_MARK = WordPattern(r"^{recipe.step}\s*\d{1,2}(?:\s*/\s*\d{1,2})?\s*[.:)–-]?(?:\s+(?=\S)|$)")
"""Label before a step, or instead of one, such as "Step 1"."""

_BLOCKS = HEADINGS | LISTS | {"p", "div", "table", "section", "article"}
_MARK = re.compile(r"^(?:[-–•*▢☐□]\s*|\d{1,2}[.)]\s+)")
_PIECES = etree.XPath(".//text() | .//br")
_DIGITS = re.compile(r"\d+")
_MIN_SHARE = 0.7
"""Share of the text of a list in its rows. The rest is headings."""
_MAX_ELEMENTS = 1_000
_MAX_TEXT = 20_000
_MAX_LINE = 2_000
_MAX_LINES = 100


def row_texts(around: Element) -> list[str]:
    """Return the different texts of the descendants of one shape that hold most of the text of an element.

    A shape is tag, class without numbers, and depth. Of several shapes, the most frequent is used, and the outer one
    among equally frequent ones.
    """
    whole = len(_squash(text_of(around)))
    if not 0 < whole <= _MAX_TEXT:
        return []
    top = depth_of(around)
    shapes: dict[tuple[str, str, int], list[Element]] = {}
    for element in islice(around.iterdescendants("*"), _MAX_ELEMENTS):
        name = _DIGITS.sub("", element.get("class") or "")
        shapes.setdefault((str(element.tag), name, depth_of(element) - top), []).append(element)
    repeated = sorted((rows for rows in shapes.values() if len(rows) > 1), key=len, reverse=True)
    for rows in repeated:  # sorting is stable: the outer ones come first
        texts = _texts(rows)
        if all(texts) and sum(len(_squash(text)) for text in texts) >= _MIN_SHARE * whole:
            lines = dict.fromkeys(map(strip_list_marker, texts))
            return [line for line in lines if line and len(line) < _MAX_LINE][:_MAX_LINES]
    return []


def _texts(rows: list[Element]) -> list[str]:
    """Return the texts of rows, with the sibling before each if these alternate, as amounts and names may."""
    before = [row.getprevious() for row in rows]
    is_alternate = all(one is not None for one in before) and set(rows).isdisjoint(before)
    groups = zip(before, rows, strict=True) if is_alternate else ((row,) for row in rows)
    return [clean_text(" ".join(text_of_item(part) for part in group if part is not None)) for group in groups]


def _squash(text: str) -> str:
    return "".join(text.split())


def is_line(box: Element) -> bool:
    """Return True if an element holds text and no block elements."""
    return next(box.iterdescendants(*_BLOCKS), None) is None and bool(text_of(box).strip())


def read_list_items(element: Element) -> list[str]:
    """Return the texts of the list items, else of the paragraphs, else the lines of the text."""
    items = [clean_text(text_of_item(item)) for item in element.iter("li")]
    if items:
        return items
    paragraphs = list(element.iter("p"))
    return [line for part in (paragraphs or [element]) for line in split_at_line_breaks(part)]


def split_at_line_breaks(element: Element) -> list[str]:
    """Return the lines of a text, split at line breaks."""
    text = "".join(
        "\n" if isinstance(piece, etree._Element) else str(piece).replace("\n", " ")
        for piece in cast("list[Any]", _PIECES(element))
    )
    return [line for line in map(clean_text, text.split("\n")) if line]


def text_of_item(element: Element) -> str:
    """Return the text of an element with a space between adjacent parts, such as amount and name in cells."""
    if len(element) < 2:
        return text_of(element)
    text = element.text or ""
    before: Element | None = None
    for part in element:
        inner = text_of_item(part)
        if before is not None and not before.tail and text[-1:].isalnum() and inner[:1].isalnum():
            text += " "
        text += inner + (part.tail or "")
        before = part
    return text


def strip_list_marker(line: str) -> str:
    """Return a line without its bullet, number or `Step 1`."""
    return STEP_MARK.sub("", _MARK.sub("", line), count=1)
