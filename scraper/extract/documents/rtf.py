"""RTF as text, by striprtf; tables by the bars that it writes between their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from striprtf import striprtf

from scraper.errors import Malformed
from scraper.extract.documents.grids import pipe_table
from scraper.extract.documents.model import Asked, Parsed

__all__ = ["read"]

MAX_BYTES = 20_000_000
_PICTURE = re.compile(rb"\{\\pict[^{}]*\}|\\bin\d{9,}")
_to_text: Callable[..., Any] = striprtf.rtf_to_text
_TITLE = re.compile(r"\{\\title ([^{}\\]{1,300})\}")
_AUTHOR = re.compile(r"\{\\author ([^{}\\]{1,300})\}")


def read(data: bytes, asked: Asked) -> Parsed:
    """The text of a file.

    Raises:
        Malformed: it cannot be read.
    """
    source = _PICTURE.sub(b"", data[:MAX_BYTES]).decode("cp1252", "replace")
    try:
        text = str(_to_text(source, errors="ignore"))
    except (ValueError, IndexError, KeyError, TypeError, LookupError, OverflowError) as error:
        raise Malformed(f"The RTF file is damaged ({type(error).__name__}).") from None
    title, author = _TITLE.search(source), _AUTHOR.search(source)
    return Parsed(
        "rtf",
        "\n\n".join(_blocks(text)),
        title=title[1].strip() if title else None,
        author=author[1].strip() if author else None,
    )


def _blocks(text: str) -> Iterator[str]:
    rows: list[list[str]] = []
    for line in text.replace("\u00a0", " ").split("\n"):
        if line.count("|") and line.rstrip().endswith("|"):
            rows.append([cell.strip() for cell in line.rstrip().removesuffix("|").split("|")])
            continue
        yield from _table(rows)
        rows = []
        if line.strip():
            yield re.sub(r"^\s*[\u2022\u00b7\uf0b7]\s*", "- ", line.strip())
    yield from _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows and any(any(row) for row in rows):
        yield pipe_table(rows)
