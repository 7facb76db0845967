"""Fallback PDF reader (pypdf): plainer, slower and pure Python, for files that PDFium cannot read."""

import io
import logging

import pypdf
import pypdf.errors

from scraper.documents.markdown_writing import join_pages
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.errors import ContentTooLargeError, EncryptedDocumentError, MalformedDocumentError

_MAX_PAGES = 300
"""Pages. This reader has a tenth of the speed of the main reader."""
_PYPDF_ERRORS = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError,
    AssertionError, ZeroDivisionError, NotImplementedError,
)  # fmt: skip


def warm_up() -> None:
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
        EncryptedDocumentError: It needs a password.
        ContentTooLargeError: It expands to more bytes than the limit of pypdf.
        MalformedDocumentError: pypdf cannot read it.
    """
    try:
        reader = pypdf.PdfReader(io.BytesIO(data), password=request.password)
        count = min(len(reader.pages), 1_000_000)
        numbers = [number for number in request.pages or range(1, count + 1) if number <= count][:_MAX_PAGES]
        texts = [(number, _text(reader, number)) for number in numbers]
    except (pypdf.errors.WrongPasswordError, pypdf.errors.FileNotDecryptedError):
        raise EncryptedDocumentError(
            "The PDF is locked and asks for a password.", next_step="Give `password`."
        ) from None
    except pypdf.errors.LimitReachedError:
        raise ContentTooLargeError("The PDF expands to more bytes than the limit.") from None
    except (pypdf.errors.PyPdfError, *_PYPDF_ERRORS) as error:
        raise MalformedDocumentError(f"The PDF is damaged ({type(error).__name__}).") from None
    return ParsedDocument(
        "pdf",
        join_pages(texts),
        pages=count,
        encrypted=reader.is_encrypted,
        is_part=len(numbers) < count,
        warnings=(f"Only {len(numbers):,} of {count:,} pages are read.",) if len(numbers) == _MAX_PAGES < count else (),
    )


def _text(reader: pypdf.PdfReader, number: int) -> str:
    try:
        return reader.pages[number - 1].extract_text().strip()
    except pypdf.errors.PdfReadError:
        return ""  # Skip a damaged page, not the whole document.
