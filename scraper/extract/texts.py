"""Plain text, a line for each block, and a measure of text that holds for every script."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["lines_of", "words_in"]

_CHARACTERS_PER_WORD = 5
"""Chinese, Japanese and Thai write no spaces: there, characters tell how much is said."""


def lines_of(pieces: Iterable[str | tuple[str] | None]) -> str:
    """Pieces of text joined, a new line at each None, white space folded but in the tuples."""
    lines: list[str] = []
    open_line: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            open_line.append(piece)
            continue
        if open_line:
            lines.append(" ".join("".join(open_line).split()))
            open_line.clear()
        if piece is not None:
            lines.append(piece[0])
    lines.append(" ".join("".join(open_line).split()))
    return "\n".join(filter(None, lines))


def words_in(text: str) -> int:
    """How many words a text has, or as many as its length is worth where words are not set apart."""
    words = text.split()
    return max(len(words), 0 if text.isascii() else sum(map(len, words)) // _CHARACTERS_PER_WORD)
