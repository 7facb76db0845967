"""Convert an OpenDocument text to HTML: headings, paragraphs, lists, tables and frames; collect notes and comments."""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from scraper.documents import office_markup
from scraper.documents import office_xml as ns
from scraper.documents.odf.styles import OdfStyles
from scraper.documents.odf.tables import EmbeddedObjects, read_grid
from scraper.documents.office_markup import CODE_CHARACTERS, ListCounter, ListLevel, ReviewComments
from scraper.documents.office_xml import get_attribute, get_int_attribute
from scraper.html.dom.parsing import Element, remove, text_of
from scraper.values.text import read_table

_MAX_DEPTH, _MAX_INLINE_DEPTH = 40, 60
_MAX_LEVEL = 6
_MAX_SPACES = 200
_LIST, _ITEM, _HEADING, _PARAGRAPH = (ns.TEXT + name for name in ("list", "list-item", "h", "p"))
_STYLE = ns.TEXT + "style-name"
_TABLE = read_table(__package__, "names.toml")
_OMITTED, _INDEXES, _NOT_INLINE = (ns.qualify(_TABLE[key]) for key in ("omitted", "indexes", "not_inline"))
"""Shapes, of which only formulas are written within their paragraph, and elements that are not displayed."""
_WHITESPACE = re.compile(r"[ \t\r\n]+")
_WEB_URL = re.compile(r"(?:https?://|mailto:)[^\s()<>\"]+")


