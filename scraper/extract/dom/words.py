"""Plain text, a line for each block, and a measure of text that holds for every script."""

from __future__ import annotations

from collections.abc import Iterable

_CHARACTERS_PER_WORD = 5
"""Chinese, Japanese and Thai write no spaces: there, characters tell how much is said."""


_FEW_CHARACTERS = 60
_OTHER_WHITE = b"\t\n\v\f\r\x1c\x1d\x1e\x1f"
"""White space in ASCII, as `split` takes it, but for the space."""


def squeezed(text: str) -> str:
    """The words of a text with one space between any two.

    Most long texts have no white space but single spaces: to see that takes a quarter of taking the words
    apart and putting them together again.
    """
    is_plain = (
        len(text) > _FEW_CHARACTERS
        and text.isascii()
        and "  " not in text
        and len(text.encode().translate(None, _OTHER_WHITE)) == len(text)
    )
    return text.strip(" ") if is_plain else " ".join(text.split())


def lines_of(pieces: Iterable[str | tuple[str] | None]) -> str:
    """Pieces of text joined, a new line at each None, white space folded but in the tuples."""
    lines: list[str] = []
    open_line: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            open_line.append(piece)
            continue
        if open_line:
            lines.append(squeezed("".join(open_line)))
            open_line.clear()
        if piece is not None:
            lines.append(piece[0])
    lines.append(squeezed("".join(open_line)))
    return "\n".join(filter(None, lines))


def words_in(text: str, most: int = -1) -> int:
    """How many words a text has, or as many as its length is worth where words are not set apart.

    `most`: the count ends there, as all that is behind it then counts as one word more.
    """
    words = text.split(None, most)
    return max(len(words), 0 if text.isascii() else sum(map(len, words)) // _CHARACTERS_PER_WORD)
