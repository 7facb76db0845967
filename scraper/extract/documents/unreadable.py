"""Files that are not read: what they are, and what to do instead."""

from __future__ import annotations

from scraper.errors import Empty, Encrypted, UnsupportedType
from scraper.extract.documents.model import Asked, Parsed

__all__ = ["binary", "empty", "legacy_presentation", "legacy_word", "locked_office"]


def legacy_word(data: bytes, asked: Asked) -> Parsed:
    """Word's format until 2003."""
    raise UnsupportedType(
        "This is a Word file of the format used until 2003 (.doc), which is not read here.",
        next_step="Convert it to .docx (Word, LibreOffice: `soffice --convert-to docx`), or look for a PDF.",
    )


def legacy_presentation(data: bytes, asked: Asked) -> Parsed:
    """PowerPoint's format until 2003."""
    raise UnsupportedType(
        "This is a PowerPoint file of the format used until 2003 (.ppt), which is not read here.",
        next_step="Convert it to .pptx (PowerPoint, LibreOffice: `soffice --convert-to pptx`), "
        "or look for a PDF.",
    )


def locked_office(data: bytes, asked: Asked) -> Parsed:
    """An Office file behind a password: encrypted as a whole."""
    raise Encrypted(
        "This is an Office document that is locked with a password, which cannot be opened here.",
        next_step="Save it without a password, or look for another copy.",
    )


def binary(data: bytes, asked: Asked) -> Parsed:
    """Bytes that are neither text nor a known document."""
    raise UnsupportedType(
        "The file is of a kind that is not read: its bytes are neither text nor a known document.",
        next_step="PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF, CSV, JSON and text are read.",
    )


def empty(data: bytes, asked: Asked) -> Parsed:
    """Nothing."""
    raise Empty("The file is empty.", next_step="There is nothing to read in it: check the address.")
