"""Turn lists and rows that hold one line of code each into one `pre`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scraper.html.dom.parsing import remove
from scraper.html.dom.tags import BLOCKS
from scraper.html.dom.xpath import Element, pad_names, text_of

_CODE_LIST = re.compile(r" (?:linenums|dp-\w+|code|(?:code|source|highlight)[-_]?(?:lines?|list)) ")
"""Class of a list whose items are lines, or of the element around it, as pretty printers write them."""
_INDENT = re.compile(r"[ \xa0\t]{2,}")
_MIN_LINES, _MIN_NUMBERED = 2, 3
"""Minimum lines of a list, and minimum rows with consecutive numbers."""
_MAX_DIGITS = 6
_NOT_IN_LINES = BLOCKS | {"img", "input", "button"}


def normalize_line_lists(root: Element) -> None:
    """Turn ordered lists of code lines, and rows of a number and a line of code, into `pre` without the numbers.

    A list is code if its class says so, or if each item is one `code` or `pre` and some are indented. All other lists
    of inline code stay lists.
    """
    for ordered in list(root.iter("ol")):
        if _is_code_list(ordered):
            _replace(ordered, [_line_text(item) for item in ordered if item.tag == "li"])
    for rows in list(_find_numbered_rows(root)):
        for row in rows[1:]:
            _remove_row(row)
        first = rows[0].elements[0]
        for element in rows[0].elements[1:]:
            remove(element)
        _replace(first, [_line_text(row.code) for row in rows])


def _is_code_list(ordered: Element) -> bool:
    items = [item for item in ordered if item.tag == "li"]
    around = ordered.getparent()
    if len(items) < _MIN_LINES or around is None or next(ordered.iterancestors("pre", "code"), None) is not None:
        return False
    outer = around.get("class") if len(around) == 1 else ""
    if _CODE_LIST.search(pad_names(f"{ordered.get('class') or ''} {outer or ''}")):
        return all(next(item.iterdescendants(*_NOT_IN_LINES), None) is None for item in items)
    return all(map(_is_code_alone, items)) and any(_INDENT.match(_line_text(item)) for item in items[1:])


def _is_code_alone(item: Element) -> bool:
    beside = (item.text or "") + "".join(part.tail or "" for part in item)
    return len(item) == 1 and item[0].tag in ("code", "pre") and not beside.strip() and "\n" not in _line_text(item)


def _line_text(element: Element) -> str:
    return text_of(element).replace("\xa0", " ").strip("\r\n").rstrip()


@dataclass(frozen=True, slots=True)
class _NumberedRow:
    """A number, the `code` after it, and the element that holds only these."""

    number: int
    code: Element
    elements: tuple[Element, ...]
    """The element around the row, or the number and the code if several rows share one element."""


def _find_numbered_rows(root: Element) -> Iterator[Sequence[_NumberedRow]]:
    """Yield the runs of neighboring rows with consecutive numbers."""
    run: list[_NumberedRow] = []
    for code in root.iter("code"):
        row = _read_row(code)
        if row is None:
            continue
        if run and not (row.number == run[-1].number + 1 and _follows(row, run[-1])):
            if len(run) >= _MIN_NUMBERED:
                yield run
            run = []
        run.append(row)
    if len(run) >= _MIN_NUMBERED:
        yield run


def _read_row(code: Element) -> _NumberedRow | None:
    label, around = code.getprevious(), code.getparent()
    if label is None or around is None or (label.tail or "").strip() or (code.tail or "").strip():
        return None
    digits = text_of(label).strip() if len(label) < 2 else ""
    if label.tag == "td" or not digits.isdecimal() or len(digits) > _MAX_DIGITS:
        return None
    # `len(around)` would count all children each time.
    is_alone = label.getprevious() is None and code.getnext() is None and not (around.text or "").strip()
    return _NumberedRow(int(digits), code, (around,) if is_alone else (label, code))


def _follows(row: _NumberedRow, earlier: _NumberedRow) -> bool:
    """Return True if nothing but a line break is between two rows."""
    before = row.elements[0].getprevious()
    if before is not None and before.tag == "br" and not (before.tail or "").strip():
        before = before.getprevious()
    return before is earlier.elements[-1] and not (before.tail or "").strip()


def _remove_row(row: _NumberedRow) -> None:
    before = row.elements[0].getprevious()
    if before is not None and before.tag == "br":
        remove(before)
    for element in row.elements:
        remove(element)


def _replace(element: Element, lines: Sequence[str]) -> None:
    """Turn an element into a `pre` with these lines; it keeps its class, which may name the language."""
    tail, name = element.tail, element.get("class")
    element.clear()
    element.tag, element.text, element.tail = "pre", "\n".join(lines), tail
    if name:
        element.set("class", name)
