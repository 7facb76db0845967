"""Inverted index in memory: positions of words, and the scores of documents for a query.

score(d) = sum over the words t of  (1 + ln tf) * ln(1 + N / df) / (0.75 + 0.25 * len(d) / mean length)

tf: occurrences of t in d; df: documents that contain t; N: all documents; len: words. This is TF-IDF with logarithmic
counts and pivoted length normalization (Singhal, Buckley and Mitra 1996, slope 0.25).
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scraper.store.indexes.model import IndexQuery

SLOPE = 0.25
BOUNDARY = 0xFFFFFFFF
"""Number that separates two documents in the array of all words, so that no phrase spans both."""
COMPACT_AT = 1_000
"""Replaced documents. The index is rebuilt if there are more than this and more than current ones."""

_Mask = npt.NDArray[np.bool_]


@dataclass(slots=True)
class _Posting:
    """Occurrences of one word: documents, counts in them, and positions in the array of all words."""

    documents: array[int] = field(default_factory=lambda: array("I"))
    counts: array[int] = field(default_factory=lambda: array("I"))
    places: array[int] = field(default_factory=lambda: array("I"))


class InvertedIndex:
    """Index of documents by their words; a document is identified by its id."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._clear()

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._numbers)

    def __contains__(self, doc_id: str) -> bool:
        """Return True if the index contains this document."""
        return doc_id in self._numbers

    def add(self, doc_id: str, tokens: list[str]) -> None:
        """Index a document in place of an older one with its id."""
        self.remove(doc_id)
        self._append(doc_id, [self._term(token) for token in tokens])
        dead = len(self._ids) - len(self._numbers)
        if dead >= COMPACT_AT and dead > len(self._numbers):
            self._compact()

    def remove(self, doc_id: str) -> None:
        """Remove a document if it is indexed."""
        number = self._numbers.pop(doc_id, None)
        if number is not None:
            self._alive[number] = 0
            self._living_words -= self._lengths[number]

    def search(self, query: IndexQuery, limit: int) -> tuple[list[tuple[str, float]], int]:
        """Return ids and scores of the best documents, equal ones in order, and the number of all that match."""
        if query.is_empty or not self._numbers:
            return [], 0
        scores = np.zeros(len(self._ids))
        for term in query.ranked_terms:
            self._score(term, scores)
        matching = self._match(query, scores)
        numbers = np.flatnonzero(matching)
        best = numbers[_find_best(scores[numbers], limit)]
        return [(self._ids[int(number)], round(float(scores[number]), 4)) for number in best], len(numbers)

    def _clear(self) -> None:
        self._terms: dict[str, int] = {}
        self._postings: list[_Posting] = []
        self._words = array("I")
        """Words of all documents, one after the other."""
        self._starts = array("I")
        self._lengths = array("I")
        self._ids: list[str] = []
        self._alive = bytearray()
        self._numbers: dict[str, int] = {}
        self._living_words = 0

    def _term(self, token: str) -> int:
        number = self._terms.get(token)
        if number is None:
            number = self._terms[token] = len(self._postings)
            self._postings.append(_Posting())
        return number

    def _append(self, doc_id: str, terms: list[int]) -> None:
        number, start = len(self._ids), len(self._words)
        for offset, term in enumerate(terms):
            self._postings[term].places.append(start + offset)
        for term, count in Counter(terms).items():
            self._postings[term].documents.append(number)
            self._postings[term].counts.append(count)
        self._words.extend(terms)
        self._words.append(BOUNDARY)
        self._starts.append(start)
        self._lengths.append(len(terms))
        self._ids.append(doc_id)
        self._alive.append(1)
        self._numbers[doc_id] = number
        self._living_words += len(terms)

    def _posting(self, token: str) -> _Posting | None:
        number = self._terms.get(token)
        return None if number is None else self._postings[number]

    def _score(self, token: str, scores: npt.NDArray[np.float64]) -> None:
        posting = self._posting(token)
        if posting is None:
            return
        documents, counts = np.array(posting.documents), np.array(posting.counts)
        frequency = int(np.array(self._alive)[documents].sum())
        if not frequency:
            return
        rarity = np.log1p(len(self._numbers) / frequency)
        mean_length = max(1.0, self._living_words / len(self._numbers))
        length_norm = 1 - SLOPE + SLOPE * np.array(self._lengths)[documents] / mean_length
        scores[documents] += (1 + np.log(counts)) * rarity / length_norm

    def _match(self, query: IndexQuery, scores: npt.NDArray[np.float64]) -> _Mask:
        matching = (np.array(self._alive) > 0) & (scores > 0)
        for token in query.must:
            matching &= self._match_term(token)
        for phrase in query.phrases:
            matching &= self._match_phrase(phrase)
        for token in query.must_not:
            matching &= ~self._match_term(token)
        for phrase in query.not_phrases:
            matching &= ~self._match_phrase(phrase)
        return matching

    def _match_term(self, token: str) -> _Mask:
        mask = np.zeros(len(self._ids), dtype=bool)
        posting = self._posting(token)
        if posting is not None:
            mask[np.array(posting.documents)] = True
        return mask

    def _match_phrase(self, phrase: tuple[str, ...]) -> _Mask:
        """Return the documents that contain the words in a row, searched from the rarest word."""
        mask = np.zeros(len(self._ids), dtype=bool)
        terms = [self._terms.get(token) for token in phrase]
        if any(term is None for term in terms):
            return mask
        known = [term for term in terms if term is not None]
        offset = min(range(len(known)), key=lambda at: len(self._postings[known[at]].places))
        starts = np.array(self._postings[known[offset]].places).astype(np.int64) - offset
        words = np.frombuffer(self._words, dtype=np.uint32)
        starts = starts[(starts >= 0) & (starts + len(known) <= len(words))]
        for at, term in enumerate(known):
            starts = starts[words[starts + at] == term]
        mask[np.searchsorted(np.array(self._starts), starts, side="right") - 1] = True
        return mask

    def _compact(self) -> None:
        """Rebuild the index without replaced documents."""
        words = list(self._terms)
        documents = [
            (doc_id, [words[term] for term in self._words[self._starts[n] : self._starts[n] + self._lengths[n]]])
            for n, doc_id in enumerate(self._ids)
            if self._alive[n]
        ]
        self._clear()
        for doc_id, tokens in documents:
            self._append(doc_id, [self._term(token) for token in tokens])


def _find_best(scores: npt.NDArray[np.float64], limit: int) -> npt.NDArray[np.intp]:
    """Return the positions of the highest scores, highest first, equal ones in order."""
    if len(scores) > limit:
        bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        places = np.flatnonzero(scores >= bound)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:limit]
