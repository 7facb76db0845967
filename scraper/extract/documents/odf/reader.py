"""OpenDocument reader for texts and presentations: converts them to HTML and that to Markdown."""

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
    get_attribute,
)
from scraper.extract.documents.office import html_to_markdown
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.sniff import DocumentKind, sniff_kind
from scraper.extract.dom.xpath import Element, text_of


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules that the Markdown converter imports late."""
    html_to_markdown("<p>a</p><table><tr><th>a</th><th>b</th></tr></table><math><mi>a</mi></math>", "")


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return a text or a presentation.

    Raises:
        MalformedDocumentError, ContentTooLargeError, EncryptedDocumentError: The file cannot be read.
    """
    kind = sniff_kind(data)
    parts = Parts(data)
    check_encryption(parts)
    content, more = parts.xml("content.xml"), parts.xml_or_none("styles.xml")
    styles = OdfStyles((content,) if more is None else (content, more))
    blocks = OdfBlockWriter(styles, EmbeddedObjects(parts))
    body = content.find(OFFICE + "body")
    slides = [] if body is None or kind is not DocumentKind.ODP else list(body.iter(DRAW + "page"))
    title, author = read_metadata(parts)
    if slides:
        text = "\n\n".join(
            _slide(number, *write_slide(slide, blocks, styles), request.url) for number, slide in enumerate(slides, 1)
        )
    else:
        text = "" if body is None else html_to_markdown(blocks.document(body) + blocks.notes(), request.url)
    return ParsedDocument(
        kind.value, blocks.inline.comments.written(text), title=title, author=author, pages=len(slides) or None
    )


def _slide(number: int, shown: str, notes: str, url: str) -> str:
    parts = (f"<!-- page {number} -->", html_to_markdown(shown, url), f"Notes: {notes}" if notes else "")
    return "\n\n".join(filter(None, parts))


def check_encryption(parts: Parts) -> None:
    """Refuse an encrypted file.

    Raises:
        EncryptedDocumentError: The content is encrypted.
    """
    if "META-INF/manifest.xml" in parts and b"encryption-data" in parts.read("META-INF/manifest.xml"):
        raise EncryptedDocumentError("The document is locked with a password.", next_step="Save it without one.")


def read_metadata(parts: Parts) -> tuple[str | None, str | None]:
    """Return title and author."""
    meta = parts.xml_or_none("meta.xml")
    if meta is None:
        return None, None
    title = next(meta.iter(DUBLIN + "title"), None)
    author = next(meta.iter(META + "initial-creator", DUBLIN + "creator"), None)
    return (None if title is None else title.text), (None if author is None else author.text)


_FURNITURE = frozenset({"page-number", "footer", "date-time", "header", "page"})
_LONGEST_TITLE = 120
_LARGER = 1.15
"""Ratio of a title's font size to the next largest one of its slide."""


def write_slide(page: Element, blocks: OdfBlockWriter, styles: OdfStyles) -> tuple[str, str]:
    """Return the HTML of a slide and of its notes."""
    join_lists(page)
    shapes = [shape for shape in page if get_attribute(shape, PRESENTATION + "class") not in _FURNITURE]
    title = next((shape for shape in shapes if get_attribute(shape, PRESENTATION + "class") == "title"), None)
    if title is None or not _simplify_formula(title):
        title = _title_by_size(shapes, styles)
    parts = [f"<h1>{html.escape(_simplify_formula(title))}</h1>" if title is not None else ""]
    notes = ""
    for shape in shapes:
        if shape.tag == PRESENTATION + "notes":
            notes = " ".join(filter(None, (_simplify_formula(one) for one in _notes(shape))))
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
        if get_attribute(frame, PRESENTATION + "class") not in _FURNITURE:
            yield from frame.iter(TEXT + "p")


def _title_by_size(shapes: list[Element], styles: OdfStyles) -> Element | None:
    """Return the first shape with one short paragraph if its font is the largest by far."""
    sizes = {shape: _points(shape, styles) for shape in shapes if shape.tag != PRESENTATION + "notes"}
    spoken = [shape for shape in shapes if sizes.get(shape)]
    if not spoken or len(_simplify_formula(spoken[0])) > _LONGEST_TITLE or len(_paragraphs(spoken[0])) != 1:
        return None
    others = [sizes[shape] for shape in spoken[1:]]
    return spoken[0] if all(sizes[spoken[0]] >= other * _LARGER for other in others) else None


def _points(shape: Element, styles: OdfStyles) -> float:
    """Return the largest font size of a shape in points; 0 if unknown."""
    spans = [(one, "text") for one in shape.iter(TEXT + "span") if text_of(one).strip()]
    spans += [(one, "paragraph") for one in shape.iter(TEXT + "p") if text_of(one).strip()]
    found = (styles.look(get_attribute(one, TEXT + "style-name"), family).points or 0.0 for one, family in spans)
    return max(found, default=0.0)


def _paragraphs(shape: Element) -> list[Element]:
    return [one for one in shape.iter(TEXT + "p") if text_of(one).strip()]


def _simplify_formula(shape: Element) -> str:
    paragraphs = [shape] if shape.tag == TEXT + "p" else _paragraphs(shape)
    return " ".join(" ".join(text_of(one).split()) for one in paragraphs)
