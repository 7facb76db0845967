"""Fallback PDF reader (pypdf): plainer, slower and pure Python, for files that PDFium cannot read."""

import contextlib
import io
import logging

import pypdf
import pypdf.errors

from scraper.documents.markdown_writing import join_pages
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.errors import MalformedDocumentError

_MAX_PAGES = 300
"""Pages. This reader has a tenth of the speed of the main reader."""


def warm_up() -> None:
    """Load the modules that pypdf imports late."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    writer = pypdf.PdfWriter()
    writer.add_blank_page(9, 9)
    with io.BytesIO() as file:
        writer.write(file)
        pypdf.PdfReader(file).pages[0].extract_text()


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of the pages, without tables; raise MalformedDocumentError if pypdf cannot read them."""
    try:
        return _read(data, request)
    except Exception:  # pypdf raises errors of many kinds.
        raise MalformedDocumentError("The PDF is damaged.") from None


def _read(data: bytes, request: ParseRequest) -> ParsedDocument:
    reader = pypdf.PdfReader(io.BytesIO(data), password=request.password)
    count = min(len(reader.pages), 1_000_000)
    numbers = [number for number in request.pages or range(1, count + 1) if number <= count][:_MAX_PAGES]
    texts = dict.fromkeys(numbers, "")
    for number in numbers:
        with contextlib.suppress(pypdf.errors.PdfReadError):  # Skip a damaged page, not the whole document.
            texts[number] = reader.pages[number - 1].extract_text().strip()
    warnings = (f"Only {len(numbers):,} of {count:,} pages are read.",) if len(numbers) == _MAX_PAGES < count else ()
    return ParsedDocument(
        "pdf", join_pages(list(texts.items())), pages=count, encrypted=reader.is_encrypted,
        is_part=len(numbers) < count, warnings=warnings,
    )  # fmt: skip
