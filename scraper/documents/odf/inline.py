"""Convert the inline content of an OpenDocument paragraph to HTML, and collect notes and comments."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scraper.documents import office_xml as ns
from scraper.documents.odf.styles import OdfStyles
from scraper.documents.office_markup import ReviewComments, apply_format
from scraper.documents.office_xml import get_attribute, get_int_attribute
from scraper.html.dom.xpath import Element, text_of

_MAX_SPACES = 200
_MAX_DEPTH = 60
_SHAPES = frozenset(
    ns.DRAW + name
    for name in (
        "frame", "custom-shape", "text-box", "g", "line", "rect", "ellipse", "path", "a", "connector",
        "polygon", "polyline", "circle", "caption", "regular-polygon", "control", "page-thumbnail", "measure",
    )
)  # fmt: skip
_OMITTED = _SHAPES | {
    ns.TEXT + "hidden-text", ns.TEXT + "hidden-paragraph", ns.TEXT + "ruby-text", ns.TEXT + "tracked-changes",
}  # fmt: skip
_WHITESPACE = re.compile(r"[ \t\r\n]+")
_WEB_URL = re.compile(r"(?:https?://|mailto:)[^\s()<>\"]+")


@dataclass(slots=True)
class OdfInlineWriter:
    """HTML writer for the inline content of one document."""

    styles: OdfStyles
    formula: Callable[[Element], str]
    """Convert a frame with a formula to inline HTML; empty for other elements."""
    notes: list[str] = field(default_factory=list)
    """Bodies of footnotes and endnotes, as list items."""
    comments: ReviewComments = field(default_factory=ReviewComments)
    _open_comments: dict[str, str] = field(default_factory=dict)
    """Placeholders for the ends of commented passages."""
    _range_ends: set[str] | None = None
    """Names of the comments whose passage has an end mark."""

    def html(self, element: Element, *, bare: bool = False) -> str:
        """Return the content of a paragraph; `bare` leaves out bold, as for headings."""
        return "".join(self._pieces(element, bare, 0)).strip()

    def code(self, element: Element) -> str:
        """Return the plain text; preserve spaces except those of the XML layout."""
        return "".join(self._code_pieces(element)).rstrip()

    def _pieces(self, element: Element, bare: bool, depth: int) -> Iterator[str]:
        yield _text(element.text)
        for child in element:
            if isinstance(child.tag, str) and depth < _MAX_DEPTH:
                yield from self._piece(child, bare, depth)
            yield _text(child.tail)

    def _piece(self, child: Element, bare: bool, depth: int) -> Iterator[str]:
        tag = child.tag
        if tag in _OMITTED:
            yield self.formula(child)
        elif tag == ns.TEXT + "s":
            yield " " * min(_MAX_SPACES, get_int_attribute(child, ns.TEXT + "c", 1))
        elif tag == ns.TEXT + "tab":
            yield " "
        elif tag == ns.TEXT + "line-break":
            yield "<br>"
        elif tag == ns.TEXT + "note":
            yield self._note(child)
        elif tag == ns.OFFICE + "annotation":
            yield self._comment(child)
        elif tag == ns.OFFICE + "annotation-end":
            yield self._open_comments.pop(get_attribute(child, ns.OFFICE + "name"), "")
        elif tag == ns.TEXT + "a":
            yield self._link(child, bare, depth)
        else:
            style = self.styles.text_format(child, "text")
            if not style.hidden:
                content = "".join(self._pieces(child, bare, depth + 1))
                bold = style.bold and not bare
                yield apply_format(content, bold=bold, italic=style.italic, struck=style.struck, raised=style.raised)

    def _link(self, child: Element, bare: bool, depth: int) -> str:
        label = "".join(self._pieces(child, bare, depth + 1))
        url = get_attribute(child, ns.LINK)
        return f'<a href="{html.escape(url)}">{label}</a>' if label.strip() and _WEB_URL.fullmatch(url) else label

    def _note(self, note: Element) -> str:
        body = note.find(ns.TEXT + "note-body")
        if body is None:
            return ""
        at = len(self.notes) + 1
        self.notes.append("")
        paragraphs = "<br>".join(self.html(one) for one in body.iter(ns.TEXT + "p", ns.TEXT + "h"))
        self.notes[at - 1] = f'<li id="footnote-{at}"><p>{paragraphs}</p></li>'
        return f'<sup><a href="#footnote-{at}" id="footnote-ref-{at}">[{at}]</a></sup>'

    def _comment(self, comment: Element) -> str:
        author, date = comment.find(ns.DUBLIN + "creator"), comment.find(ns.DUBLIN + "date")
        placeholder = self.comments.add(
            "" if author is None else author.text or "",
            "" if date is None else date.text or "",
            " ".join(text_of(paragraph) for paragraph in comment.iter(ns.TEXT + "p")),
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

    def _code_pieces(self, element: Element) -> Iterator[str]:
        yield _code_text(element.text)
        for child in element:
            if child.tag == ns.TEXT + "s":
                yield " " * min(_MAX_SPACES, get_int_attribute(child, ns.TEXT + "c", 1))
            elif child.tag == ns.TEXT + "tab":
                yield "    "
            elif child.tag == ns.TEXT + "line-break":
                yield "\n"
            elif isinstance(child.tag, str) and child.tag not in _OMITTED | {ns.OFFICE + "annotation"}:
                yield from self._code_pieces(child)
            yield _code_text(child.tail)


def _code_text(text: str | None) -> str:
    """Return text for code, without line breaks of the XML layout."""
    return "" if text is None or ("\n" in text and text.isspace()) else _WHITESPACE.sub(" ", text)


def _text(text: str | None) -> str:
    return html.escape(_WHITESPACE.sub(" ", text), quote=False) if text else ""
