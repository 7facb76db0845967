"""Request and result of a document reader, and what all readers share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from browsers.http.charset import decode
from scraper.errors import EncryptedDocumentError
from scraper.text.sanitize import clean, clean_line

MAX_CHARACTERS = 4_000_000
"""Characters of Markdown. A million tokens: more than any caller can page through."""

TRUNCATION_WARNING = f"Only the first {MAX_CHARACTERS:,} characters are shown."

_MAX_NAMED, _MAX_NAMES_CHARS = 30, 1_000
_MIN_MARGIN_LETTERS, _MAX_MARGIN_CHARS = 12, 300
HIDDEN_TEXT_WARNING = "Text that cannot be seen is left out"
"""Start of a warning, without the share of letters and the pages."""


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """Metadata of a document, and options for reading it."""

    media_type: str = ""
    """Declared by the server, with parameters. It is only a hint between text formats; never trusted."""
    name: str = ""
    """File name. It is only used to choose among text formats, and is not trusted."""
    url: str = ""
    password: str | None = None
    pages: tuple[int, ...] = ()
    """Pages to read, counted from 1; empty starts at the first page."""
    plain_reader: bool = False
    """Use the fallback reader of the format, if it has one: plainer, and based on another parser."""
    keep_pictures: bool = False
    """Return a document that consists of pictures, instead of an error."""
    picture_of: int = 0
    """Number of the page to render, counted from 1, instead of reading the document; 0 for none."""
    depth: int = 0
    """Number of files that surround this one."""
    time_s: float = 0
    """Seconds after which the reader of a PDF begins no further pages; 0 for no limit."""
    characters: int = 0
    """Characters of text after which the reader of a PDF begins no further pages; 0 for no limit."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document as Markdown. None means unknown; empty means known to be empty."""

    format: str
    """`pdf`, `docx`, `csv`, ...: detected from the bytes; text formats also by media type and file name."""
    markdown: str
    title: str | None = None
    author: str | None = None
    pages: int | None = None
    """Number of pages, sheets or slides of the whole document, if it has any."""
    ocr_pages: tuple[int, ...] = ()
    """Pages that are images of text; only their numbers are known."""
    encrypted: bool = False
    """The document was encrypted, and the password (or an empty one) opened it."""
    warnings: tuple[str, ...] = ()
    is_part: bool = False
    """Some of the pages are not read."""
    text: str = ""
    """Markdown without markup, for search. Created by the reader process: 4 MB of it take .4 s."""

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object for the transfer out of the reader process."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Self:
        """Build a document from the output of `as_json` of an untrusted process.

        Raises:
            ValueError: The data have another structure.
            TypeError: A page number is not a number.
            AttributeError: `data` is not a mapping.
        """
        text, number = (str, type(None)), (int, type(None))
        kinds: Mapping[str, tuple[type, ...]] = {
            "format": (str,), "markdown": (str,), "text": (str,), "encrypted": (bool,), "is_part": (bool,),
            "ocr_pages": (list,), "warnings": (list,), "title": text, "author": text, "pages": number,
        }  # fmt: skip
        values = {field.name: data.get(field.name) for field in fields(cls)}
        if not all(isinstance(values[name], kind) for name, kind in kinds.items()):
            raise ValueError("not a document")
        values["ocr_pages"] = tuple(int(page) for page in data["ocr_pages"])
        values["warnings"] = tuple(str(warning) for warning in data["warnings"])
        return cls(**values)  # type: ignore[arg-type]


def decode_text(data: bytes, request: ParseRequest) -> tuple[str, tuple[str, ...]]:
    """Return the text without invisible characters, and a warning if it was truncated."""
    text = decode(data[: 4 * MAX_CHARACTERS], request.media_type)
    text, _ = clean(text.removeprefix("\ufeff"))
    if len(text) > MAX_CHARACTERS or len(data) > 4 * MAX_CHARACTERS:
        return text[:MAX_CHARACTERS], (TRUNCATION_WARNING,)
    return text, ()


def name_unread_files(names: Sequence[str]) -> str:
    """Return a warning about files inside of the document that are not read."""
    count = "1 file" if len(names) == 1 else f"{len(names):,} files"
    listed = ", ".join([*names[:_MAX_NAMED], *(["..."] if len(names) > _MAX_NAMED else [])])
    return f"Not read: {count} inside of the document ({clean_line(listed, _MAX_NAMES_CHARS)})."


def describe_left_out(hidden: int, margins: Iterable[str], text: str) -> tuple[str, ...]:
    """Return warnings about hidden characters, and lines of page margins that say more than `text` and page numbers."""
    known = " ".join(text.split())
    lines = (" ".join(line.split()) for line in margins)
    more = [line for line in lines if sum(map(str.isalpha, line)) >= _MIN_MARGIN_LETTERS and line not in known]
    listed = clean_line("; ".join(dict.fromkeys(more)), _MAX_MARGIN_CHARS)
    return (
        *([f"{hidden:,} hidden characters are left out."] if hidden else []),
        *([f"Page headers and footers are left out: {listed}."] if more else []),
    )


def locked_error(what: str) -> EncryptedDocumentError:
    """Return the error for a document that needs a password."""
    advice = "Save it without a password, or look for another copy."
    return EncryptedDocumentError(f"{what} is locked with a password.", next_step=advice)
