"""Score chunks of text for a question by BM25 with headings, neighbors and word forms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scraper.extract.text.terms import split_markdown_terms, split_terms, stem

# Chosen on half of the questions of `benchmarks.research`, those of other domains than the half that is reported. None
# of them is critical: halving or doubling one moves the hits at 300 tokens by less than three points, at 2,000 tokens
# by less than half a point.
_K1 = 1.0
_B = 0.25
"""Parameter b of BM25. It is small because all chunks have a similar length."""
_HEADING_WEIGHT = 0.6
"""Weight of a word in a heading above the chunk, relative to a word in the chunk."""
_NEIGHBOR_WEIGHT = 0.2
"""Weight of a word in the preceding or following chunk."""
_STEM_WEIGHT = 0.4
"""Share of word stems in the score; exact words of the question have the remaining share."""
_COVERAGE = 1.5
"""Exponent of the share of the question's words in a chunk: two words once each are better than one twice."""
_PREFIX_LETTERS = 3


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """Words of a question and their stems."""

    words: frozenset[str]
    stems: frozenset[str]
    prefixes: frozenset[str]
    """First letters of the stems. Few words of a page begin with them, and only these are stemmed and compared."""

    @classmethod
    def of(cls, text: str) -> QuestionTerms:
        """Split a text into the terms of a question."""
        words = frozenset(split_terms(text))
        stems = frozenset(map(stem, words))
        return cls(words, stems, frozenset(cut[:_PREFIX_LETTERS] for cut in stems))

    def filter_candidates(self, words: Iterable[str]) -> list[str]:
        """Return the words that may be forms of the question's words."""
        return [word for word in words if word[:_PREFIX_LETTERS] in self.prefixes]


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """Counts of the question's words in a chunk and in the headings above it."""

    length: int
    words: Mapping[str, int]
    stems: Mapping[str, int]
    heading_words: frozenset[str]
    heading_stems: frozenset[str]

    @classmethod
    def of(cls, question: QuestionTerms, text: str, headings: Iterable[str]) -> ChunkTerms:
        """Count the terms of a Markdown chunk, without the URLs of links."""
        every = split_markdown_terms(text)
        found = question.filter_candidates(every)
        in_headings = question.filter_candidates(split_terms(" ".join(headings)))
        return cls(
            len(every),
            Counter(word for word in found if word in question.words),
            Counter(cut for word in found if (cut := stem(word)) in question.stems),
            question.words.intersection(in_headings),
            question.stems.intersection(map(stem, in_headings)),
        )


def inverse_document_frequency(frequency: float, documents: float) -> float:
    """Return the IDF of BM25 for a term that `frequency` of all documents contain; never negative."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def score_chunks(question: QuestionTerms, pages: Sequence[Sequence[ChunkTerms]]) -> list[list[float]]:
    """Return a score for each chunk of each page, comparable across pages; 0 if nothing matches."""
    chunks = [chunk for page in pages for chunk in page]
    mean = max(1.0, sum(chunk.length for chunk in chunks) / max(1, len(chunks)))
    norms = [_K1 * (1 - _B + _B * chunk.length / mean) for chunk in chunks]
    word_rows = [[(chunk.words, chunk.heading_words) for chunk in page] for page in pages]
    stem_rows = [[(chunk.stems, chunk.heading_stems) for chunk in page] for page in pages]
    by_word, by_stem = _field_scores(question.words, word_rows, norms), _field_scores(question.stems, stem_rows, norms)
    flat = iter(
        _mix(word_score, stem_score) * _mix(word_share, stem_share) ** _COVERAGE
        for (word_score, word_share), (stem_score, stem_share) in zip(by_word, by_stem, strict=True)
    )
    return [[next(flat) for _ in page] for page in pages]


def _mix(by_word: float, by_stem: float) -> float:
    return (1 - _STEM_WEIGHT) * by_word + _STEM_WEIGHT * by_stem


_Row = tuple[Mapping[str, int], frozenset[str]]
"""Counts in a chunk, and the terms in the headings above it."""


def _field_scores(
    query_terms: Iterable[str], pages: Sequence[Sequence[_Row]], norms: Sequence[float]
) -> list[tuple[float, float]]:
    """Return the score and the covered share of the question for each chunk, with all pages in one row."""
    rows = [row for page in pages for row in page]
    found = Counter(term for counts, _ in rows for term in counts)
    rarity = {term: inverse_document_frequency(found[term], len(rows)) for term in sorted(query_terms)}
    whole = sum(rarity.values()) or 1.0
    weighted = [weights for page in pages for weights in _weights(page)]
    return [
        (
            sum(rarity[term] * weight * (_K1 + 1) / (weight + norm) for term, weight in weights.items()),
            sum(rarity[term] * min(1.0, weight) for term, weight in weights.items()) / whole,
        )
        for weights, norm in zip(weighted, norms, strict=True)
    ]


def _weights(page: Sequence[_Row]) -> list[dict[str, float]]:
    """Return the weight of each term in a chunk, including its headings and its neighbors on the page."""
    weighted = [dict[str, float](counts) for counts, _ in page]
    for at, (counts, in_headings) in enumerate(page):
        for term in sorted(in_headings):
            weighted[at][term] = weighted[at].get(term, 0.0) + _HEADING_WEIGHT
        for neighbor in (at - 1, at + 1):
            if 0 <= neighbor < len(page):
                for term in counts:
                    weighted[neighbor][term] = weighted[neighbor].get(term, 0.0) + _NEIGHBOR_WEIGHT
    return weighted
