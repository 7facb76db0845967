"""Fallback PDF reader (pypdf): plainer, slower and pure Python, for files that PDFium cannot read."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence

import pypdf
import pypdf.errors

from scraper.errors import ContentTooLargeError, EncryptedDocumentError, MalformedDocumentError
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.pdf.markdown_writer import join_pages

MAX_PAGES = 300
"""It has a tenth of the speed of the main reader."""
_BREAKS = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError,
    AssertionError, ZeroDivisionError, NotImplementedError,
)  # fmt: skip
"""Errors that pypdf raises for damaged files."""


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the modules that pypdf imports late."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    writer = pypdf.PdfWriter()
    writer.add_blank_page(9, 9)
    with io.BytesIO() as file:
        writer.write(file)
        pypdf.PdfReader(file).pages[0].extract_text()


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of the pages, without tables.

    Raises:
        EncryptedDocumentError, MalformedDocumentError, ContentTooLargeError: The file cannot be read.
    """
    try:
        reader = pypdf.PdfReader(io.BytesIO(data), password=request.password)
        count = min(len(reader.pages), 1_000_000)
        wanted = [number for number in request.pages or range(1, count + 1) if number <= count][:MAX_PAGES]
        texts = [(number, _text(reader, number)) for number in wanted]
    except (pypdf.errors.WrongPasswordError, pypdf.errors.FileNotDecryptedError):
        raise EncryptedDocumentError(
            "The PDF is locked and asks for a password.", next_step="Give `password`."
        ) from None
    except pypdf.errors.LimitReachedError:
        raise ContentTooLargeError("The PDF inflates to more than a document holds.") from None
    except (pypdf.errors.PyPdfError, *_BREAKS) as error:
        raise MalformedDocumentError(f"The PDF is damaged ({type(error).__name__}).") from None
    body = "\n\n".join(join_pages(texts)) if any(text for _, text in texts) else ""
    return ParsedDocument(
        "pdf",
        body,
        pages=count,
        read_to=wanted[-1] if wanted and wanted[-1] < count else None,
        encrypted=reader.is_encrypted,
        warnings=(f"Only {len(wanted):,} of {count:,} pages are read.",) if len(wanted) == MAX_PAGES < count else (),
    )


def _text(reader: pypdf.PdfReader, number: int) -> str:
    try:
        return reader.pages[number - 1].extract_text().strip()
    except pypdf.errors.PdfReadError:
        return ""  # Skip a damaged page, not the whole document.


def read_lines(data: bytes, pages: Sequence[int], password: str | None) -> dict[int, list[str]]:
    """Return the text lines of some pages; leave out pages that pypdf cannot read."""
    try:
        reader = pypdf.PdfReader(io.BytesIO(data), password=password)
        return {page: _text(reader, page).split("\n") for page in pages[:MAX_PAGES]}
    except (pypdf.errors.PyPdfError, *_BREAKS):
        return {}
