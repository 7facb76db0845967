"""From bytes to Markdown: the kind is told by the bytes, and its reader loaded only then."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from scraper.errors import NoContentError, OcrNeededError
from scraper.extract.documents.model import CUT_OFF, MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.extract.documents.sniff import DocumentKind, kind_of
from scraper.extract.documents.strip_markdown import plain_words
from scraper.extract.text.sanitize import clean, clean_line

Reader = Callable[[bytes, ParseRequest], ParsedDocument]

_HERE = "scraper.extract.documents"
_READERS: Mapping[DocumentKind, tuple[str, str]] = {
    DocumentKind.PDF: ("pdf.reader", "read"),
    DocumentKind.DOCX: ("docx.reader", "read"),
    DocumentKind.XLSX: ("sheets", "read"),
    DocumentKind.XLSB: ("sheets", "read"),
    DocumentKind.XLS: ("sheets", "read"),
    DocumentKind.ODS: ("odf.sheets", "read"),
    DocumentKind.PPTX: ("slides", "read"),
    DocumentKind.EPUB: ("epub", "read"),
    DocumentKind.ODT: ("odf.reader", "read"),
    DocumentKind.ODP: ("odf.reader", "read"),
    DocumentKind.RTF: ("rtf.reader", "read"),
    DocumentKind.CSV: ("csv_text", "read"),
    DocumentKind.FEED: ("feed", "read"),
    DocumentKind.JSON: ("json_text", "read"),
    DocumentKind.NOTEBOOK: ("json_text", "read_notebook"),
    DocumentKind.XML: ("text", "read_xml"),
    DocumentKind.HTML: ("html", "read"),
    DocumentKind.MARKDOWN: ("text", "read_markdown"),
    DocumentKind.TEXT: ("text", "read_text"),
    DocumentKind.EMAIL: ("email", "read"),
    DocumentKind.IMAGE: ("image", "read"),
    DocumentKind.ARCHIVE: ("archive", "read"),
    DocumentKind.DOC: ("unsupported", "legacy_word"),
    DocumentKind.PPT: ("unsupported", "legacy_presentation"),
    DocumentKind.LOCKED_OFFICE: ("unsupported", "locked_office"),
    DocumentKind.BINARY: ("unsupported", "binary"),
    DocumentKind.EMPTY: ("unsupported", "empty"),
}
_SECOND: Mapping[DocumentKind, tuple[str, str]] = {
    DocumentKind.PDF: ("pdf.fallback_reader", "read"),
    DocumentKind.DOCX: ("docx.fallback_reader", "read"),
}

_MAX_FACT = 300


def has_second_reader(kind: DocumentKind) -> bool:
    """Whether a failure of the first reader need not be the end."""
    return kind in _SECOND


def find_reader(kind: DocumentKind, *, use_fallback: bool = False) -> Reader:
    """The reader of a kind; importing it is what takes time."""
    module, name = _SECOND.get(kind, _READERS[kind]) if use_fallback else _READERS[kind]
    return cast(Reader, getattr(importlib.import_module(f"{_HERE}.{module}"), name))


def read(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """The document in a file.

    Raises:
        ScraperError: it cannot be read; the sentence says why and what to do.
    """
    kind = kind_of(data, media_type=asked.media_type, name=asked.name)
    return finished(find_reader(kind, use_fallback=asked.plain_reader)(data, asked))


def finished(parsed: ParsedDocument) -> ParsedDocument:
    """What every document's text goes through last.

    Raises:
        OcrNeeded, Empty: there is no text.
    """
    markdown, _ = clean(parsed.markdown)
    if not markdown.strip():
        if parsed.ocr_pages:
            raise OcrNeededError(
                "The document holds pictures of pages without any letters: it was scanned.",
                next_step="Text in pictures is not read here. Look for another edition.",
            )
        raise NoContentError("The document holds no text.", next_step="There is nothing to read in it.")
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
    return clean_line(text, _MAX_FACT) or None if text else None
