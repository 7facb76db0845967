"""From bytes to Markdown: the kind is told by the bytes, and its reader loaded only then."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from scraper.errors import Empty, OcrNeeded
from scraper.extract.characters import clean, line
from scraper.extract.documents.model import CUT_OFF, MAX_CHARACTERS, Asked, Parsed
from scraper.extract.documents.plain_words import plain_words
from scraper.extract.documents.sniff import Kind, kind_of

__all__ = ["Reader", "has_second_reader", "read", "reader_of"]

Reader = Callable[[bytes, Asked], Parsed]

_HERE = "scraper.extract.documents"
_READERS: Mapping[Kind, tuple[str, str]] = {
    Kind.PDF: ("pdf.reader", "read"),
    Kind.DOCX: ("docx.reader", "read"),
    Kind.XLSX: ("sheets", "read"),
    Kind.XLSB: ("sheets", "read"),
    Kind.XLS: ("sheets", "read"),
    Kind.ODS: ("odf.sheets", "read"),
    Kind.PPTX: ("slides", "read"),
    Kind.EPUB: ("epub", "read"),
    Kind.ODT: ("odf.reader", "read"),
    Kind.ODP: ("odf.reader", "read"),
    Kind.RTF: ("rtf.reader", "read"),
    Kind.CSV: ("comma_separated", "read"),
    Kind.FEED: ("feed", "read"),
    Kind.JSON: ("json_text", "read"),
    Kind.NOTEBOOK: ("json_text", "read_notebook"),
    Kind.XML: ("text", "read_xml"),
    Kind.HTML: ("page", "read"),
    Kind.MARKDOWN: ("text", "read_markdown"),
    Kind.TEXT: ("text", "read_text"),
    Kind.EMAIL: ("mail", "read"),
    Kind.IMAGE: ("picture", "read"),
    Kind.ARCHIVE: ("archive", "read"),
    Kind.DOC: ("unreadable", "legacy_word"),
    Kind.PPT: ("unreadable", "legacy_presentation"),
    Kind.LOCKED_OFFICE: ("unreadable", "locked_office"),
    Kind.BINARY: ("unreadable", "binary"),
    Kind.EMPTY: ("unreadable", "empty"),
}
_SECOND: Mapping[Kind, tuple[str, str]] = {
    Kind.PDF: ("pdf.second", "read"),
    Kind.DOCX: ("docx.second", "read"),
}

_MAX_FACT = 300


def has_second_reader(kind: Kind) -> bool:
    """Whether a failure of the first reader need not be the end."""
    return kind in _SECOND


def reader_of(kind: Kind, *, plain: bool = False) -> Reader:
    """The reader of a kind; importing it is what takes time."""
    module, name = _SECOND.get(kind, _READERS[kind]) if plain else _READERS[kind]
    return cast(Reader, getattr(importlib.import_module(f"{_HERE}.{module}"), name))


def read(data: bytes, asked: Asked) -> Parsed:
    """The document in a file.

    Raises:
        ScraperError: it cannot be read; the sentence says why and what to do.
    """
    kind = kind_of(data, media_type=asked.media_type, name=asked.name)
    return finished(reader_of(kind, plain=asked.plain_reader)(data, asked))


def finished(parsed: Parsed) -> Parsed:
    """What every document's text goes through last.

    Raises:
        OcrNeeded, Empty: there is no text.
    """
    markdown, _ = clean(parsed.markdown)
    if not markdown.strip():
        if parsed.ocr_pages:
            raise OcrNeeded(
                "The document holds pictures of pages without any letters: it was scanned.",
                next_step="Text in pictures is not read here. Look for another edition.",
            )
        raise Empty("The document holds no text.", next_step="There is nothing to read in it.")
    warnings = parsed.warnings
    if len(markdown) > MAX_CHARACTERS:
        warnings, markdown = (*warnings, CUT_OFF), markdown[:MAX_CHARACTERS]
    return replace(
        parsed,
        markdown=markdown,
        text=plain_words(markdown),
        title=_fact(parsed.title),
        author=_fact(parsed.author),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _fact(text: str | None) -> str | None:
    return line(text, _MAX_FACT) or None if text else None
