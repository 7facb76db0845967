"""Read Pages, Numbers and Keynote files from their PDF preview, if they contain one."""

from __future__ import annotations

from dataclasses import replace

from scraper.errors import UnsupportedTypeError
from scraper.extract.documents.model import ParsedDocument, ParseRequest
from scraper.extract.documents.pdf import reader as pdf_reader
from scraper.extract.documents.safe_zip import ZipParts

_PREVIEWS = ("QuickLook/Preview.pdf", "preview.pdf")


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the reader of the preview."""
    pdf_reader.warm_up(request)


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of the preview.

    Raises:
        UnsupportedTypeError: There is no preview in PDF.
    """
    parts = ZipParts(data)
    preview = next((name for name in _PREVIEWS if name in parts), None)
    if preview is None:
        raise UnsupportedTypeError(
            "This is a file of Apple Pages, Numbers or Keynote without a preview in PDF, which is not read here.",
            next_step="Export it as PDF or Word (File > Export To), or look for another copy.",
        )
    parsed = pdf_reader.read(parts.read(preview), request)
    warning = "Only the preview in this Apple file was read: it may lack pages, and text that was changed since."
    return replace(parsed, format="iwork", warnings=(*parsed.warnings, warning))
