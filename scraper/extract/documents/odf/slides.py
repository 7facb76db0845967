"""The slides of an OpenDocument presentation as HTML: title, what stands on them, and the speaker's notes."""

from __future__ import annotations

import html
from collections.abc import Iterator

from scraper.extract.documents.odf.blocks import OdfBlockWriter
from scraper.extract.documents.odf.lists import join_lists
from scraper.extract.documents.odf.styles import OdfStyles
from scraper.extract.documents.odf.xml_names import DRAW, PRESENTATION, TEXT, said
from scraper.extract.dom.xpath import Element, text_of

_FURNITURE = frozenset({"page-number", "footer", "date-time", "header", "page"})
_LONGEST_TITLE = 120
_LARGER = 1.15
"""A title's letters against the next largest ones of its slide."""


def slide_html(page: Element, blocks: OdfBlockWriter, styles: OdfStyles) -> tuple[str, str]:
    """What stands on one slide, and its notes."""
    join_lists(page)
    shapes = [shape for shape in page if said(shape, PRESENTATION + "class") not in _FURNITURE]
    title = next((shape for shape in shapes if said(shape, PRESENTATION + "class") == "title"), None)
    if title is None or not _words(title):
        title = _title_by_size(shapes, styles)
    parts = [f"<h1>{html.escape(_words(title))}</h1>" if title is not None else ""]
    notes = ""
    for shape in shapes:
        if shape.tag == PRESENTATION + "notes":
            notes = " ".join(filter(None, (_words(one) for one in _notes(shape))))
        elif shape is not title:
            parts.append(_shape(shape, blocks))
    return "".join(parts), notes


def _shape(shape: Element, blocks: OdfBlockWriter) -> str:
    holder = shape.makeelement("holder", {})
    parent = shape.getparent()
    assert parent is not None
    at = parent.index(shape)
    holder.append(shape)
    written = blocks.html(holder, 0)
    parent.insert(at, shape)
    return written


def _notes(shape: Element) -> Iterator[Element]:
    for frame in shape.iter(DRAW + "frame"):
        if said(frame, PRESENTATION + "class") not in _FURNITURE:
            yield from frame.iter(TEXT + "p")


def _title_by_size(shapes: list[Element], styles: OdfStyles) -> Element | None:
    """The first shape of one short paragraph, where its letters are the slide's largest by far."""
    sizes = {shape: _points(shape, styles) for shape in shapes if shape.tag != PRESENTATION + "notes"}
    spoken = [shape for shape in shapes if sizes.get(shape)]
    if not spoken or len(_words(spoken[0])) > _LONGEST_TITLE or len(_paragraphs(spoken[0])) != 1:
        return None
    others = [sizes[shape] for shape in spoken[1:]]
    return spoken[0] if all(sizes[spoken[0]] >= other * _LARGER for other in others) else None


def _points(shape: Element, styles: OdfStyles) -> float:
    """The size of the largest letters in a shape; 0 where nothing says."""
    spans = [(one, "text") for one in shape.iter(TEXT + "span") if text_of(one).strip()]
    spans += [(one, "paragraph") for one in shape.iter(TEXT + "p") if text_of(one).strip()]
    found = (styles.look(said(one, TEXT + "style-name"), family).points or 0.0 for one, family in spans)
    return max(found, default=0.0)


def _paragraphs(shape: Element) -> list[Element]:
    return [one for one in shape.iter(TEXT + "p") if text_of(one).strip()]


def _words(shape: Element) -> str:
    paragraphs = [shape] if shape.tag == TEXT + "p" else _paragraphs(shape)
    return " ".join(" ".join(text_of(one).split()) for one in paragraphs)