class OdfTextWriter:
    """HTML writer for one document; counts its lists and headings."""

    def __init__(self, styles: OdfStyles, objects: EmbeddedObjects) -> None:
        """Use the styles and objects of one file."""
        self.comments = ReviewComments()
        self._styles = styles
        self._objects = objects
        self._headings = ListCounter(styles.outline)
        self._lists: dict[str, ListCounter] = {}
        self._lower = 0
        """One if the document has a title, which moves its headings one level down."""
        self._notes: list[str] = []
        """Bodies of footnotes and endnotes, as list items."""
        self._open_comments: dict[str, str] = {}
        """Placeholders for the ends of commented passages."""
        self._range_ends: set[str] | None = None
        """Names of the comments whose passage has an end mark."""

    def document(self, body: Element) -> str:
        """Return the body and the notes of a document as HTML; its lists are joined in place."""
        join_lists(body)
        paragraphs = body.iter(_PARAGRAPH, _HEADING)
        self._lower = int(any(self._styles.text_format(element, "paragraph").title for element in paragraphs))
        content = self.blocks(body, 0)
        return content + (f"<ol>{''.join(self._notes)}</ol>" if self._notes else "")

    def blocks(self, elements: Iterable[Element], depth: int) -> str:
        """Return elements as blocks; consecutive lines of code form one block."""
        blocks: list[str] = []
        lines = ((element, self._code_line(element)) for element in elements)
        for is_code, group in groupby(lines, key=lambda pair: pair[1] is not None):
            if is_code:
                blocks.append(f"<pre>{html.escape(chr(10).join(line or '' for _, line in group))}</pre>")
            else:
                blocks += (block for element, _ in group for block in self._block(element, depth))
        return "".join(blocks)

    def _block(self, element: Element, depth: int) -> Iterator[str]:
        tag = element.tag
        if tag in _OMITTED or not isinstance(tag, str) or depth > _MAX_DEPTH:
            return
        if tag in (_HEADING, _PARAGRAPH):
            yield self._heading(element) if tag == _HEADING else self._paragraph(element)
            yield from (self._frame(frame, depth) for frame in _frames_in(element))
        elif tag == _LIST:
            yield self._list(element, "", 0, depth)
        elif tag == ns.TABLE + "table":
            yield office_markup.write_table(read_grid(element, lambda cell: self.blocks(cell, depth + 1)).rows)
        elif tag in _INDEXES:
            lines = (" ".join(text_of(line).split()) for line in element.iter(_PARAGRAPH))
            yield _write_items([f"<li>{html.escape(line)}</li>" for line in lines if line], plain=False)
        elif tag == ns.DRAW + "frame":
            formula = self._objects.formula(element)
            yield f"<p>{formula}</p>" if formula else self._frame(element, depth)
        elif get_attribute(element, ns.TEXT + "display") != "none":
            yield self.blocks(element, depth + 1)

    def _code_line(self, element: Element) -> str | None:
        style = self._styles.text_format(element, "paragraph") if element.tag == _PARAGRAPH else None
        if (
            style is None
            or style.hidden
            or not (style.code or (style.mono and not CODE_CHARACTERS.isdisjoint(text_of(element))))
        ):
            return None
        content = "".join(self._inline_pieces(element, True, 0)).replace("<br>", "\n").replace("\t", "    ")
        return html.unescape(office_markup.TAG.sub("", content)).rstrip()

    def _heading(self, element: Element, label: str = "") -> str:
        style = self._styles.text_format(element, "paragraph")
        level = get_int_attribute(element, ns.TEXT + "outline-level", style.heading or 1)
        if get_attribute(element, ns.TEXT + "is-list-header") != "true":
            self._headings.count(level - 1, _start_value(element))
            label = label or self._headings.label(level - 1)
        return self._write_heading(element, level + self._lower, label)

    def _write_heading(self, element: Element, level: int, label: str = "") -> str:
        text = self._inline(element, bare=True)
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
        text = self._inline(element)
        return f"<p>{'<b>' + text + '</b>' if style.bold else text}</p>" if text else ""

    def _frame(self, frame: Element, depth: int) -> str:
        """Return the content of a frame, a shape or a group."""
        charts = "".join(self._objects.chart(one) for one in frame.iter(ns.DRAW + "object"))
        return charts or self.blocks(frame, depth + 1)

    # Lists

    def _list(self, element: Element, style: str, at: int, depth: int) -> str:
        style = get_attribute(element, _STYLE) or style
        counter = self._lists.setdefault(style, ListCounter(self._styles.levels(style)))
        continues = get_attribute(element, ns.TEXT + "continue-numbering") == "true"
        if not at and not continues and not get_attribute(element, ns.TEXT + "continue-list"):
            counter.counts.clear()
        plain = counter.levels.get(at, ListLevel("none")).is_plain
        parts: list[str] = []
        items: list[str] = []
        for item in element:
            if item.tag not in (_ITEM, ns.TEXT + "list-header") or depth > _MAX_DEPTH:
                continue
            if item.find(_HEADING) is not None:  # Headings that are list items only to be numbered.
                counter.count(at)
                parts += [_write_items(items, plain), *(self._numbered(child, counter.label(at)) for child in item)]
                items = []
            elif not _is_nested_list_only(item):
                items.append(self._item(item, counter, style, at, depth))
            else:
                inner = "".join(self._list(one, style, at + 1, depth + 1) for one in item.iterchildren(_LIST))
                if items:
                    items[-1] = f"{items[-1].removesuffix('</li>')}{inner}</li>"
                else:
                    parts.append(inner)
        return "".join([*parts, _write_items(items, plain)])

    def _numbered(self, child: Element, label: str) -> str:
        return self._heading(child, label) if child.tag == _HEADING else "".join(self._block(child, 1))

    def _item(self, item: Element, counter: ListCounter, style: str, at: int, depth: int) -> str:
        label, value = "", ""
        if item.tag == _ITEM:
            count = counter.count(at, _start_value(item))
            if counter.levels.get(at, ListLevel("none")).is_plain:
                value = f' value="{count}"'
            else:
                label = counter.label(at)
        body = "".join(
            self._list(child, style, at + 1, depth + 1)
            if child.tag == _LIST
            else "".join(self._block(child, depth + 1))
            for child in item
        )
        if label and body.startswith("<p>"):
            body = f"<p>{html.escape(label)} {body[3:]}"
        return f"<li{value}>{body}</li>" if body else ""

    # Content of paragraphs

    def _inline(self, element: Element, *, bare: bool = False) -> str:
        return "".join(self._inline_pieces(element, bare, 0)).replace("\t", " ").strip()

    def _inline_pieces(self, element: Element, bare: bool, depth: int) -> Iterator[str]:
        yield _text(element.text)
        for child in element:
            if isinstance(child.tag, str) and depth < _MAX_INLINE_DEPTH:
                yield from self._inline_piece(child, bare, depth)
            yield _text(child.tail)

    def _inline_piece(self, child: Element, bare: bool, depth: int) -> Iterator[str]:
        tag = child.tag
        if tag in _NOT_INLINE:
            yield self._objects.formula(child)
        elif tag == ns.TEXT + "s":
            yield " " * min(_MAX_SPACES, get_int_attribute(child, ns.TEXT + "c", 1))
        elif tag == ns.TEXT + "tab":
            yield "\t"
        elif tag == ns.TEXT + "line-break":
            yield "<br>"
        elif tag == ns.TEXT + "note":
            yield self._note(child)
        elif tag == ns.OFFICE + "annotation":
            yield self._comment(child)
        elif tag == ns.OFFICE + "annotation-end":
            yield self._open_comments.pop(get_attribute(child, ns.OFFICE + "name"), "")
        elif tag == ns.TEXT + "a":
            label, url = "".join(self._inline_pieces(child, bare, depth + 1)), get_attribute(child, ns.LINK)
            is_link = label.strip() and _WEB_URL.fullmatch(url)
            yield f'<a href="{html.escape(url)}">{label}</a>' if is_link else label
        else:
            style = self._styles.text_format(child, "text")
            if not style.hidden:
                content = "".join(self._inline_pieces(child, bare, depth + 1))
                bold = style.bold and not bare
                yield office_markup.apply_format(
                    content, bold=bold, italic=style.italic, struck=style.struck, raised=style.raised
                )

    def _note(self, note: Element) -> str:
        body = note.find(ns.TEXT + "note-body")
        if body is None:
            return ""
        at = len(self._notes) + 1
        self._notes.append("")
        paragraphs = "<br>".join(self._inline(one) for one in body.iter(_PARAGRAPH, _HEADING))
        self._notes[at - 1] = f'<li id="footnote-{at}"><p>{paragraphs}</p></li>'
        return f'<sup><a href="#footnote-{at}" id="footnote-ref-{at}">[{at}]</a></sup>'

    def _comment(self, comment: Element) -> str:
        placeholder = self.comments.add(
            comment.findtext(ns.DUBLIN + "creator", ""),
            comment.findtext(ns.DUBLIN + "date", ""),
            " ".join(text_of(paragraph) for paragraph in comment.iter(_PARAGRAPH)),
            is_resolved=get_attribute(comment, ns.LIBRE_OFFICE + "resolved") == "true",
        )
        name = get_attribute(comment, ns.OFFICE + "name")
        if self._range_ends is None:
            ends = comment.getroottree().getroot().iter(ns.OFFICE + "annotation-end")
            self._range_ends = {get_attribute(end, ns.OFFICE + "name") for end in ends}
        if not name or name not in self._range_ends:
            return placeholder
        self._open_comments[name] = placeholder
        return ""


def _text(text: str | None) -> str:
    return html.escape(_WHITESPACE.sub(" ", text), quote=False) if text else ""


def _start_value(element: Element) -> int | None:
    start = get_int_attribute(element, ns.TEXT + "start-value", -1)
    return None if start < 0 else start


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
    """Yield the outermost frames and shapes that are anchored to a paragraph."""
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
    remove(source)


def _is_nested_list_only(item: Element) -> bool:
    """Return True if an item has no text and only contains the list below it."""
    first = next((child for child in item if isinstance(child.tag, str)), None)
    return first is not None and first.tag == _LIST
