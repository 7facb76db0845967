"""Read a document: detect its format, load the reader for it, and normalize its result; read the files inside of it."""

import contextlib
import importlib
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import cast

from scraper import errors
from scraper.documents import model
from scraper.documents.compound_file import CompoundFile
from scraper.documents.safe_zip import ZipParts
from scraper.documents.sniff import CONTAINER_FORMATS, FORMATS, DocumentKind, sniff_kind
from scraper.text.markdown_structure import PAGE_MARK, clean_markdown, strip_markdown
from scraper.text.sanitize import clean_line

Reader = Callable[[bytes, model.ParseRequest], model.ParsedDocument]
"""Read one format; raise `ScraperError` if the document cannot be read."""

_READERS, FALLBACK_READERS = (
    {DocumentKind[name]: path for name, path in FORMATS[key].items()} for key in ("readers", "fallbacks")
)
"""Module and function of each reader, and of readers that may succeed where the first one failed."""
_UNREADABLE: Mapping[DocumentKind, errors.ScraperError] = {
    DocumentKind[name]: getattr(errors, row.pop("error"))(row.pop("message"), **row)
    for name, row in FORMATS["unreadable"].items()
}
_MAX_METADATA_CHARS = 300
_OCR_ADVICE = (
    "Look for another edition. The operator can let text in pictures be read: "
    "`apt install tesseract-ocr tesseract-ocr-deu` (each language is a package)."
)


def find_reader(kind: DocumentKind, *, use_fallback: bool = False) -> Reader:
    """Import and return the reader of a format; `use_fallback` has no effect if the format has no fallback reader.

    Raises:
        ScraperError: No reader exists; the message says what to do.
    """
    if kind in _UNREADABLE:
        raise copy(_UNREADABLE[kind])  # A raised exception holds its traceback.
    path = FALLBACK_READERS.get(kind, _READERS[kind]) if use_fallback else _READERS[kind]
    module, _, name = path.partition(":")
    return cast(Reader, getattr(importlib.import_module(f"scraper.documents.{module}"), name))


def list_readers() -> list[Reader]:
    """Import and return the readers of all formats."""
    return [find_reader(kind) for kind in _READERS]


