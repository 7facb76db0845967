"""Index the words and stems of the sentences of some pages as arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scraper.retrieval.sentences import Sentence
from scraper.text.terms import split_markdown_terms, split_terms, stem

_HEADINGS = 3
"""Innermost headings above a sentence whose words count for it."""
_GRAM = 4
"""Letters of the parts in which forms and compounds of a word agree."""
_MIN_WORD = 4
_MIN_SIMILARITY = 0.5
_MAX_GRAM_HITS = 400
"""Occurrences of one part that are counted; further ones are ignored."""

FloatArray: TypeAlias = NDArray[np.float64]
"""Array of floats."""
IntArray: TypeAlias = NDArray[np.int64]
"""Array of integers."""


class _Vocabulary:
    """Different terms of all sentences, with the term of each position and the number of sentences of each term."""

    def __init__(self, numbers: dict[str, int], positions: IntArray, sentence_of: IntArray, count: int) -> None:
        """Store the terms of `count` sentences.

        `numbers` maps each term to its id. `positions` has the id of the term at each position, `sentence_of` the
        index of its sentence.
        """
        self.numbers, self.positions = numbers, positions
        self._sentence_of, self._count = sentence_of, count
        size = max(1, len(self.numbers))
        cells = np.sort(sentence_of * size + self.positions)
        cells = cells[np.diff(cells, prepend=-1) > 0]
        self.pair_sentences, self.pair_terms = cells // size, cells % size
        """Each term of each sentence once."""
        self.frequencies = np.bincount(self.pair_terms, minlength=size)

    def rarity(self, terms: Sequence[str]) -> FloatArray:
        """Return the inverse sentence frequency of each term, as `inverse_frequencies`."""
        found = np.array([self.frequencies[self.numbers[one]] if one in self.numbers else 0 for one in terms], float)
        return inverse_frequencies(found, self._count)

    def count(self, terms: Sequence[str]) -> FloatArray:
        """Return the number of each term in each sentence, in an array of shape (sentences, terms)."""
        columns = np.full(len(self.numbers) + 1, -1)
        for column, term in enumerate(terms):
            if term in self.numbers:
                columns[self.numbers[term]] = column
        column_of = columns[self.positions]
        known = column_of >= 0
        cells = self._sentence_of[known] * len(terms) + column_of[known]
        return np.bincount(cells, minlength=self._count * len(terms)).reshape(self._count, len(terms)).astype(float)


def inverse_frequencies(frequencies: FloatArray | IntArray, count: int) -> FloatArray:
    """Return the inverse sentence frequency, as the IDF of BM25, for numbers of sentences out of `count`."""
    return np.log(1 + (count - frequencies + 0.5) / (frequencies + 0.5))


class SentenceIndex:
    """Words and stems of the sentences of all pages, which are numbered in one sequence."""

    def __init__(self, markdowns: Sequence[str], pages: Sequence[Sequence[Sentence]]) -> None:
        """Split the sentences into words and stems."""
        self.sentences = [sentence for page in pages for sentence in page]
        self.texts = [
            markdown[one.text_start : one.end] for markdown, page in zip(markdowns, pages, strict=True) for one in page
        ]
        self.count = len(self.sentences)
        self.page_sizes = [len(page) for page in pages]
        page_of = np.repeat(np.arange(len(pages)), self.page_sizes)
        rows = [(split_markdown_terms if "](" in text else split_terms)(text) for text in self.texts]
        self.lengths = np.array([len(row) for row in rows], dtype=np.int64)
        self.sentence_of = np.repeat(np.arange(self.count), self.lengths)
        """Sentence of each word."""
        words = _number(itertools.chain.from_iterable(rows))
        positions = np.fromiter(map(words.__getitem__, itertools.chain.from_iterable(rows)), dtype=np.int64)
        self.words = _Vocabulary(words, positions, self.sentence_of, self.count)
        word_stems = list(map(stem, words))
        stems = _number(word_stems)
        stem_of = np.array([stems[one] for one in word_stems], dtype=np.int64)
        self.stems = _Vocabulary(stems, stem_of[positions], self.sentence_of, self.count)
        paragraphs = np.array([sentence.paragraph for sentence in self.sentences], dtype=np.int64)
        is_first = np.ones(self.count, dtype=bool)
        is_first[1:] = (paragraphs[1:] != paragraphs[:-1]) | (page_of[1:] != page_of[:-1])
        self.is_first = is_first
        """True for the first sentence of a paragraph."""
        self.paragraph_of = np.cumsum(is_first) - 1
        self._spelled = f"<{'><'.join(self.words.numbers)}>"
        self._word_starts = np.cumsum([0, *(len(word) + 2 for word in self.words.numbers)])[:-1]

    def heading_stems(self) -> list[frozenset[str]]:
        """Return the stems of the headings above each sentence."""
        paths = {sentence.headings[-_HEADINGS:] for sentence in self.sentences}
        stems = {path: frozenset(map(stem, split_terms(" ".join(path)))) for path in paths}
        return [stems[sentence.headings[-_HEADINGS:]] for sentence in self.sentences]

    def similar_words(self, word: str) -> dict[int, float]:
        """Return the numbers of the words that share many parts with a word, each with its similarity up to 1."""
        parts = _split_grams(word)
        shared: dict[int, int] = {}
        for part in parts:
            for number in self._words_with(part):
                shared[number] = shared.get(number, 0) + 1
        lengths = np.diff(self._word_starts, append=len(self._spelled)) - 2
        found = {}
        for number, hits in shared.items():
            similarity = 2 * hits / (len(parts) + max(1, int(lengths[number]) - 1))
            if lengths[number] >= _MIN_WORD and similarity >= _MIN_SIMILARITY:
                found[number] = min(1.0, similarity)
        return found

    def _words_with(self, part: str) -> list[int]:
        places: list[int] = []
        at = self._spelled.find(part)
        while at >= 0 and len(places) < _MAX_GRAM_HITS:
            places.append(at)
            at = self._spelled.find(part, at + 1)
        return [int(one) - 1 for one in np.searchsorted(self._word_starts, places, "right")]

    def spread(self, marks: FloatArray, distance: int) -> FloatArray:
        """Return for each sentence the maximum of each column over the sentences of its page up to `distance` away."""
        spread = marks.copy()
        start = 0
        for size in self.page_sizes:
            page, source = spread[start : start + size], marks[start : start + size]
            for shift in range(1, min(distance, size - 1) + 1):
                np.maximum(page[shift:], source[:-shift], out=page[shift:])
                np.maximum(page[:-shift], source[shift:], out=page[:-shift])
            start += size
        return spread


def _number(terms: Iterable[str]) -> dict[str, int]:
    """Return a number for each different term, in the order of their first use."""
    return {term: number for number, term in enumerate(dict.fromkeys(terms))}


def _split_grams(word: str) -> set[str]:
    """Return the parts of four letters of a word, with marks of its ends."""
    marked = f"<{word}>"
    return {marked[at : at + _GRAM] for at in range(max(1, len(marked) - _GRAM + 1))}
