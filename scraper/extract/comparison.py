"""A page from two sides: what was read of it, and what a person sees on it, with the lines left out."""

from __future__ import annotations

from dataclasses import dataclass

from browsers.model import Snapshot
from scraper.extract import fallback, plaintext, reader

MAX_CHARACTERS = 200_000
"""Of each side: what a person looks through."""


@dataclass(frozen=True, slots=True)
class ReadingComparison:
    """What is laid side by side."""

    title: str
    markdown: str
    seen: str
    dropped: tuple[str, ...]
    hidden_removed: int
    """Elements that a person cannot see."""
    rendered: bool


def sides_of(snapshot: Snapshot) -> ReadingComparison:
    """Read a page, and hold what was read against all that stands on it.

    Raises:
        UnsupportedType: the response is neither a page nor text.
    """
    document = reader.read(snapshot)
    seen = fallback.read(snapshot).text if plaintext.is_page(snapshot) else document.text
    read = _folded(document.text) + " " + _folded(document.markdown)
    lines = dict.fromkeys(line.strip() for line in seen[:MAX_CHARACTERS].splitlines() if line.strip())
    return ReadingComparison(
        title=document.title or "",
        markdown=document.markdown[:MAX_CHARACTERS],
        seen=seen[:MAX_CHARACTERS],
        dropped=tuple(line for line in lines if _folded(line) not in read),
        hidden_removed=document.hidden_removed,
        rendered=snapshot.rendered,
    )


def _folded(text: str) -> str:
    """A text in which a line of one writing is found in another."""
    return " ".join(text.split()).casefold()
