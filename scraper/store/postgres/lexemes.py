"""Split pages into lexemes for PostgreSQL with SQLite's tokenizer, so that both stores find the same pages.

Words of the text are stored as they are, words of the title with a leading `=`. Words contain no signs, so the two
cannot be confused with each other or with the marks below. A boundary lexeme precedes the first word of each column,
for queries that require a word to be the first.
"""

import struct
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import apsw

from scraper.model import Document
from scraper.store.serialization import make_storable, searchable_text
from scraper.store.tokenization import TOKENIZER, to_index_text

Key = TypeVar("Key")

TITLE_PREFIX = "="
COLUMN_START = "<"
"""Boundary lexeme before the first word of a column."""
LONG_MARK = "#long"
"""Mark of pages for which PostgreSQL cannot hold all positions of all words."""
BLOCK_LEVELS = (12, 14, 16, 18, 20, 22)
"""Sizes of the blocks of page numbers, as powers of two; a search reads the newest blocks first."""
_TITLE_WEIGHT = 5
"""Words of the text that one word of the title counts as, as in SQLite."""

_WORD_CHARS = 501
"""Characters of a word. Words of queries are shorter, so none is confused with a longer word."""
_POSITIONS_LIMIT = 255
"""Stored positions of one word. PostgreSQL's limit is 256."""
_LAST_POSITION = 16_382
"""PostgreSQL stores 16,383 for all later positions."""
_VECTOR_BYTES = 900_000
"""Bytes of words and positions. PostgreSQL's limit is 2 ** 20."""
COUNTED_WORDS = 4_000
"""Most frequent words of a page whose counts are stored for ranking; any other word counts once."""

_PACK_POSITIONS = tuple(struct.Struct(f"!xH{count}H").pack for count in range(_POSITIONS_LIMIT + 1))
"""Packing functions by number of positions: end of the word, number of positions, positions."""
_FINGERPRINT_BYTES = 3
_ENTRY_OVERHEAD = 8


class LexemeTokenizer:
    """SQLite's tokenizer without a database, and the only thread that uses it."""

    def __init__(self) -> None:
        """Create the tokenizer in a connection of its own."""
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="pages-words")
        self._connection = apsw.Connection(":memory:")
        head, quoted_option, _ = TOKENIZER.split("'")
        name, *options = head.split()
        self._tokenizer = self._connection.fts5_tokenizer(name, [*options, quoted_option])
        self._connection.execute(f'CREATE VIRTUAL TABLE checked USING fts5 (title, text, tokenize = "{TOKENIZER}")')

    def split_text(self, text: str) -> list[str]:
        """Return the words of a page's original text."""
        return self.split_words(to_index_text(text))

    def split_words(self, text: str, *, query: bool = False) -> list[str]:
        """Return the words of a text that `to_index_text` or `to_query_text` has rewritten."""
        flags = apsw.FTS5_TOKENIZE_QUERY if query else apsw.FTS5_TOKENIZE_DOCUMENT
        found = self._tokenizer(text.encode(), flags, None, include_offsets=False, include_colocated=False)
        return [str(word)[:_WORD_CHARS] for word in found]

    def find_matching(self, documents: Mapping[Key, Document], expression: str) -> set[Key]:
        """Return the keys of the documents whose texts match an expression of FTS5."""
        keys = list(documents)
        texts = ((make_storable(one.title or ""), searchable_text(one)) for one in documents.values())
        rows = [(row, to_index_text(title), to_index_text(text)) for row, (title, text) in enumerate(texts)]
        self._connection.execute("DELETE FROM checked")
        self._connection.executemany("INSERT INTO checked (rowid, title, text) VALUES (?, ?, ?)", rows)
        try:
            matching = self._connection.execute("SELECT rowid FROM checked WHERE checked MATCH ?", (expression,))
            return {keys[int(str(row))] for (row,) in matching}
        except apsw.SQLError:
            return set()  # FTS5 refuses the expression


@dataclass(frozen=True, slots=True)
class Lexemes:
    """Words of a page in the form in which they are stored."""

    positions: Mapping[str, list[int]]
    """Positions by lexeme in the title or the text, counted from 1; the first is the boundary."""
    counts: bytes
    """Four bytes for each word: three of its fingerprint and one of its count, for ranking."""
    length: int
    """Number of words of the text."""
    is_long: bool
    """True if some positions or words are missing."""


