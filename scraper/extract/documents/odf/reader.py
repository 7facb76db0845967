"""OpenDocument texts and presentations to Markdown, by the HTML that they would be."""

from __future__ import annotations

import html
from collections.abc import Iterator

from scraper.errors import EncryptedDocumentError
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.odf.blocks import OdfBlockWriter, join_lists
from scraper.extract.documents.odf.cells import EmbeddedObjects
from scraper.extract.documents.odf.styles import (
    DRAW,
    DUBLIN,
    META,
    OFFICE,
    PRESENTATION,
    TEXT,
    OdfStyles,
    said,
)
from scraper.extract.documents.office import markdown_of
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.sniff import DocumentKind, kind_of
from scraper.extract.dom.xpath import Element, text_of


def warm_up(asked: ParseRequest | None = None) -> None:
    """Load what the writer of Markdown loads late."""
    markdown_of("<p>a</p><table><tr><th>a</th><th>b</th></tr></table><math><mi>a</mi></math>", "")


def read(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """A text or a presentation.

    Raises:
        Malformed, TooLarge, Encrypted: it cannot be read.
    """
    kind = kind_of(data)
    parts = Parts(data)
    check_lock(parts)
    content, more = parts.xml("content.xml"), parts.xml_if_there("styles.xml")
    styles = OdfStyles((content,) if more is None else (content, more))
    blocks = OdfBlockWriter(styles, EmbeddedObjects(parts))
    body = content.find(OFFICE + "body")
    slides = [] if body is None or kind is not DocumentKind.ODP else list(body.iter(DRAW + "page"))
    title, author = facts_of(parts)
    if slides:
        text = "\n\n".join(
            _slide(number, *slide_html(slide, blocks, styles), asked.url)
            for number, slide in enumerate(slides, 1)
        )
    else:
        text = "" if body is None else markdown_of(blocks.document(body) + blocks.notes(), asked.url)
    return ParsedDocument(
        kind.value,
        blocks.inline.comments.written(text),
        title=title,
        author=author,
        pages=len(slides) or None,
    )


def _slide(number: int, shown: str, notes: str, url: str) -> str:
    parts = (f"<!-- page {number} -->", markdown_of(shown, url), f"Notes: {notes}" if notes else "")
    return "\n\n".join(filter(None, parts))


def check_lock(parts: Parts) -> None:
    """Refuse a file whose content is locked.

    Raises:
        Encrypted: it is.
    """
    if "META-INF/manifest.xml" in parts and b"encryption-data" in parts.read("META-INF/manifest.xml"):
        raise EncryptedDocumentError(
            "The document is locked with a password.", next_step="Save it without one."
        )


def facts_of(parts: Parts) -> tuple[str | None, str | None]:
    """Title and author."""
    meta = parts.xml_if_there("meta.xml")
    if meta is None:
        return None, None
    title = next(meta.iter(DUBLIN + "title"), None)
    author = next(meta.iter(META + "initial-creator", DUBLIN + "creator"), None)
    return (None if title is None else title.text), (None if author is None else author.text)


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
