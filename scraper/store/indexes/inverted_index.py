"""Inverted index: the documents of each word, and the scores of documents for a query.

score(d) = sum over the words t of  (1 + ln tf) * ln(1 + N / df) / (0.75 + 0.25 * len(d) / mean length)

tf: occurrences of t in d; df: documents that contain t; N: all documents; len: words. This is TF-IDF with logarithmic
counts and pivoted length normalization (Singhal, Buckley and Mitra 1996, slope 0.25).
"""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt

from scraper.store.indexes.postings import Postings
from scraper.store.indexes.query import IndexQuery

SLOPE = 0.25
"""Weight of the length of a document in its scores, from 0 to 1."""
COMPACT_AT = 1_000
"""Replaced documents from which the index is rebuilt, if they are also more than the current ones."""

_Mask = npt.NDArray[np.bool_]


class InvertedIndex:
    """Index of documents by their words; a document is identified by its id."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._postings = Postings()
        self._lengths = array("I")
        self._ids: list[str] = []
        self._alive = bytearray()
        self._numbers: dict[str, int] = {}
        self._living_words = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._numbers)

    def __contains__(self, doc_id: str) -> bool:
        """Return True if the index contains this document."""
        return doc_id in self._numbers

    def close(self) -> None:
        """Delete the file of the index."""
        self._postings.close()

    def add(self, doc_id: str, tokens: list[str]) -> None:
        """Index a document in place of an older one with its id."""
        self.remove(doc_id)
        number = len(self._ids)
        self._postings.add(number, tokens)
        self._lengths.append(len(tokens))
        self._ids.append(doc_id)
        self._alive.append(1)
        self._numbers[doc_id] = number
        self._living_words += len(tokens)
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

    def _score(self, token: str, scores: npt.NDArray[np.float64]) -> None:
        documents, counts = np.unique(self._postings.find(token).documents, return_counts=True)
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
        mask[self._postings.find(token).documents] = True
        return mask

    def _match_phrase(self, phrase: tuple[str, ...]) -> _Mask:
        """Return the documents that contain the words in a row, searched from the rarest word."""
        mask = np.zeros(len(self._ids), dtype=bool)
        # The place of the phrase's first word, as one number, for each place of each word.
        starts = []
        for at, token in enumerate(phrase):
            places = self._postings.find(token)
            starts.append((places.documents.astype(np.int64) << 32) + places.offsets - at)
        found, *others = sorted(starts, key=len)
        for other in others:
            found = np.intersect1d(found, other, assume_unique=True)
        mask[found >> 32] = True
        return mask

    def _compact(self) -> None:
        """Rebuild the index without replaced documents."""
        alive = np.array(self._alive) > 0
        postings = self._postings.renumber(np.where(alive, np.cumsum(alive) - 1, -1))
        self._postings.close()
        self._postings = postings
        living = np.flatnonzero(alive)
        self._lengths = array("I", np.array(self._lengths)[living].tolist())
        self._ids = [self._ids[number] for number in living]
        self._alive = bytearray(b"\1" * len(living))
        self._numbers = {doc_id: number for number, doc_id in enumerate(self._ids)}


def _find_best(scores: npt.NDArray[np.float64], limit: int) -> npt.NDArray[np.intp]:
    """Return the positions of the highest scores, highest first, equal ones in order."""
    if len(scores) > limit:
        bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        places = np.flatnonzero(scores >= bound)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:limit]
