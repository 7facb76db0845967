"""Insert recognized text into the pages of a document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from scraper.extract.documents.model import ParsedDocument
from scraper.extract.documents.pdf.markdown_writer import escape_text, join_pages
from scraper.extract.documents.read import strip_markdown
from scraper.reading.documents.ocr import RecognizedPage

_PAGE = re.compile(r"^<!-- page (\d{1,9}) -->$", re.MULTILINE)
_MAX_LISTED = 100


def add_recognized_pages(parsed: ParsedDocument, recognized: Mapping[int, RecognizedPage]) -> ParsedDocument:
    """Return the document with recognized text in its pages, and a warning that lists the pages."""
    if not recognized:
        return parsed
    _, *found = _PAGE.split(parsed.markdown)
    texts = {int(number): text.strip() for number, text in zip(found[::2], found[1::2], strict=True)}
    for page, one in recognized.items():
        paragraphs = "\n\n".join(map(escape_text, one.text.split("\n\n")))
        texts[page] = "\n\n".join(filter(None, (texts.get(page, ""), paragraphs)))
    markdown = join_pages(sorted(texts.items()))
    listed = ", ".join(f"{page} ({one.confidence} %)" for page, one in sorted(recognized.items())[:_MAX_LISTED])
    more = ", ..." if len(recognized) > _MAX_LISTED else ""
    return replace(
        parsed,
        markdown=markdown,
        text=strip_markdown(markdown),
        ocr_pages=tuple(page for page in parsed.ocr_pages if page not in recognized),
        warnings=(
            *parsed.warnings,
            f"Text of pictures was recognized and may have mistakes, on pages (with confidence): {listed}{more}.",
        ),
    )
