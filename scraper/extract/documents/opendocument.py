"""OpenDocument texts and presentations to Markdown, from their one part of content."""

from __future__ import annotations

from collections.abc import Iterator

from scraper.errors import Encrypted
from scraper.extract.code import fence
from scraper.extract.documents.grids import pipe_table, trimmed
from scraper.extract.documents.model import Asked, Parsed
from scraper.extract.documents.opendocument_cells import table_rows
from scraper.extract.documents.opendocument_text import DRAW, OFFICE, PRESENTATION, TABLE, TEXT, inline
from scraper.extract.documents.sniff import Kind, kind_of
from scraper.extract.documents.zips import Parts
from scraper.extract.xpath import Element, text_of

__all__ = ["read"]

_DUBLIN = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_DEPTH = 40
_LEFT_OUT = frozenset(
    {TEXT + name for name in ("tracked-changes", "sequence-decls", "variable-decls", "user-field-decls")}
    | {OFFICE + "forms", OFFICE + "annotation", PRESENTATION + "settings"}
)
_INDEXES = tuple(
    TEXT + name
    for name in (
        "table-of-content",
        "illustration-index",
        "alphabetical-index",
        "table-index",
        "bibliography",
    )
)


def read(data: bytes, asked: Asked) -> Parsed:
    """A text or a presentation.

    Raises:
        Malformed, TooLarge, Encrypted: it cannot be read.
    """
    kind = kind_of(data)
    parts = Parts(data)
    check_lock(parts)
    content = parts.xml("content.xml")
    writer = _Writer(content)
    body = content.find(OFFICE + "body")
    slides = [] if body is None else list(body.iter(DRAW + "page"))
    if kind is Kind.ODP and slides:
        texts = [
            f"<!-- page {number} -->\n\n{writer.slide(slide)}".rstrip()
            for number, slide in enumerate(slides, 1)
        ]
    else:
        texts = [] if body is None else list(writer.blocks(body, 0))
        texts += writer.notes()
    title, author = facts_of(parts)
    return Parsed(
        kind.value, "\n\n".join(texts), title=title, author=author, pages=len(slides) if slides else None
    )


def check_lock(parts: Parts) -> None:
    """Refuse a file whose content is locked.

    Raises:
        Encrypted: it is.
    """
    if "META-INF/manifest.xml" in parts and b"encryption-data" in parts.read("META-INF/manifest.xml"):
        raise Encrypted("The document is locked with a password.", next_step="Save it without one.")


def facts_of(parts: Parts) -> tuple[str | None, str | None]:
    """Title and author."""
    meta = parts.xml_if_there("meta.xml")
    if meta is None:
        return None, None
    title = next(meta.iter(_DUBLIN + "title"), None)
    author = next(meta.iter(_META + "initial-creator", _DUBLIN + "creator"), None)
    return (None if title is None else title.text), (None if author is None else author.text)


class _Writer:
    """One document; its footnotes are gathered on the way."""

    def __init__(self, content: Element) -> None:
        self._notes: list[str] = []
        self._counted = {
            str(style.get(_STYLE_NAME))
            for style in content.iter(TEXT + "list-style")
            if style.find(TEXT + "list-level-style-number") is not None
        }
        self._mono = {
            str(style.get(_STYLE_NAME))
            for style in content.iter(_STYLE + "style")
            for properties in style.iter(_STYLE + "text-properties")
            if "mono" in str(properties.get(_STYLE + "font-name", "")).lower()
        }

    def notes(self) -> list[str]:
        """The footnotes met, as a list."""
        return ["\n".join(self._notes)] if self._notes else []

    def slide(self, page: Element) -> str:
        """One slide: its title, then what stands on it, then its notes."""
        blocks: list[str] = []
        notes: list[str] = []
        for shape in page:
            if shape.tag == PRESENTATION + "notes":
                notes = [text for text in self.blocks(shape, 0) if text and not text.isdigit()]
            elif shape.get(PRESENTATION + "class") == "title":
                title = " ".join(" ".join(self.blocks(shape, 0)).split())
                blocks[:0] = [f"# {title}"] if title else []
            elif shape.get(PRESENTATION + "class") not in ("page-number", "footer", "date-time"):
                blocks += self.blocks(shape, 0)
        return "\n\n".join([*blocks, *([f"Notes: {' '.join(notes)}"] if notes else [])])

    def blocks(self, parent: Element, depth: int) -> Iterator[str]:
        """The blocks in an element."""
        for element in parent:
            if element.tag in _LEFT_OUT or not isinstance(element.tag, str) or depth > _DEPTH:
                continue
            if element.tag == TEXT + "h":
                level = str(element.get(TEXT + "outline-level", "1"))
                text = inline(element, self._notes)
                if text:
                    yield f"{'#' * min(6, int(level) if level.isdigit() else 1)} {text}"
            elif element.tag == TEXT + "p":
                yield from self._paragraph(element, depth)
            elif element.tag == TEXT + "list":
                yield from self._list(element, 0)
            elif element.tag == TABLE + "table":
                rows = trimmed(table_rows(element, lambda cell: self._cell(cell, depth)))
                if rows:
                    yield pipe_table(rows)
            elif element.tag in _INDEXES:
                yield from self._index(element)
            else:
                yield from self.blocks(element, depth + 1)

    def _paragraph(self, element: Element, depth: int) -> Iterator[str]:
        text = inline(element, self._notes)
        if text and str(element.get(TEXT + "style-name")) in self._mono:
            yield fence(text, "")
        elif text:
            yield text
        for box in element.iter(DRAW + "text-box"):
            yield from self.blocks(box, depth + 1)

    def _list(self, element: Element, depth: int) -> Iterator[str]:
        lines = list(self._items(element, depth))
        if lines:
            yield "\n".join(lines)

    def _items(self, element: Element, depth: int) -> Iterator[str]:
        counted = str(element.get(TEXT + "style-name")) in self._counted
        number = 0
        for item in element:
            if item.tag not in (TEXT + "list-item", TEXT + "list-header") or depth > _DEPTH:
                continue
            start = str(item.get(TEXT + "start-value", ""))
            number = int(start) if start.isdigit() and len(start) < 8 else number + 1
            mark = f"{number}." if counted else "-"
            for child in item:
                if child.tag == TEXT + "list":
                    yield from self._items(child, depth + 1)
                elif text := " ".join(" ".join(self.blocks_of(child)).split()):
                    yield f"{'   ' * min(depth, 10)}{mark} {text}"
                    mark = " " * len(mark)

    def blocks_of(self, element: Element) -> list[str]:
        """The text of one block of an item."""
        return [inline(element, self._notes)] if element.tag in (TEXT + "p", TEXT + "h") else list(
            self.blocks(element, 1)
        )  # fmt: skip

    def _cell(self, cell: Element, depth: int) -> str:
        return "\n".join(" ".join(text.split("\n")) for text in self.blocks(cell, depth + 1))

    def _index(self, element: Element) -> Iterator[str]:
        lines = [" ".join(text_of(line).split()) for line in element.iter(TEXT + "p")]
        if any(lines):
            yield "\n".join(f"- {line}" for line in lines if line)


_STYLE_NAME = _STYLE + "name"