def make_lexemes(title: list[str], text: list[str]) -> Lexemes:
    """Return the lexemes of a page from the words of its title and text."""
    positions: dict[str, list[int]] = {TITLE_PREFIX + COLUMN_START: [1], COLUMN_START: [1]}
    for position, word in enumerate(text, 2):
        positions.setdefault(word, []).append(position)
    counts = {word: len(found) for word, found in positions.items()}
    for position, word in enumerate(title, 2):
        positions.setdefault(TITLE_PREFIX + word, []).append(position)
        counts[word] = counts.get(word, 0) + _TITLE_WEIGHT
    is_long = _limit_size(positions, len(title) + len(text))
    chosen: Iterable[tuple[str, int]] = counts.items()
    if len(counts) > COUNTED_WORDS:
        chosen = sorted(chosen, key=lambda item: item[1], reverse=True)[:COUNTED_WORDS]
    crc32 = zlib.crc32
    packed = [(crc32(word.encode()) & 0xFFFFFF) | (count if count < 255 else 255) << 24 for word, count in chosen]
    # The additional byte keeps a match across the last two words within the string.
    return Lexemes(positions, struct.pack(f"<{len(packed)}Ix", *packed), len(text), is_long)


def _limit_size(positions: dict[str, list[int]], split_words: int) -> bool:
    """Remove positions and words that PostgreSQL could not store; return True if any were removed."""
    cut = False
    for word, found in positions.items():
        if len(found) > _POSITIONS_LIMIT or found[-1] > _LAST_POSITION:
            positions[word] = [position for position in found[:_POSITIONS_LIMIT] if position <= _LAST_POSITION]
            cut = True
    if 4 * sum(map(len, positions)) + _ENTRY_OVERHEAD * len(positions) + 2 * split_words <= _VECTOR_BYTES:
        return cut  # upper bound: no character takes more than four bytes
    if _size(positions) <= _VECTOR_BYTES:
        return cut
    for word in positions:
        positions[word] = []
    size = _size(positions)
    while size > _VECTOR_BYTES:
        # Words of the end of the text: the dict is in order of first occurrence, but for the title.
        word = next(word for word in reversed(positions) if not word.startswith(TITLE_PREFIX))
        size -= _size({word: positions.pop(word)})
    return True


def _size(positions: Mapping[str, list[int]]) -> int:
    return sum(len(word.encode()) + _ENTRY_OVERHEAD + 2 * len(found) for word, found in positions.items())


def fingerprint(word: str) -> bytes:
    """Return a hash of three bytes. In two pages of 4,000 words, one pair of words shares its hash."""
    return zlib.crc32(word.encode()).to_bytes(4, "little")[:_FINGERPRINT_BYTES]


def make_owner_mark(owner: int) -> str:
    """Return the mark of all pages of one principal that were read under the same exceptions."""
    return f"#o{owner}"


def make_window_marks(number: int) -> list[str]:
    """Return the marks of the blocks of 2 ** level numbers that contain a page."""
    return [f"#w{level}:{number >> level}" for level in BLOCK_LEVELS]


def make_windows(newest: int) -> list[str]:
    """Return conditions for blocks that contain each page once, the newest and smallest blocks first."""
    lowest, highest = BLOCK_LEVELS[0], BLOCK_LEVELS[-1]
    blocks = [(lowest, newest >> lowest)]
    for level, wider in pairwise(BLOCK_LEVELS):
        first = newest >> wider << (wider - level)
        blocks += [(level, block) for block in reversed(range(first, newest >> level))]
    blocks += [(highest, block) for block in reversed(range(newest >> highest))]
    return [f"'#w{level}:{block}'" for level, block in blocks]


def newest_window(newest: int) -> tuple[str, int]:
    """Return a condition for some thousand of the newest pages, and their number."""
    level = BLOCK_LEVELS[0]
    last = newest >> level
    first = max(0, last - 1)
    blocks = " | ".join(f"'#w{level}:{block}'" for block in range(first, last + 1))
    return blocks, newest + 1 - (first << level)


def make_vector(positions: Mapping[str, list[int]], marks: Iterable[str] = ()) -> bytes:
    """Return words and marks as a PostgreSQL `tsvector` in binary form."""
    entries = [(word.encode(), found) for word, found in positions.items()]
    entries += [(mark.encode(), []) for mark in marks]
    # In PostgreSQL's own order, a prefix before the longer word, so that it need not sort again.
    entries.sort()
    pieces = [struct.pack("!i", len(entries))]
    pieces += [word + _PACK_POSITIONS[len(found)](len(found), *found) for word, found in entries]
    return b"".join(pieces)
