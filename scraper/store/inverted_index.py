"""Inverted index: the places of each word, and the scores of documents for a query.

score(d) = sum over the words t of  (1 + ln tf) * ln(1 + N / df) / (0.75 + 0.25 * len(d) / mean length)

tf: occurrences of t in d; df: documents that contain t; N: all documents; len: words. This is TF-IDF with logarithmic
counts and pivoted length normalization (Singhal, Buckley and Mitra 1996, slope 0.25). docs/store.md has the reasons
against FTS5.
"""

import functools
import logging
import mmap
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scraper.store.index_model import IndexQuery

log = logging.getLogger(__name__)

_Hashes = npt.NDArray[np.uint64]
_Places = npt.NDArray[np.uint32]

BUFFER_WORDS = 65_536
"""Words in memory, at 8 bytes each, before they become a segment."""
_BUFFER_SHARE = 32
"""Part of all words that may be in memory, so that a large index has few segments: one in 32."""


class _Segment(NamedTuple):
    """A part of a sequence of words by hash."""

    hashes: _Hashes
    """Distinct hashes, in order."""
    ends: _Places
    """End of the places of each hash."""
    places: _Places
    """Places in the whole sequence, by hash."""

    def find(self, key: np.uint64) -> _Places:
        """Return the places of a hash, in order."""
        at = int(np.searchsorted(self.hashes, key))
        if at == len(self.hashes) or self.hashes[at] != key:
            return self.places[:0]
        return self.places[self.ends[at - 1] if at else 0 : self.ends[at]]

    def restore(self) -> _Hashes:
        """Return the hashes in the order of their places."""
        hashes = np.empty(len(self.places), np.uint64)
        hashes[self.places - self.places.min()] = np.repeat(self.hashes, np.diff(self.ends, prepend=np.uint32(0)))
        return hashes


