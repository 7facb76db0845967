"""Places of words in documents: new ones in memory, older ones in sorted segments of a temporary file.

A word is its 64-bit hash, so that words need no table. A segment holds the sorted hashes of its words, the end of each
word's entries, then an entry for each place of a word: its document and its offset.
"""

from __future__ import annotations

import logging
import os
import tempfile
from array import array
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

log = logging.getLogger(__name__)

BUFFER_WORDS = 65_536
"""Words in memory, at 16 bytes each, before they become a segment."""
BUFFER_SHARE = 32
"""Part of all words that may be in memory, so that a large index has few segments: one in 32."""
SPARSE_STEP = 64
"""Hashes of a segment for each one in memory."""

_Numbers = npt.NDArray[np.uint32]
_Hashes = npt.NDArray[np.uint64]


class WordPositions(NamedTuple):
    """Positions of one word, in order: document, and offset in words from its start."""

    documents: _Numbers
    offsets: _Numbers


@dataclass(frozen=True, slots=True)
class _Segment:
    """A segment of the file, with every 64th of its hashes."""

    start: int
    words: int
    """Number of different words."""
    places: int
    sparse: _Hashes


class Postings:
    """Places of all words of an index."""

    def __init__(self) -> None:
        """Create an empty list in memory; the file is made when the memory is full."""
        self._hashes = array("Q")
        self._documents = array("I")
        self._offsets = array("I")
        self._segments: list[_Segment] = []
        self._file: int | None = None
        self._end = 0
        self._limit = BUFFER_WORDS

    def __del__(self) -> None:
        """Delete the file."""
        self.close()

    def close(self) -> None:
        """Delete the file, which has no name."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def add(self, document: int, tokens: list[str]) -> None:
        """Add the words of a document in order; its number is greater than all before."""
        self._hashes.extend([hash(token) & 0xFFFFFFFFFFFFFFFF for token in tokens])
        self._documents.extend([document] * len(tokens))
        self._offsets.extend(range(len(tokens)))
        if len(self._hashes) >= self._limit:
            self._flush()

    def find(self, token: str) -> WordPositions:
        """Return the places of a word by document and offset."""
        key = np.uint64(hash(token) & 0xFFFFFFFFFFFFFFFF)
        found = [self._find_in(segment, key) for segment in self._segments]
        at = np.flatnonzero(np.array(self._hashes) == key)
        found.append(WordPositions(np.array(self._documents)[at], np.array(self._offsets)[at]))
        return WordPositions(
            np.concatenate([one.documents for one in found]), np.concatenate([one.offsets for one in found])
        )

    def renumber(self, numbers: npt.NDArray[np.int64]) -> Postings:
        """Return the places with `numbers[old]` as documents, without those of documents with a negative number."""
        renumbered = Postings()
        for segment in self._segments:
            hashes, documents, offsets = self._read(segment)
            renumbered._extend(hashes, numbers[documents], offsets)
        renumbered._extend(np.array(self._hashes), numbers[np.array(self._documents)], np.array(self._offsets))
        return renumbered

    def _extend(self, hashes: _Hashes, documents: npt.NDArray[np.int64], offsets: _Numbers) -> None:
        kept = documents >= 0
        self._hashes.frombytes(hashes[kept].tobytes())
        self._documents.frombytes(documents[kept].astype(np.uint32).tobytes())
        self._offsets.frombytes(offsets[kept].tobytes())
        if len(self._hashes) >= self._limit:
            self._flush()

    def _flush(self) -> None:
        """Move the words in memory to the file, or keep them if there is no space."""
        hashes, documents, offsets = np.array(self._hashes), np.array(self._documents), np.array(self._offsets)
        order = np.lexsort((offsets, documents, hashes))
        words, ends = _group(hashes[order])
        parts = (words.tobytes(), ends.tobytes(), documents[order].tobytes(), offsets[order].tobytes())
        try:
            if self._file is None:
                self._file = _open_temporary()
            end = self._end
            for part in parts:
                end += _write(self._file, part, end)
        except OSError as error:
            log.warning("words of an index stay in memory: %s", error)
            self._limit *= 2
            return
        self._segments.append(_Segment(self._end, len(words), len(hashes), words[::SPARSE_STEP].copy()))
        self._end = end
        self._limit = max(BUFFER_WORDS, sum(one.places for one in self._segments) // BUFFER_SHARE)
        for buffer in (self._hashes, self._documents, self._offsets):
            del buffer[:]

    def _find_in(self, segment: _Segment, key: np.uint64) -> WordPositions:
        block = int(np.searchsorted(segment.sparse, key, side="right")) - 1
        first = block * SPARSE_STEP
        if block < 0:
            return WordPositions(_NONE, _NONE)
        words = np.frombuffer(
            self._pread(segment.start + 8 * first, 8 * min(SPARSE_STEP, segment.words - first)), np.uint64
        )
        at = int(np.searchsorted(words, key))
        if at == len(words) or words[at] != key:
            return WordPositions(_NONE, _NONE)
        word = first + at
        ends = segment.start + 8 * segment.words
        before = 1 if word else 0
        bounds = np.frombuffer(self._pread(ends + 4 * (word - before), 4 * (1 + before)), np.uint32)
        low, high = int(bounds[0]) if word else 0, int(bounds[-1])
        entries = ends + 4 * segment.words
        return WordPositions(
            np.frombuffer(self._pread(entries + 4 * low, 4 * (high - low)), np.uint32),
            np.frombuffer(self._pread(entries + 4 * (segment.places + low), 4 * (high - low)), np.uint32),
        )

    def _read(self, segment: _Segment) -> tuple[_Hashes, _Numbers, _Numbers]:
        """Return hash, document and offset of each place of a segment."""
        words = np.frombuffer(self._pread(segment.start, 8 * segment.words), np.uint64)
        at = segment.start + 8 * segment.words
        ends = np.frombuffer(self._pread(at, 4 * segment.words), np.uint32)
        at += 4 * segment.words
        documents = np.frombuffer(self._pread(at, 4 * segment.places), np.uint32)
        offsets = np.frombuffer(self._pread(at + 4 * segment.places, 4 * segment.places), np.uint32)
        return np.repeat(words, np.diff(ends, prepend=np.uint32(0))), documents, offsets

    def _pread(self, start: int, size: int) -> bytes:
        assert self._file is not None
        return os.pread(self._file, size, start)


_NONE: _Numbers = np.empty(0, np.uint32)


def _group(hashes: _Hashes) -> tuple[_Hashes, _Numbers]:
    """Return the different values of a sorted array, and the end of each."""
    ends = np.append(np.flatnonzero(hashes[1:] != hashes[:-1]) + 1, len(hashes))
    return hashes[ends - 1], ends.astype(np.uint32)


def _open_temporary() -> int:
    """Open a file without a name that only this process can read."""
    file, name = tempfile.mkstemp(prefix="search-mcp-index-")
    os.unlink(name)
    return file


def _write(file: int, data: bytes, start: int) -> int:
    """Write all bytes at a position and return their number."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(file, rest, start + len(data) - len(rest))
        rest = rest[written:]
    return len(data)
