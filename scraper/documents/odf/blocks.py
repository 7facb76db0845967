"""Convert the blocks of an OpenDocument text to HTML: headings, paragraphs, lists, tables, frames."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from itertools import groupby

from scraper.documents import office_xml as ns
from scraper.documents.odf.inline import OdfInlineWriter
from scraper.documents.odf.styles import ListCounter, OdfStyles
from scraper.documents.odf.tables import EmbeddedObjects, read_grid, write_table
from scraper.documents.office_markup import CODE_CHARACTERS
from scraper.documents.office_xml import get_attribute, get_int_attribute
from scraper.html.dom.xpath import Element, text_of

_MAX_DEPTH = 40
_MAX_LEVEL = 6
_LIST, _ITEM = ns.TEXT + "list", ns.TEXT + "list-item"
_STYLE = ns.TEXT + "style-name"
_OMITTED = frozenset(
    {
        ns.TEXT + name
        for name in (
            "tracked-changes", "sequence-decls", "variable-decls", "user-field-decls", "dde-connection-decls",
            "alphabetical-index-auto-mark-file", "index-title-template",
        )
    }
    | {ns.OFFICE + "forms", ns.OFFICE + "annotation", ns.PRESENTATION + "settings", ns.PRESENTATION + "notes"}
)  # fmt: skip
_INDEXES = frozenset(
    ns.TEXT + name
    for name in (
        "table-of-content", "illustration-index", "alphabetical-index", "table-index", "bibliography",
        "object-index", "user-index",
    )
)  # fmt: skip


class OdfBlockWriter:
    """HTML writer for one document; counts its lists and headings."""

    def __init__(self, styles: OdfStyles, objects: EmbeddedObjects) -> None:
        """Use the styles and objects of one file."""
        self.inline = OdfInlineWriter(styles, objects.formula)
        self._styles = styles
        self._objects = objects
        self._headings = ListCounter(styles.outline)
        self._lists: dict[str, ListCounter] = {}
        self._lower = 0
        """One if the document has a title, which moves its headings one level down."""

    def document(self, body: Element) -> str:
        """Return the body of a document as HTML; its lists are joined in place."""
        join_lists(body)
        paragraphs = body.iter(ns.TEXT + "p", ns.TEXT + "h")
        self._lower = int(any(self._styles.text_format(element, "paragraph").title for element in paragraphs))
        return self.html(body, 0)

    def html(self, elements: Iterable[Element], depth: int) -> str:
        """Return elements as blocks; consecutive lines of code form one block."""
        blocks: list[str] = []
        lines = ((element, self._code_line(element)) for element in elements)
        for is_code, group in groupby(lines, key=lambda pair: pair[1] is not None):
            if is_code:
                blocks.append(f"<pre>{html.escape(chr(10).join(line or '' for _, line in group))}</pre>")
            else:
                blocks += (block for element, _ in group for block in self._block(element, depth))
        return "".join(blocks)

    def notes(self) -> str:
        """Return the footnotes that were collected so far as an HTML list."""
        return f"<ol>{''.join(self.inline.notes)}</ol>" if self.inline.notes else ""

    def _block(self, element: Element, depth: int) -> Iterator[str]:
        tag = element.tag
        if tag in _OMITTED or not isinstance(tag, str) or depth > _MAX_DEPTH:
            return
        if tag == ns.TEXT + "h":
            yield self._heading(element) + self._anchored_frames(element, depth)
        elif tag == ns.TEXT + "p":
            yield self._paragraph(element) + self._anchored_frames(element, depth)
        elif tag == ns.TEXT + "list":
            yield self._list(element, "", 1, depth)
        elif tag == ns.TABLE + "table":
            yield write_table(read_grid(element, lambda cell: self.html(cell, depth + 1)).rows)
        elif tag in _INDEXES:
            yield self._index(element)
        elif tag == ns.DRAW + "frame":
            formula = self._objects.formula(element)
            yield f"<p>{formula}</p>" if formula else self._frame(element, depth)
        elif get_attribute(element, ns.TEXT + "display") != "none":
            yield self.html(element, depth + 1)

    def _code_line(self, element: Element) -> str | None:
        """Return the text of a paragraph that is a line of code, or None for others."""
        if element.tag != ns.TEXT + "p":
            return None
        style = self._styles.text_format(element, "paragraph")
        if not (style.code or style.mono) or style.hidden:
            return None
        text = self.inline.code(element)
        return text if style.code or CODE_CHARACTERS.search(text) else None

    def _heading(self, element: Element, label: str = "") -> str:
        style = self._styles.text_format(element, "paragraph")
        level = get_int_attribute(element, ns.TEXT + "outline-level", style.heading or 1)
        if get_attribute(element, ns.TEXT + "is-list-header") != "true":
            start = get_int_attribute(element, ns.TEXT + "start-value", -1)
            self._headings.count(level, None if start < 0 else start)
            label = label or self._headings.label(level)
        return self._write_heading(element, level + self._lower, label)

    def _write_heading(self, element: Element, level: int, label: str = "") -> str:
        text = self.inline.html(element, bare=True)
        number = f"{html.escape(label.rstrip('.'))} " if label else ""
        tag = f"h{max(1, min(_MAX_LEVEL, level))}"
        return f"<{tag}>{number}{text}</{tag}>" if text else ""

    def _paragraph(self, element: Element) -> str:
        style = self._styles.text_format(element, "paragraph")
        if style.hidden:
            return ""
        if style.title or style.subtitle:
            return self._write_heading(element, 2 if style.subtitle else 1)
        if style.heading:
            return self._write_heading(element, style.heading + self._lower)
        text = self.inline.html(element)
        return f"<p>{'<b>' + text + '</b>' if style.bold else text}</p>" if text else ""

    def _anchored_frames(self, element: Element, depth: int) -> str:
        """Return text boxes and objects that are anchored to a paragraph."""
        return "".join(self._frame(frame, depth) for frame in _frames_in(element))

    def _frame(self, frame: Element, depth: int) -> str:
        """Return the content of a frame, a shape or a group."""
        charts = "".join(self._objects.chart(one) for one in frame.iter(ns.DRAW + "object"))
        return charts or self.html(frame, depth + 1)

    def _index(self, element: Element) -> str:
        lines = (" ".join(text_of(line).split()) for line in element.iter(ns.TEXT + "p"))
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines if line)
        return f"<ul>{items}</ul>" if items else ""

    # Lists

    def _list(self, element: Element, style: str, at: int, depth: int) -> str:
        style = get_attribute(element, _STYLE) or style
        counter = self._counter(element, style, at)
        plain = counter.level(at).is_plain
        parts: list[str] = []
        items: list[str] = []
        for item in element:
            if item.tag not in (_ITEM, ns.TEXT + "list-header") or depth > _MAX_DEPTH:
                continue
            if item.find(ns.TEXT + "h") is not None:
                parts += [_write_items(items, plain), *self._headings_of(item, counter, at)]
                items = []
                continue
            if _is_nested_list_only(item):
                inner = "".join(self._list(one, style, at + 1, depth + 1) for one in item.iterchildren(_LIST))
                if items:
                    items[-1] = f"{items[-1].removesuffix('</li>')}{inner}</li>"
                else:
                    parts.append(inner)
                continue
            items.append(self._item(item, counter, style, at, depth))
        return "".join([*parts, _write_items(items, plain)])

    def _counter(self, element: Element, style: str, at: int) -> ListCounter:
        """Return the counter of a list, which may continue an earlier list."""
        counter = self._lists.setdefault(style, ListCounter(self._styles.levels(style)))
        continued = get_attribute(element, ns.TEXT + "continue-list")
        if at == 1 and not continued and get_attribute(element, ns.TEXT + "continue-numbering") != "true":
            counter.restart(1)
        return counter

    def _headings_of(self, item: Element, counter: ListCounter, at: int) -> Iterator[str]:
        """Yield headings that are list items only to be numbered."""
        counter.count(at)
        for child in item:
            if child.tag == ns.TEXT + "h":
                yield self._heading(child, counter.label(at))
            elif isinstance(child.tag, str):
                yield from self._block(child, 1)

    def _item(self, item: Element, counter: ListCounter, style: str, at: int, depth: int) -> str:
        level = counter.level(at)
        label, value = "", ""
        if item.tag == _ITEM:
            start = get_int_attribute(item, ns.TEXT + "start-value", -1)
            count = counter.count(at, None if start < 0 else start)
            value = f' value="{count}"' if level.is_plain else ""
            label = "" if level.is_plain else counter.label(at)
        body = "".join(
            self._list(child, style, at + 1, depth + 1)
            if child.tag == ns.TEXT + "list"
            else "".join(self._block(child, depth + 1))
            for child in item
        )
        if label and body.startswith("<p>"):
            body = f"<p>{html.escape(label)} {body[3:]}"
        return f"<li{value}>{body}</li>" if body else ""


def _write_items(items: list[str], plain: bool) -> str:
    """Return the items of a list; in a numbered list, items without a number are joined to the preceding item."""
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
        if not isinstance(child.tag, str) or child.tag in (ns.TEXT + "note", ns.OFFICE + "annotation"):
            continue
        if child.tag.startswith(ns.DRAW) and child.tag != ns.DRAW + "a":
            yield child
        elif depth < _MAX_DEPTH:
            yield from _frames_in(child, depth + 1)


def join_lists(root: Element) -> None:
    """Join lists in place: a list that begins one level deeper belongs to the preceding list.

    The items after it at the level above continue the same list.
    """
    joined: Element | None = None
    for later in list(root.iter(_LIST)):
        earlier = later.getprevious()
        if earlier is None or earlier.tag != _LIST or (earlier.tail or "").strip():
            continue
        first = later.find(_ITEM)
        begins_deeper = first is not None and _is_nested_list_only(first)
        continues = joined is earlier and get_attribute(earlier, _STYLE) == get_attribute(later, _STYLE)
        if earlier.find(_ITEM) is not None and (begins_deeper or continues):
            _move_items(later, earlier, get_attribute(later, _STYLE), 0)
            joined = earlier


def _move_items(source: Element, target: Element, style: str, depth: int) -> None:
    """Move all items to the end of another list; items that only go deeper join its last item."""
    for item in source.findall(_ITEM):
        last = next(target.iterchildren(_ITEM, reversed=True), None)
        inner_lists = item.findall(_LIST)
        for inner in inner_lists:
            if not get_attribute(inner, _STYLE):
                inner.set(_STYLE, style)
        if last is None or not _is_nested_list_only(item) or depth > _MAX_DEPTH:
            target.append(item)
            continue
        for inner in inner_lists:
            below = last[-1] if len(last) and last[-1].tag == _LIST else None
            if below is not None and below.find(_ITEM) is not None:
                _move_items(inner, below, get_attribute(inner, _STYLE), depth + 1)
            else:
                last.append(inner)
    if (parent := source.getparent()) is not None:
        parent.remove(source)


def _is_nested_list_only(item: Element) -> bool:
    """Return True if an item has no text and only contains the list below it."""
    first = next((child for child in item if isinstance(child.tag, str)), None)
    return first is not None and first.tag == _LIST