def dispatch(data: bytes, request: model.ParseRequest) -> model.ParsedDocument:
    """Read a document, sanitize and truncate its Markdown, and derive the plain text from it.

    Raises:
        OcrNeededError: All pages are images of text, or their letters cannot be seen.
        NoContentError: There is no text.
        ScraperError: The document cannot be read; the message says why and what to do.
    """
    kind = sniff_kind(data, media_type=request.media_type, name=request.name)
    parsed = _read(data, kind, request)
    markdown, _ = clean_markdown(parsed.markdown)
    if not markdown.strip():
        if parsed.ocr_pages and request.keep_pictures:
            return parsed
        if parsed.ocr_pages:
            raise errors.OcrNeededError(
                "The document holds pictures of pages without any letters: it was scanned.", next_step=_OCR_ADVICE
            )
        if any(warning.startswith(model.HIDDEN_TEXT_WARNING) for warning in parsed.warnings):
            raise errors.OcrNeededError(
                "The letters of the document cannot be seen: they are invisible, or have the color of the paper.",
                next_step="Such text is not read here. Look for another edition.",
            )
        advice = " ".join(parsed.warnings) or "There is nothing to read in it."
        raise errors.NoContentError("The document contains no text.", next_step=advice)
    warnings = parsed.warnings
    if len(markdown) > model.MAX_CHARACTERS:
        warnings, markdown = (*warnings, model.TRUNCATION_WARNING), markdown[: model.MAX_CHARACTERS]
    return replace(
        parsed,
        markdown=markdown,
        text=strip_markdown(markdown),
        title=clean_line(parsed.title or "", _MAX_METADATA_CHARS) or None,
        author=clean_line(parsed.author or "", _MAX_METADATA_CHARS) or None,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _read(data: bytes, kind: DocumentKind, request: model.ParseRequest) -> model.ParsedDocument:
    """Call the reader of the format, and warn about files inside of the document that no reader opens."""
    parsed = find_reader(kind, use_fallback=request.plain_reader)(data, request)
    names: list[str] = []
    with contextlib.suppress(errors.ScraperError):  # A reader may have recovered what is damaged.
        names = _list_objects(data, kind)
    return replace(parsed, warnings=(*parsed.warnings, model.name_unread_files(names))) if names else parsed


def _list_objects(data: bytes, kind: DocumentKind) -> list[str]:
    """Return the names of files that were inserted into an office file; charts show the values of theirs."""
    if kind is DocumentKind.RTF:
        return [f"object {number}" for number in range(1, data.count(b"\\objdata") + 1)]
    if kind in (DocumentKind.DOC, DocumentKind.XLS):
        paths = (name.split("/") for name in CompoundFile(data).names if name.startswith(("objectpool/", "mbd")))
        found = {path[path[0] == "objectpool"] for path in paths if len(path) > 1}
        return [f"object {number}" for number in range(1, len(found) + 1)]
    return _list_zip_objects(data) if data.startswith(b"PK") and kind is not DocumentKind.ARCHIVE else []


def _list_zip_objects(data: bytes) -> list[str]:
    parts = ZipParts(data)
    charts = [parts.read(name) for name in parts.names if "/charts/_rels/" in name]
    objects = (
        name.rpartition("/embeddings/")[2]
        for name in parts.names
        if "/embeddings/" in name or (name.startswith("Object ") and "/" not in name)
    )
    return [name for name in objects if name and not any(f'/{name}"'.encode() in chart for chart in charts)]


_MAX_FILES = 30
_MAX_DEPTH = 3
_MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """A file inside of another one."""

    name: str
    data: bytes
    media_type: str = ""
    problem: str = ""
    """Sentence about the reason for which its data could not be read."""


def read_embedded(files: Iterable[EmbeddedFile], request: model.ParseRequest) -> tuple[list[str], tuple[str, ...]]:
    """Return a section of Markdown for each file, and warnings, which begin with the name of their file.

    Files that cannot be read have a sentence in place of their text, and are named by a warning. Archives inside of
    the document are not read, and mails only within `_MAX_DEPTH`.
    """
    sections: list[str] = []
    warnings: list[str] = []
    unread: list[str] = []
    size = 0
    for number, file in enumerate(files):
        name = clean_line(file.name, _MAX_NAME_CHARS) or "unnamed"
        if number >= _MAX_FILES or size > model.MAX_CHARACTERS:
            warnings.append(f"Only the first {number} files inside of the document are read.")
            break
        text, problems, is_read = read_file(file, request)
        size += len(text)
        sections.append(f"## {name}\n\n{text}")
        unread += [] if is_read else [name]
        warnings += (f"{name}: {problem}" for problem in problems)
    warnings += [model.name_unread_files(unread)] if unread else []
    return sections, tuple(warnings)


def read_file(file: EmbeddedFile, request: model.ParseRequest) -> tuple[str, tuple[str, ...], bool]:
    """Return the text of a file, or a sentence in parentheses, the warnings of its reader, and if it was read."""
    if file.problem:
        return f"(not read: {file.problem})", (), False
    kind = sniff_kind(file.data, media_type=file.media_type, name=file.name)
    if kind in CONTAINER_FORMATS and (kind is DocumentKind.ARCHIVE or request.depth >= _MAX_DEPTH):
        return f"({len(file.data):,} bytes of the format {kind}: not read inside of another file.)", (), False
    inner = model.ParseRequest(media_type=file.media_type, name=file.name, url=request.url, depth=request.depth + 1)
    try:
        parsed = _read(file.data, kind, inner)
    except (errors.ScraperError, RecursionError) as error:
        return f"({len(file.data):,} bytes, not read: {error})", (), False
    if kind is DocumentKind.IMAGE or parsed.markdown.strip():
        # Only the outer file has pages that can be chosen.
        return PAGE_MARK.sub(r"(page \1)", parsed.markdown), parsed.warnings, True
    return f"({len(file.data):,} bytes without text.)", parsed.warnings, True
