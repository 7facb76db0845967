"""Texts as the words of an index: cut at everything that is no letter or digit, in pairs without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.fulltext.tokenization import SIGNS, UNSPACED, is_unspaced

_WORD = re.compile(rf"[{UNSPACED}]+|(?:[^\W_{UNSPACED}]|[{SIGNS}])+(?:(?<=[A-Za-z])(?:\+\+|#)(?!\w))?")
_UNSPACED_START = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """How one index cuts its texts."""

    lowercase: bool = True
    min_length: int = 2
    """Shorter words are left out, but for pairs of characters in scripts without spaces."""

    def tokens(self, text: str) -> list[str]:
        """The words of a text, in order."""
        return [token for token, _, _ in self.places(text)]

    def places(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The words with the places (start, end) where they stand in the text."""
        for word, start, end in spans(text):
            token = word if word.isascii() else unicodedata.normalize("NFKC", word)
            # A pair of characters without spaces is as much as a word; it is never too short.
            if len(token) >= self.min_length or (len(token) == 2 and is_unspaced(token[0])):
                yield token.casefold() if self.lowercase else token, start, end


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Words as they are written, with their places; overlapping pairs in scripts without spaces."""
    for match in _WORD.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        if len(word) > 2 and _UNSPACED_START.match(word):
            yield from ((word[at : at + 2], start + at, start + at + 2) for at in range(len(word) - 1))
        else:
            yield word, start, end
