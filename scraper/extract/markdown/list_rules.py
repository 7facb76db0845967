"""Convert lists and task lists into Markdown."""

from __future__ import annotations

import re
from typing import ClassVar

from scraper.extract.markdown.tree_converter import (
    ESCAPED_POINT,
    ConversionContext,
    ElementHandler,
    MarkdownRules,
    SoupTag,
    Tags,
)
from scraper.html.dom.tags import LISTS
from scraper.html.dom.xpath import Element, classes_of, text_of
from scraper.text.numerals import format_numeral

MAX_INDENTS = 10
"""Levels. Deeper lists and quotations stay at this depth: each level indents all its content again."""

_TASKS = re.compile(r"\btask-?list|\btasks?\b|\btodo-list", re.IGNORECASE)
_BOXES = {"true": "[x] ", "false": "[ ] "}
"""Boxes of tasks by the value of `data-checked`."""


def normalize_lists(root: Element) -> None:
    """Move lists between items into the preceding item, and write the boxes of finished and open tasks."""
    for listing in list(root.iter(*LISTS)):
        around, before = listing.getparent(), listing.getprevious()
        if around is not None and around.tag in LISTS and before is not None and before.tag == "li":
            before.tail = None
            before.append(listing)
    with_terms = {term.getparent() for term in root.iter("dt")}
    for value in list(root.iter("dd")):
        if value.getparent() not in with_terms:  # used to indent paragraphs
            value.tag = "div"
    for item in root.iter("li"):
        names, around = classes_of(item), item.getparent()
        is_task = around is not None and _TASKS.search(around.get("class") or "") is not None
        is_task = is_task and next(item.iter("input"), None) is None
        declared = ("true" if "checked" in names else "false") if is_task else ""
        box = _BOXES.get(item.get("data-checked") or declared)
        if box is None:
            continue
        place = _find_first_text(item)
        place.text = box + (place.text or "").lstrip()


def _find_first_text(place: Element) -> Element:
    while not (place.text or "").strip():
        first = next((child for child in place if text_of(child).strip()), None)
        if first is None or first.tag not in ("div", "p", "span"):
            break
        place = first
    return place


class ListRules(MarkdownRules):
    """Rules of `ul`, `ol`, `li`, `dt`, `dd`, and of checkboxes in them."""

    def convert_list(self, el: SoupTag, text: str, parent_tags: Tags) -> str:
        """Return a list, on lines of its own."""
        text = text.strip("\n")
        if not text:
            return ""
        return f"\n{text}\n" if "li" in parent_tags else f"\n\n{text}\n\n"

    convert_ul = convert_ol = convert_list

    def convert_li(self, el: SoupTag, text: str, parent_tags: Tags) -> str:
        """Return an item with its marker, its lines indented by the marker's width."""
        text = text.strip()
        if not text:
            return ""
        marker = self._choose_marker(el.element)
        if "\n" in text:
            indent = " " * (len(marker) if marker[0] != "-" else 2)
            text = "\n".join(indent + row if row else "" for row in text.split("\n")).lstrip()
        before, parent = el.element.getprevious(), el.element.getparent()
        text_before = before.tail if before is not None else parent.text if parent is not None else None
        opening = "\n" if text_before and text_before.strip() else ""  # text in the list itself
        return f"{opening}{marker}{text}\n"

    def _choose_marker(self, item: Element) -> str:
        parent = item.getparent()
        if parent is None or parent.tag != "ol":
            return "- "
        step = 1 if parent.get("reversed") is None else -1
        follows = self.numbers.get(parent)
        if follows is None:
            follows = _parse_integer(parent.get("start"), 1 if step > 0 else sum(1 for _ in parent.iterchildren("li")))
        number = _parse_integer(item.get("value"), follows)
        self.numbers[parent] = number + step
        style = _STYLES.get(item.get("type") or parent.get("type") or "", "decimal") if number > 0 else "decimal"
        if style == "decimal" and step > 0 and number >= 0:
            return f"{number}. "
        # Markdown has no letters, and counts only up.
        return f"- {format_numeral(number, style)}{'.' if style != 'decimal' else ESCAPED_POINT} "

    def convert_dt(self, el: SoupTag, text: str, parent_tags: Tags) -> str:
        """Return a term on a line of its own."""
        text = " ".join(text.split())
        return f"\n\n{text}\n" if text and "_inline" not in parent_tags else f" {text} "

    def _flatten(self, element: Element, context: ConversionContext) -> str | None:
        if context.indents < MAX_INDENTS:
            return None
        text = self.render_children(element, context.enter(element.tag)).strip()
        return f"\n\n{text}\n\n" if text else ""

    def _task(self, element: Element, context: ConversionContext) -> str:
        """Return `[x]` or `[ ]` for a checkbox that is disabled or has the class of a task, or "" for other inputs."""
        if element.get("type") != "checkbox" or "li" not in context.tags:
            return ""
        if element.get("disabled") is None and "task" not in (element.get("class") or ""):
            return ""
        box = "[x]" if element.get("checked") is not None else "[ ]"
        return box if (element.tail or "")[:1].isspace() else f"{box} "

    handlers: ClassVar[dict[str, ElementHandler]] = {
        "li": _flatten,
        "blockquote": _flatten,
        "dd": _flatten,
        "input": _task,
    }


_STYLES = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
"""Styles of numbers by the attribute `type`."""


def _parse_integer(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.removeprefix("-").isdigit() and len(text) < 10 else otherwise
