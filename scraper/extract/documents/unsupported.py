"""Files that are not read: what they are, and what to do instead."""

from __future__ import annotations

from scraper.errors import EncryptedDocumentError, NoContentError, UnsupportedTypeError
from scraper.extract.documents.model import ParsedDocument, ParseRequest


def legacy_word(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """Word's format until 2003."""
    raise UnsupportedTypeError(
        "This is a Word file of the format used until 2003 (.doc), which is not read here.",
        next_step="Convert it to .docx (Word, LibreOffice: `soffice --convert-to docx`), or look for a PDF.",
    )


def legacy_presentation(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """PowerPoint's format until 2003."""
    raise UnsupportedTypeError(
        "This is a PowerPoint file of the format used until 2003 (.ppt), which is not read here.",
        next_step="Convert it to .pptx (PowerPoint, LibreOffice: `soffice --convert-to pptx`), "
        "or look for a PDF.",
    )


def locked_office(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """An Office file behind a password: encrypted as a whole."""
    raise EncryptedDocumentError(
        "This is an Office document that is locked with a password, which cannot be opened here.",
        next_step="Save it without a password, or look for another copy.",
    )


def binary(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """Bytes that are neither text nor a known document."""
    raise UnsupportedTypeError(
        "The file is of a kind that is not read: its bytes are neither text nor a known document.",
        next_step="PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF, CSV, JSON and text are read.",
    )


def empty(data: bytes, asked: ParseRequest) -> ParsedDocument:
    """Nothing."""
    raise NoContentError("The file is empty.", next_step="There is nothing to read in it: check the address.")