class _WordSequence:
    """All words of an index in the order of adding: the newest in memory, older ones in sorted segments.

    A word is its 64-bit hash, so that words need no table. Its place is its number in the sequence.
    """

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._recent = array("Q")
        self._segmented = 0
        """Words in segments."""

    def __len__(self) -> int:
        return self._segmented + len(self._recent)

    def append(self, hashes: bytes) -> None:
        self._recent.frombytes(hashes)
        if len(self._recent) >= max(BUFFER_WORDS, self._segmented // _BUFFER_SHARE):
            self._flush()

    def find(self, token: str) -> _Places:
        key = np.uint64(_hash_token(token))
        recent = np.flatnonzero(np.array(self._recent) == key) + self._segmented
        return np.concatenate([*(one.find(key) for one in self._segments), recent.astype(np.uint32)])

    def iter_parts(self) -> Iterator[_Hashes]:
        yield from (segment.restore() for segment in self._segments)
        yield np.array(self._recent)

    def _flush(self) -> None:
        hashes = np.array(self._recent)
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        ends = np.append(np.flatnonzero(hashes[1:] != hashes[:-1]) + 1, len(hashes))
        places = (order + self._segmented).astype(np.uint32)
        self._segments.append(_write_segment(_Segment(hashes[ends - 1], ends.astype(np.uint32), places)))
        self._segmented += len(order)
        del self._recent[:]


def _hash_token(token: str) -> int:
    return hash(token) & 0xFFFFFFFFFFFFFFFF


def _write_segment(segment: _Segment) -> _Segment:
    """Return the segment with its arrays in a file without a name, or the same one if there is no space."""
    try:
        with tempfile.TemporaryFile(prefix="search-mcp-index-") as file:
            for part in segment:
                file.write(part.tobytes())
            file.flush()
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        log.warning("words of an index stay in memory: %s", error)
        return segment
    ends_at = segment.hashes.nbytes
    return _Segment(
        np.frombuffer(data, np.uint64, len(segment.hashes)),
        np.frombuffer(data, np.uint32, len(segment.ends), ends_at),
        np.frombuffer(data, np.uint32, -1, ends_at + segment.ends.nbytes),
    )


_SLOPE = 0.25
"""Weight of the length of a document in its scores, from 0 to 1."""
COMPACT_AT = 100_000
"""Words of replaced documents from which the index is rebuilt, if they are also more than the current ones."""
_GAP = bytes(8)
"""Follows each document in the sequence, so that no phrase extends over two documents."""


class InvertedIndex:
    """Index of documents by their words; a document is identified by its id."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._words = _WordSequence()
        self._starts = array("I")
        """Place of the first word of each document."""
        self._lengths = array("I")
        """Words of each document; 0 for a replaced one."""
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._living_words = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._numbers)

    def __contains__(self, doc_id: str) -> bool:
        """Return True if the index contains this document."""
        return doc_id in self._numbers

    def add(self, doc_id: str, tokens: Sequence[str]) -> None:
        """Index a document in place of an older one with its id."""
        if (replaced := self._numbers.get(doc_id)) is not None:
            self._living_words -= self._lengths[replaced]
            self._lengths[replaced] = 0
        self._numbers[doc_id] = len(self._ids)
        self._ids.append(doc_id)
        self._starts.append(len(self._words))
        self._lengths.append(len(tokens))
        self._living_words += len(tokens)
        self._words.append(array("Q", map(_hash_token, tokens)).tobytes() + _GAP)
        living = self._living_words + len(self)
        if len(self._words) - living >= max(COMPACT_AT, living):
            self._compact()

    def search(self, query: IndexQuery, limit: int) -> tuple[list[tuple[str, float]], int]:
        """Return ids and scores of the best documents, equal ones in order, and the number of all that match."""
        if query.is_empty or not self._numbers:
            return [], 0
        count = functools.cache(self._count)
        lengths = np.array(self._lengths)
        mean_length = max(1.0, self._living_words / len(self))
        norms = 1 - _SLOPE + _SLOPE * lengths / mean_length
        scores = np.zeros(len(lengths))
        for term in query.ranked_terms:
            counts = count((term,))
            documents = np.flatnonzero(counts)
            frequency = int(np.count_nonzero(lengths[documents]))
            rarity = np.log1p(len(self) / max(1, frequency))
            scores[documents] += (1 + np.log(counts[documents])) * rarity / norms[documents]
        matching = (scores > 0) & (lengths > 0)
        for words in (*((term,) for term in query.must), *query.phrases):
            matching &= count(words) > 0
        for words in (*((term,) for term in query.must_not), *query.not_phrases):
            matching &= count(words) == 0
        numbers = np.flatnonzero(matching)
        best = numbers[_find_best(scores[numbers], limit)]
        return [(self._ids[int(number)], round(float(scores[number]), 4)) for number in best], len(numbers)

    def _count(self, words: tuple[str, ...]) -> npt.NDArray[np.int64]:
        """Return how often each document contains these words in a row."""
        # The place of the first word, for each place of each word; searched from the rarest word.
        places = [self._words.find(token) - np.uint32(at) for at, token in enumerate(words)]
        found = functools.reduce(lambda one, other: np.intersect1d(one, other, True), sorted(places, key=len))
        starts = np.array(self._starts)
        if len(found) > len(starts):
            return np.diff(np.searchsorted(found, starts), append=len(found))
        return np.bincount(np.searchsorted(starts, found, side="right") - 1, minlength=len(starts))

    def _compact(self) -> None:
        living = np.sort(np.fromiter(self._numbers.values(), np.int64))
        is_living = np.zeros(len(self._ids), bool)
        is_living[living] = True
        kept = np.repeat(is_living, np.diff(np.array(self._starts), append=np.uint32(len(self._words))))
        words, at = _WordSequence(), 0
        for part in self._words.iter_parts():
            words.append(part[kept[at : at + len(part)]].tobytes())
            at += len(part)
        lengths = np.array(self._lengths)[living]
        self._words = words
        self._starts = array("I", (np.cumsum(lengths + 1) - lengths - 1).tolist())
        self._lengths = array("I", lengths.tolist())
        self._ids = [self._ids[number] for number in living]
        self._numbers = {doc_id: number for number, doc_id in enumerate(self._ids)}


def _find_best(scores: npt.NDArray[np.float64], limit: int) -> npt.NDArray[np.intp]:
    """Return the positions of the highest scores, highest first, equal ones in order."""
    if len(scores) > limit:
        bound = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        places = np.flatnonzero(scores >= bound)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:limit]
