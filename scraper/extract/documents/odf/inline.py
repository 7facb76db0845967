"""Convert the inline content of an OpenDocument paragraph to HTML, and collect notes and comments."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scraper.extract.documents.odf.styles import (
    DRAW,
    DUBLIN,
    LINK,
    OFFICE,
    TEXT,
    OdfStyles,
    OdfTextFormat,
    get_attribute,
    get_int_attribute,
)
from scraper.extract.documents.office import ReviewComment, ReviewComments
from scraper.extract.dom.xpath import Element, text_of

_LIBRE = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
_SPACES = 200
_DEPTH = 60
_SHAPES = frozenset(
    DRAW + name
    for name in (
        "frame", "custom-shape", "text-box", "g", "line", "rect", "ellipse", "path", "a", "connector",
        "polygon", "polyline", "circle", "caption", "regular-polygon", "control", "page-thumbnail", "measure",
    )
)  # fmt: skip
_LEFT_OUT = _SHAPES | {
    TEXT + "hidden-text", TEXT + "hidden-paragraph", TEXT + "ruby-text", TEXT + "tracked-changes",
}  # fmt: skip
_WHITE = re.compile(r"[ \t\r\n]+")
_WEB = re.compile(r"(?:https?://|mailto:)[^\s()<>\"]+")


@dataclass(slots=True)
class Inline:
    """HTML writer for the inline content of one document."""

    styles: OdfStyles
    formula: Callable[[Element], str]
    """Convert a frame with a formula to inline HTML; empty for other elements."""
    notes: list[str] = field(default_factory=list)
    """Bodies of footnotes and endnotes, as list items."""
    comments: ReviewComments = field(default_factory=ReviewComments)
    _waiting: dict[str, str] = field(default_factory=dict)
    _named: set[str] | None = None

    def html(self, element: Element, *, bare: bool = False) -> str:
        """Return the content of a paragraph; `bare` leaves out bold where all of it is bold."""
        return "".join(self._pieces(element, bare, 0)).strip()

    def code(self, element: Element) -> str:
        """Return the plain text; preserve spaces except those of the XML layout."""
        return "".join(self._letters(element)).rstrip()

    def _pieces(self, element: Element, bare: bool, depth: int) -> Iterator[str]:
        yield _text(element.text)
        for child in element:
            if isinstance(child.tag, str) and depth < _DEPTH:
                yield from self._piece(child, bare, depth)
            yield _text(child.tail)

    def _piece(self, child: Element, bare: bool, depth: int) -> Iterator[str]:
        tag = child.tag
        if tag in _LEFT_OUT:
            yield self.formula(child)
        elif tag == TEXT + "s":
            yield " " * min(_SPACES, get_int_attribute(child, TEXT + "c", 1))
        elif tag == TEXT + "tab":
            yield " "
        elif tag == TEXT + "line-break":
            yield "<br>"
        elif tag == TEXT + "note":
            yield self._note(child)
        elif tag == OFFICE + "annotation":
            yield self._comment(child)
        elif tag == OFFICE + "annotation-end":
            yield self._waiting.pop(get_attribute(child, OFFICE + "name"), "")
        elif tag == TEXT + "a":
            yield self._link(child, bare, depth)
        else:
            look = self.styles.look(get_attribute(child, TEXT + "style-name"), "text")
            if not look.hidden:
                yield _apply_format("".join(self._pieces(child, bare, depth + 1)), look, bare)

    def _link(self, child: Element, bare: bool, depth: int) -> str:
        label = "".join(self._pieces(child, bare, depth + 1))
        url = get_attribute(child, LINK)
        return f'<a href="{html.escape(url)}">{label}</a>' if label.strip() and _WEB.fullmatch(url) else label

    def _note(self, note: Element) -> str:
        body = note.find(TEXT + "note-body")
        if body is None:
            return ""
        at = len(self.notes) + 1
        self.notes.append("")
        paragraphs = "<br>".join(self.html(one) for one in body.iter(TEXT + "p", TEXT + "h"))
        self.notes[at - 1] = f'<li id="footnote-{at}"><p>{paragraphs}</p></li>'
        return f'<sup><a href="#footnote-{at}" id="footnote-ref-{at}">[{at}]</a></sup>'

    def _comment(self, comment: Element) -> str:
        author, date = comment.find(DUBLIN + "creator"), comment.find(DUBLIN + "date")
        paragraphs = [text_of(one) for one in comment.iter(TEXT + "p")]
        mark = self.comments.mark(
            ReviewComment(
                "" if author is None else author.text or "",
                "" if date is None else date.text or "",
                " ".join(paragraphs),
                get_attribute(comment, _LIBRE + "resolved") == "true",
            )
        )
        name = get_attribute(comment, OFFICE + "name")
        if not name or not self._ends(comment, name):
            return mark
        self._waiting[name] = mark
        return ""

    def _ends(self, comment: Element, name: str) -> bool:
        """Return True if the commented passage has an end mark, which then gets the placeholder."""
        if self._named is None:
            ends = comment.getroottree().getroot().iter(OFFICE + "annotation-end")
            self._named = {get_attribute(end, OFFICE + "name") for end in ends}
        return name in self._named

    def _letters(self, element: Element) -> Iterator[str]:
        yield _letters(element.text)
        for child in element:
            if child.tag == TEXT + "s":
                yield " " * min(_SPACES, get_int_attribute(child, TEXT + "c", 1))
            elif child.tag == TEXT + "tab":
                yield "    "
            elif child.tag == TEXT + "line-break":
                yield "\n"
            elif isinstance(child.tag, str) and child.tag not in _LEFT_OUT | {OFFICE + "annotation"}:
                yield from self._letters(child)
            yield _letters(child.tail)


def _letters(text: str | None) -> str:
    """Return text for code, without line breaks of the XML layout."""
    return "" if text is None or ("\n" in text and text.isspace()) else _WHITE.sub(" ", text)


def _text(text: str | None) -> str:
    return html.escape(_WHITE.sub(" ", text), quote=False) if text else ""


def _apply_format(inner: str, look: OdfTextFormat, bare: bool) -> str:
    """Wrap text in the HTML elements of its format."""
    if not inner.strip():
        return inner
    tags = [tag for tag, wanted in (("b", look.bold and not bare), ("i", look.italic), ("s", look.struck)) if wanted]
    tags += [look.raised] if look.raised else []
    return "".join(f"<{tag}>" for tag in tags) + inner + "".join(f"</{tag}>" for tag in reversed(tags))
