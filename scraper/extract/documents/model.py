"""What a reader of documents is request, and what it makes of the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

MAX_CHARACTERS = 4_000_000
"""Of Markdown; a million tokens, beyond what any caller can page through."""

CUT_OFF = f"Only the first {MAX_CHARACTERS:,} characters are shown."


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """What is known of a document beside its bytes, and what is wanted of it."""

    media_type: str = ""
    """As the server declared it, parameters included; a hint among texts, never trusted."""
    name: str = ""
    """The file's name; a hint among texts, never trusted."""
    url: str = ""
    password: str | None = None
    pages: tuple[int, ...] = ()
    """Pages to read, counted from 1; empty reads from the first one on."""
    plain_reader: bool = False
    """Read with the second reader of a format that has two: slower, plainer, and sharing no code."""
    more_care: bool = False
    """Take the second reader's word too where it knows better, at its price."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document as Markdown. None means unknown; empty means known to be empty."""

    format: str
    """`pdf`, `docx`, `csv`, ...: told by the bytes."""
    markdown: str
    title: str | None = None
    author: str | None = None
    pages: int | None = None
    """Of the whole document, where it has pages; sheets and slides count too."""
    read_to: int | None = None
    """The last page that was read, where that is not the last one."""
    ocr_pages: tuple[int, ...] = ()
    """Pages that show a picture of text: nothing but their place is known."""
    encrypted: bool = False
    """It was locked, and the password (or an empty one) opened it."""
    warnings: tuple[str, ...] = ()
    deserves_more_care: bool = False
    """Reading it with `more_care` would give a better text."""
    text: str = ""
    """The Markdown without its marks, for searches; made where it was read: 4 MB of it take .4 s."""

    def as_json(self) -> dict[str, Any]:
        """For the way out of the process that read it."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> ParsedDocument:
        """From what `as_json` made, in a process that is not trusted.

        Raises:
            ValueError: it is nothing of that kind.
        """
        text, number = (str, type(None)), (int, type(None))
        kinds: Mapping[str, tuple[type, ...]] = {
            "format": (str,), "markdown": (str,), "text": (str,), "encrypted": (bool,),
            "deserves_more_care": (bool,), "ocr_pages": (list,), "warnings": (list,), "title": text,
            "author": text, "pages": number, "read_to": number,
        }  # fmt: skip
        values = {field.name: data.get(field.name) for field in fields(cls)}
        if not all(isinstance(values[name], kind) for name, kind in kinds.items()):
            raise ValueError("not a document")
        values["ocr_pages"] = tuple(int(page) for page in data["ocr_pages"])
        values["warnings"] = tuple(str(warning) for warning in data["warnings"])
        return cls(**values)  # type: ignore[arg-type]
