"""A page's words as PostgreSQL indexes them: cut by SQLite's own tokenizer, so that both find the same.

Words of the text are lexemes as they are; those of the title begin with `=`. Neither can be mistaken for the
other, nor for the marks below, since no word holds a sign. A boundary stands before the first word of each,
for queries that want it to be the first.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import apsw

from scraper.store.fulltext.tokenization import TOKENIZER, indexable

TITLE = "="
BEGINNING = "<"
LONG = "#long"
"""On pages of which PostgreSQL cannot hold every word's every place."""
LEVELS = (12, 14, 16, 18, 20, 22)
"""Sizes of the blocks, as powers of two, into which pages are put by their numbers: the newest first."""
TITLE_WEIGHT = 5
"""A word of the title counts as so many of the text; as in SQLite."""

WORD_CHARS = 501
"""Of a word; a query's are shorter, so that none is mistaken for a longer one."""
PLACES_LIMIT = 255
"""Places of one word that are kept: PostgreSQL's limit is 256."""
LAST_PLACE = 16_382
"""PostgreSQL writes 16,383 for whatever lies behind."""
VECTOR_BYTES = 900_000
"""Of words and places: PostgreSQL's limit is 2 ** 20."""
PROFILE_WORDS = 4_000
"""Words whose counts are kept for ranking, the most frequent ones: any other counts as standing once."""

_WRITTEN = tuple(struct.Struct(f"!xH{count}H").pack for count in range(PLACES_LIMIT + 1))
"""By number of places: the end of the word before them, how many there are, and each."""
_FINGERPRINT_BYTES = 3
_ENTRY_OVERHEAD = 8


class Lexer:
    """SQLite's tokenizer without a database behind it; for one thread."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        name, *arguments = _arguments()
        self._tokenizer = self._connection.fts5_tokenizer(name, arguments)

    def document(self, text: str) -> list[str]:
        """The words of a page's text, as it came."""
        return self.words(indexable(text))

    def words(self, text: str, *, query: bool = False) -> list[str]:
        """The words of a text that was rewritten already."""
        flags = apsw.FTS5_TOKENIZE_QUERY if query else apsw.FTS5_TOKENIZE_DOCUMENT
        found = self._tokenizer(text.encode(), flags, None, include_offsets=False, include_colocated=False)
        return [str(word)[:WORD_CHARS] for word in found]


def _arguments() -> list[str]:
    """The tokenizer's name and options, one by one; the last one is quoted."""
    head, quoted, _ = TOKENIZER.split("'")
    return [*head.split(), quoted]


@dataclass(frozen=True, slots=True)
class Lexemes:
    """A page's words, ready for the database."""

    places: Mapping[str, list[int]]
    """By lexeme; in a title and a text, counted from 1, the first being the boundary."""
    counts: bytes
    """What ranking asks of: fingerprint and count of each word, four bytes together."""
    length: int
    """Words of the text."""
    is_long: bool
    """Whether some places are missing, or some words."""


def words_of(title: list[str], text: list[str]) -> Lexemes:
    """The words of a page."""
    places: dict[str, list[int]] = {TITLE + BEGINNING: [1], BEGINNING: [1]}
    tally: dict[str, int] = {}
    for place, word in enumerate(text, 2):
        known = places.get(word)
        if known is None:
            places[word] = [place]
        else:
            known.append(place)
    tally = {word: len(found) for word, found in places.items()}
    for place, word in enumerate(title, 2):
        places.setdefault(TITLE + word, []).append(place)
        tally[word] = tally.get(word, 0) + TITLE_WEIGHT
    is_long = _limited(places, len(title) + len(text))
    return Lexemes(places, _profile(tally), len(text), is_long)


def _limited(places: dict[str, list[int]], words: int) -> bool:
    """Leave out what PostgreSQL could not take; whether that was anything."""
    cut = False
    for word, found in places.items():
        if len(found) > PLACES_LIMIT or found[-1] > LAST_PLACE:
            places[word] = [place for place in found[:PLACES_LIMIT] if place <= LAST_PLACE]
            cut = True
    if 4 * sum(map(len, places)) + _ENTRY_OVERHEAD * len(places) + 2 * words <= VECTOR_BYTES:
        return cut  # certainly: no letter takes more than four bytes
    if _size(places) <= VECTOR_BYTES:
        return cut
    for word in places:
        places[word] = []
    size = _size(places)
    while size > VECTOR_BYTES:
        # The words of the text's end: what came last was entered last, but for the title's.
        word = next(word for word in reversed(places) if not word.startswith(TITLE))
        size -= _size({word: places.pop(word)})
    return True


def _size(places: Mapping[str, list[int]]) -> int:
    return sum(len(word.encode()) + _ENTRY_OVERHEAD + 2 * len(found) for word, found in places.items())


def fingerprint(word: str) -> bytes:
    """Three bytes that stand for a word; of 4,000 words two share theirs once in two pages."""
    return zlib.crc32(word.encode()).to_bytes(4, "little")[:_FINGERPRINT_BYTES]


def _profile(tally: Mapping[str, int]) -> bytes:
    chosen: Iterable[tuple[str, int]] = tally.items()
    if len(tally) > PROFILE_WORDS:
        chosen = sorted(chosen, key=lambda item: item[1], reverse=True)[:PROFILE_WORDS]
    crc32 = zlib.crc32
    packed = [
        (crc32(word.encode()) & 0xFFFFFF) | (count if count < 255 else 255) << 24 for word, count in chosen
    ]
    # The last byte is for the finder of a fingerprint across two words at the very end.
    return struct.pack(f"<{len(packed)}Ix", *packed)


def owner_mark(owner: int) -> str:
    """On every page of one principal that was read under the same exceptions."""
    return f"#o{owner}"


def window_mark(level: int, block: int) -> str:
    """On every page of one block of 2 ** level numbers."""
    return f"#w{level}:{block}"


def window_marks(number: int) -> list[str]:
    """The marks of the blocks that a page is in."""
    return [window_mark(level, number >> level) for level in LEVELS]


def vector(places: Mapping[str, list[int]], marks: Iterable[str] = ()) -> bytes:
    """Words and marks as PostgreSQL's `tsvector`, in the form in which it is sent."""
    entries = [(word.encode(), found) for word, found in places.items()]
    entries += [(mark.encode(), []) for mark in marks]
    # Sorted as PostgreSQL does, shorter first where one begins as the other: it need not sort again.
    entries.sort()
    pieces = [struct.pack("!i", len(entries))]
    pieces += [word + _WRITTEN[len(found)](len(found), *found) for word, found in entries]
    return b"".join(pieces)
