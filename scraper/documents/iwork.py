"""Read Pages, Numbers and Keynote files from their PDF preview, if they contain one."""

from __future__ import annotations

from dataclasses import replace

from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.pdf import reader as pdf_reader
from scraper.documents.safe_zip import ZipParts
from scraper.errors import MalformedDocumentError, UnsupportedTypeError

_PREVIEWS = ("QuickLook/Preview.pdf", "preview.pdf")
_EXPORT = "Export it as PDF or Word (File > Export To), or look for another copy."


def warm_up(request: ParseRequest | None = None) -> None:
    """Load the reader of the preview."""
    pdf_reader.warm_up(request)


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the text of the preview.

    Raises:
        UnsupportedTypeError: There is no preview in PDF.
        MalformedDocumentError: The preview is damaged.
    """
    parts = ZipParts(data)
    preview = next((name for name in _PREVIEWS if name in parts), None)
    if preview is None:
        raise UnsupportedTypeError(
            "This is a file of Apple Pages, Numbers or Keynote without a preview in PDF, which is not read here.",
            next_step=_EXPORT,
        )
    try:
        parsed = pdf_reader.read(parts.read(preview), request)
    except MalformedDocumentError:
        raise MalformedDocumentError("The PDF preview in this Apple file is damaged.", next_step=_EXPORT) from None
    warning = "Only the preview in this Apple file was read: it may lack pages, and text that was changed since."
    return replace(parsed, format="iwork", warnings=(*parsed.warnings, warning))
