"""Data types of named indexes."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from scraper.store.tokenization import SIGNS, UNSPACED_SCRIPTS, fold, is_unspaced

_WORD = re.compile(
    rf"[{UNSPACED_SCRIPTS}]+|(?:[^\W_{UNSPACED_SCRIPTS}]|[{SIGNS}\u0591-\u05c7\u0640\u064b-\u0652\u0670])+(?:(?<=[A-Za-z])(?:\+\+|#)(?!\w))?"
)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Settings by which one index splits texts at characters that are neither letters nor digits.

    In lower case, words lose their accents too. Scripts without spaces are split into pairs of characters.
    """

    lowercase: bool = True
    min_length: int = 2
    """Characters. Shorter words are ignored, except pairs of characters in scripts without spaces."""

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text in order."""
        return [token for token, _, _ in self.iter_tokens(text)]

    def index_tokens(self, text: str) -> list[str]:
        """Return the tokens under which a document is found.

        After all others follow the single characters of the pairs, so that phrases stay together.
        """
        tokens = self.tokens(text)
        singles = {letter for token in tokens if len(token) == 2 and is_unspaced(token[0]) for letter in token}
        return tokens + sorted(singles)

    def iter_tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Iterate over tokens with their positions (start, end) in the text."""
        for match in _WORD.finditer(text):
            word, start, end = match.group(), match.start(), match.end()
            pieces = [(word, start, end)]
            if len(word) > 2 and is_unspaced(word[0]):
                pieces = [(word[at : at + 2], start + at, start + at + 2) for at in range(len(word) - 1)]
            for piece, low, high in pieces:
                token = fold(piece) if self.lowercase else unicodedata.normalize("NFKC", piece)
                # Characters without spaces count as words, so they are never too short.
                if len(token) >= self.min_length or (len(token) <= 2 and is_unspaced(token[0])):
                    yield token, low, high


_TERMS_LIMIT = 64
"""Words and quoted phrases of a query; further ones are ignored. A pasted page is not a query."""
_PART_CHARS = 500
"""Characters of a word or phrase. Each pair of characters without spaces costs a search of the index."""
_PART = re.compile(r'([+-]*)(?:"([^"]*)"?|([^\s"]+))')


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A parsed query: words, required and excluded words, and phrases as tuples of words."""

    terms: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    not_phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if the query requires no word; a query that only excludes words is empty."""
        return not (self.terms or self.must or self.phrases)

    @property
    def ranked_terms(self) -> tuple[str, ...]:
        """Distinct words that are used for ranking."""
        words = (*self.terms, *self.must, *(word for phrase in self.phrases for word in phrase))
        return tuple(dict.fromkeys(words))

    def to_dict(self) -> dict[str, list[str]]:
        """Return the query as callers see it; excluded words and phrases are one list."""
        return {
            "terms": list(self.terms),
            "must": list(self.must),
            "must_not": [*self.must_not, *(" ".join(phrase) for phrase in self.not_phrases)],
            "phrases": [" ".join(phrase) for phrase in self.phrases],
        }


def parse_query(text: str, tokenizer: Tokenizer) -> IndexQuery:
    """Parse words, +required, -excluded and "phrases" with an index's tokenizer; every text is accepted."""
    terms: dict[str, None] = {}
    must: dict[str, None] = {}
    must_not: dict[str, None] = {}
    phrases: dict[tuple[str, ...], None] = {}
    not_phrases: dict[tuple[str, ...], None] = {}
    for match in islice(_PART.finditer(text), _TERMS_LIMIT):
        sign, quoted, bare = match.groups()
        part = (quoted if bare is None else bare)[:_PART_CHARS]
        words = tuple(tokenizer.tokens(part))
        if bare and not sign and any(is_unspaced(word[0]) for word in words):
            # A sentence without spaces has no word that all of its answers contain.
            terms |= dict.fromkeys(words[: _TERMS_LIMIT - len(terms)])
        elif len(words) > 1:
            # The parts of node.js belong together, and the pairs of a required word.
            (not_phrases if sign[-1:] == "-" else phrases)[words] = None
        elif words:
            group = must if sign[-1:] == "+" or bare is None else terms
            (must_not if sign[-1:] == "-" else group)[words[0]] = None
    return IndexQuery(tuple(terms), tuple(must), tuple(must_not), tuple(phrases), tuple(not_phrases))


DEFAULT_INDEX = "default"
"""Index in memory that always exists."""
INDEX_BACKENDS = ("memory", "sqlite")


class IndexFaultError(Exception):
    """An operation is not possible; the message is meant for the caller."""


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A document as the caller added it."""

    doc_id: str
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentAdded:
    """Result of adding a document."""

    replaced: bool
    token_count: int


@dataclass(frozen=True, slots=True)
class IndexHit:
    """One document that matches."""

    doc_id: str
    score: float
    highlights: tuple[str, ...]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IndexHits:
    """Best documents for a query, and the number of all that match."""

    hits: tuple[IndexHit, ...]
    total: int
    query: IndexQuery


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """Name, backend and size of an index."""

    name: str
    backend: str
    documents: int
