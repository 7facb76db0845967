"""Short pieces of a document around the words that were looked for."""

from __future__ import annotations

from scraper.store.indexes.query import IndexQuery
from scraper.store.indexes.tokenizer import Tokenizer

PIECES = 3
PIECE_CHARS = 60
SCANNED_CHARS = 200_000
"""Of a document."""


def highlights(content: str, query: IndexQuery, tokenizer: Tokenizer) -> list[str]:
    """At most three pieces of about 60 characters, whole words, in the order of the text."""
    text = content[:SCANNED_CHARS]
    wanted = set(query.wanted)
    pieces: list[str] = []
    covered = -1
    for token, start, end in tokenizer.places(text):
        if token not in wanted or start < covered:
            continue
        low, high = _around(text, start, end)
        low = max(low, covered)
        pieces.append(_trimmed(text, low, high))
        covered = high
        if len(pieces) == PIECES:
            break
    return pieces


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """A span round a word, from space to space."""
    room = max(0, PIECE_CHARS - (end - start))
    low = max(0, start - room // 2)
    high = min(len(text), end + room - (start - low))
    if low:
        space = text.find(" ", low, start)
        low = space + 1 if space >= 0 else low
    if high < len(text):
        space = text.rfind(" ", end, high)
        high = space if space >= 0 else high
    return low, high


def _trimmed(text: str, low: int, high: int) -> str:
    piece = " ".join(text[low:high].split())
    return f"{'...' if low else ''}{piece}{'...' if high < len(text) else ''}"
