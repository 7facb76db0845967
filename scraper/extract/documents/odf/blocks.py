"""Convert the blocks of an OpenDocument text to HTML: headings, paragraphs, lists, tables, frames."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from scraper.extract.documents.odf.cells import EmbeddedObjects, read_grid, write_table
from scraper.extract.documents.odf.inline import Inline
from scraper.extract.documents.odf.styles import (
    DRAW,
    OFFICE,
    PRESENTATION,
    TABLE,
    TEXT,
    Counter,
    OdfStyles,
    OdfTextFormat,
    get_attribute,
    get_int_attribute,
)
from scraper.extract.dom.xpath import Element, text_of

_DEPTH = 40
_LIST = TEXT + "list"
_LEVELS = 6
_LEFT_OUT = frozenset(
    {
        TEXT + name
        for name in (
            "tracked-changes", "sequence-decls", "variable-decls", "user-field-decls", "dde-connection-decls",
            "alphabetical-index-auto-mark-file", "index-title-template",
        )
    }
    | {OFFICE + "forms", OFFICE + "annotation", PRESENTATION + "settings", PRESENTATION + "notes"}
)  # fmt: skip
_INDEXES = frozenset(
    TEXT + name
    for name in (
        "table-of-content", "illustration-index", "alphabetical-index", "table-index", "bibliography",
        "object-index", "user-index",
    )
)  # fmt: skip
_CODE_MARKS = re.compile(r"[{}();=<>\[\]$#|]")


class OdfBlockWriter:
    """HTML writer for one document; counts its lists and headings."""

    def __init__(self, styles: OdfStyles, objects: EmbeddedObjects) -> None:
        """Use the styles and objects of one file."""
        self.inline = Inline(styles, objects.formula)
        self._styles = styles
        self._objects = objects
        self._headings = Counter(styles.outline)
        self._lists: dict[str, Counter] = {}
        self._lower = 0
        """One if the document has a title, which moves its headings one level down."""

    def document(self, body: Element) -> str:
        """Return a whole text."""
        join_lists(body)
        used = {get_attribute(element, TEXT + "style-name") for element in body.iter(TEXT + "p", TEXT + "h")}
        self._lower = int(any(self._styles.look(name, "paragraph").title for name in used))
        return self.html(body, 0)

    def html(self, parent: Element, depth: int) -> str:
        """Return the blocks of an element; consecutive lines of code form one block."""
        written: list[str] = []
        code: list[str] = []
        for element in parent:
            line = self._code_line(element)
            if line is not None:
                code.append(line)
                continue
            if code:
                written.append(_pre(code))
                code = []
            written += self._block(element, depth)
        return "".join([*written, _pre(code) if code else ""])

    def notes(self) -> str:
        """Return the footnotes so far as a list."""
        return f"<ol>{''.join(self.inline.notes)}</ol>" if self.inline.notes else ""

    def _block(self, element: Element, depth: int) -> Iterator[str]:
        tag = element.tag
        if tag in _LEFT_OUT or not isinstance(tag, str) or depth > _DEPTH:
            return
        if tag == TEXT + "h":
            yield self._heading(element) + self._beside(element, depth)
        elif tag == TEXT + "p":
            yield self._paragraph(element) + self._beside(element, depth)
        elif tag == TEXT + "list":
            yield self._list(element, "", 1, depth)
        elif tag == TABLE + "table":
            yield write_table(read_grid(element, lambda cell: self.html(cell, depth + 1)).rows)
        elif tag in _INDEXES:
            yield self._index(element)
        elif tag == DRAW + "frame":
            formula = self._objects.formula(element)
            yield f"<p>{formula}</p>" if formula else self._frame(element, depth)
        elif get_attribute(element, TEXT + "display") != "none":
            yield self.html(element, depth + 1)

    def _look(self, element: Element) -> OdfTextFormat:
        return self._styles.look(get_attribute(element, TEXT + "style-name"), "paragraph")

    def _code_line(self, element: Element) -> str | None:
        """Return the text of a paragraph that is a line of code, or None for others."""
        if element.tag != TEXT + "p":
            return None
        look = self._look(element)
        if not (look.code or look.mono) or look.hidden:
            return None
        letters = self.inline.code(element)
        return letters if look.code or _CODE_MARKS.search(letters) else None

    def _heading(self, element: Element, label: str = "") -> str:
        level = get_int_attribute(element, TEXT + "outline-level", self._look(element).heading or 1)
        if get_attribute(element, TEXT + "is-list-header") != "true":
            start = get_int_attribute(element, TEXT + "start-value", -1)
            self._headings.count(level, None if start < 0 else start)
            label = label or self._headings.label(level)
        return self._headed(element, level, label)

    def _headed(self, element: Element, level: int, label: str = "") -> str:
        text = self.inline.html(element, bare=True)
        if not text:
            return ""
        rank = max(1, min(_LEVELS, level + self._lower))
        mark = f"{html.escape(label.rstrip('.'))} " if label else ""
        return f"<h{rank}>{mark}{text}</h{rank}>"

    def _paragraph(self, element: Element) -> str:
        look = self._look(element)
        if look.hidden:
            return ""
        if look.title or look.subtitle:
            rank = 2 if look.subtitle else 1
            text = self.inline.html(element, bare=True)
            return f"<h{rank}>{text}</h{rank}>" if text else ""
        if look.heading:
            return self._headed(element, look.heading)
        text = self.inline.html(element)
        return f"<p>{'<b>' + text + '</b>' if look.bold and text else text}</p>" if text else ""

    def _beside(self, element: Element, depth: int) -> str:
        """Return text boxes and objects that are anchored to a paragraph."""
        return "".join(self._frame(frame, depth) for frame in _frames_in(element))

    def _frame(self, frame: Element, depth: int) -> str:
        """Return the content of a frame, a shape or a group."""
        charts = "".join(self._objects.chart(one) for one in frame.iter(DRAW + "object"))
        return charts or self.html(frame, depth + 1)

    def _index(self, element: Element) -> str:
        lines = (" ".join(text_of(line).split()) for line in element.iter(TEXT + "p"))
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines if line)
        return f"<ul>{items}</ul>" if items else ""

    # Lists

    def _list(self, element: Element, style: str, at: int, depth: int) -> str:
        style = get_attribute(element, TEXT + "style-name") or style
        counter = self._counter(element, style, at)
        plain = counter.level(at).is_plain
        parts: list[str] = []
        items: list[str] = []
        for item in element:
            if item.tag not in (TEXT + "list-item", TEXT + "list-header") or depth > _DEPTH:
                continue
            heading = next((child for child in item if child.tag == TEXT + "h"), None)
            if heading is not None:
                parts += [_write_items(items, plain), *self._headings_of(item, counter, at)]
                items = []
                continue
            if is_level_alone(item):
                inner = "".join(self._list(one, style, at + 1, depth + 1) for one in item.iterchildren(_LIST))
                if items:
                    items[-1] = f"{items[-1].removesuffix('</li>')}{inner}</li>"
                else:
                    parts.append(inner)
                continue
            items.append(self._item(item, counter, style, at, depth))
        return "".join([*parts, _write_items(items, plain)])

    def _counter(self, element: Element, style: str, at: int) -> Counter:
        """Return the counter of a list, which may continue an earlier list."""
        counter = self._lists.setdefault(style, Counter(self._styles.levels(style)))
        continued = get_attribute(element, TEXT + "continue-list")
        if at == 1 and not continued and get_attribute(element, TEXT + "continue-numbering") != "true":
            counter.begin(1)
        return counter

    def _headings_of(self, item: Element, counter: Counter, at: int) -> Iterator[str]:
        """Yield headings that are list items only to be numbered."""
        counter.count(at)
        for child in item:
            if child.tag == TEXT + "h":
                yield self._heading(child, counter.label(at))
            elif isinstance(child.tag, str):
                yield from self._block(child, 1)

    def _item(self, item: Element, counter: Counter, style: str, at: int, depth: int) -> str:
        level = counter.level(at)
        label, value = "", ""
        if item.tag == TEXT + "list-item":
            start = get_int_attribute(item, TEXT + "start-value", -1)
            count = counter.count(at, None if start < 0 else start)
            value = f' value="{count}"' if level.is_plain else ""
            label = "" if level.is_plain else counter.label(at)
        body = "".join(
            self._list(child, style, at + 1, depth + 1)
            if child.tag == TEXT + "list"
            else "".join(self._block(child, depth + 1))
            for child in item
        )
        if label and body.startswith("<p>"):
            body = f"<p>{html.escape(label)} {body[3:]}"
        return f"<li{value}>{body}</li>" if body else ""


def _write_items(items: list[str], plain: bool) -> str:
    """Return the items of a list; in a numbered list, items without a number join the one before."""
    before: list[str] = []
    joined: list[str] = []
    for item in filter(None, items):
        if not plain or not item.startswith("<li>"):
            joined.append(item)
        elif joined:
            joined[-1] = joined[-1].removesuffix("</li>") + item.removeprefix("<li>")
        else:
            before.append(item.removeprefix("<li>").removesuffix("</li>"))
    tag = "ol" if plain else "ul"
    return "".join([*before, f"<{tag}>{''.join(joined)}</{tag}>" if joined else ""])


def _frames_in(element: Element, depth: int = 0) -> Iterator[Element]:
    """Yield the outermost frames and shapes of a paragraph."""
    for child in element:
        if not isinstance(child.tag, str) or child.tag in (TEXT + "note", OFFICE + "annotation"):
            continue
        if child.tag.startswith(DRAW) and child.tag != DRAW + "a":
            yield child
        elif depth < _DEPTH:
            yield from _frames_in(child, depth + 1)


def _pre(lines: list[str]) -> str:
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"


_LIST_TAG, _ITEM, _STYLE = TEXT + "list", TEXT + "list-item", TEXT + "style-name"
_MAX_LIST_DEPTH = 40


def join_lists(root: Element) -> None:
    """Join lists in place: a list that begins one level deeper belongs to the list before it.

    The items after it at the level above continue the same list.
    """
    joined: Element | None = None
    for later in list(root.iter(_LIST_TAG)):
        earlier = later.getprevious()
        if earlier is None or earlier.tag != _LIST_TAG or (earlier.tail or "").strip():
            continue
        first = _items(later)[:1]
        begins_deeper = bool(first) and is_level_alone(first[0])
        goes_on = joined is earlier and get_attribute(earlier, _STYLE) == get_attribute(later, _STYLE)
        if _items(earlier) and (begins_deeper or goes_on):
            _move(later, earlier, get_attribute(later, _STYLE), 0)
            joined = earlier


def _move(source: Element, target: Element, style: str, depth: int) -> None:
    """Move all items to the end of another list; items that only go deeper join its last item."""
    for item in _items(source):
        last = _items(target)[-1:]
        inner_lists = [child for child in item if child.tag == _LIST_TAG]
        for inner in inner_lists:
            if not get_attribute(inner, _STYLE):
                inner.set(_STYLE, style)
        if not last or not is_level_alone(item) or depth > _MAX_LIST_DEPTH:
            target.append(item)
            continue
        for inner in inner_lists:
            below = last[0][-1] if len(last[0]) and last[0][-1].tag == _LIST_TAG else None
            if below is not None and _items(below):
                _move(inner, below, get_attribute(inner, _STYLE), depth + 1)
            else:
                last[0].append(inner)
    if (parent := source.getparent()) is not None:
        parent.remove(source)


def _items(element: Element) -> list[Element]:
    return [child for child in element if child.tag == _ITEM]


def is_level_alone(item: Element) -> bool:
    """Return True if an item has no text and only contains the list below it."""
    first = next((child for child in item if isinstance(child.tag, str)), None)
    return first is not None and first.tag == _LIST_TAG
