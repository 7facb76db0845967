"""Read documents inside of other files: attachments of emails, files of an archive."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from scraper.documents.dispatcher import find_reader
from scraper.documents.model import MAX_CHARACTERS, ParsedDocument, ParseRequest
from scraper.documents.sniff import CONTAINER_FORMATS, DocumentKind, sniff_kind
from scraper.errors import ScraperError
from scraper.text.sanitize import clean_line

_MAX_FILES = 30
"""Files inside of one document that are read."""
_PAGE = re.compile(r"^<!-- page (\d+) -->$", re.MULTILINE)
_MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """A file inside of another one."""

    name: str
    data: bytes
    media_type: str = ""
    problem: str = ""
    """Sentence about the reason for which its data could not be read."""


def read_embedded(files: Iterable[EmbeddedFile], request: ParseRequest) -> tuple[list[str], tuple[str, ...]]:
    """Return a section of Markdown for each file, and warnings, which begin with the name of their file.

    Files that cannot be read have a sentence in place of their text. Files in archives and emails that are inside of
    the document are not read, so nothing nests deeper.
    """
    sections: list[str] = []
    warnings: list[str] = []
    size = 0
    for number, file in enumerate(files):
        name = clean_line(file.name, _MAX_NAME_CHARS) or "unnamed"
        if number >= _MAX_FILES or size > MAX_CHARACTERS:
            warnings.append(f"Only the first {number} files inside of the document are read.")
            break
        text, problems = _read(file, request)
        size += len(text)
        sections.append(f"## {name}\n\n{text}")
        warnings += (f"{name}: {problem}" for problem in problems)
    return sections, tuple(warnings)


def _read(file: EmbeddedFile, request: ParseRequest) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file, or a sentence in parentheses, and the warnings of its reader."""
    if file.problem:
        return f"(not read: {file.problem})", ()
    kind = sniff_kind(file.data, media_type=file.media_type, name=file.name)
    if kind in CONTAINER_FORMATS:
        return f"({len(file.data):,} bytes of the format {kind}: not read inside of another file.)", ()
    inner = ParseRequest(media_type=file.media_type, name=file.name, url=request.url)
    try:
        parsed: ParsedDocument = find_reader(kind)(file.data, inner)
    except (ScraperError, RecursionError) as error:
        return f"({len(file.data):,} bytes, not read: {error})", ()
    if kind is DocumentKind.IMAGE or parsed.markdown.strip():
        # Only the outer file has pages that can be chosen.
        return _PAGE.sub(r"(page \1)", parsed.markdown), parsed.warnings
    return f"({len(file.data):,} bytes without text.)", parsed.warnings
