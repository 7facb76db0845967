"""OpenDocument texts and presentations to Markdown, by the HTML that they would be."""

from __future__ import annotations

from scraper.errors import EncryptedDocumentError
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.odf.blocks import OdfBlockWriter
from scraper.extract.documents.odf.embedded_objects import EmbeddedObjects
from scraper.extract.documents.odf.slides import slide_html
from scraper.extract.documents.odf.styles import OdfStyles
from scraper.extract.documents.odf.xml_names import DRAW, DUBLIN, META, OFFICE
from scraper.extract.documents.office_html import markdown_of
from scraper.extract.documents.safe_zip import Parts
from scraper.extract.documents.sniff import DocumentKind, kind_of


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
