"""How well each of many short texts answers a question: BM25 with headings, neighbours and forms of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scraper.extract.text.terms import split_markdown_terms, split_terms, stem

# Chosen on half of the questions of `benchmarks.research`, those of other domains than the half that is
# reported. None of them is sharp: halving or doubling any one moves the hits at 300 tokens by less than three
# points, at 2,000 tokens by less than half a point.
_K1 = 1.0
_B = 0.25
"""Pieces are of about one length already."""
_HEADING = 0.6
"""A word in a heading above the piece, in words of the piece itself."""
_NEIGHBOUR = 0.2
"""A word in the piece before or after."""
_STEMS = 0.4
"""The part of forms of words in the score; the rest is for the very words of the question."""
_COVERAGE = 1.5
"""Power of the share of the question that a piece covers: two words once each tell more than one twice."""
_HEAD_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Question:
    """The words of a question and what their forms have in common."""

    words: frozenset[str]
    stems: frozenset[str]
    heads: frozenset[str]
    """First letters of the stems: few words of a page begin so, and only these are looked at closer."""

    @classmethod
    def of(cls, text: str) -> Question:
        """The question in a text."""
        words = frozenset(split_terms(text))
        stems = frozenset(map(stem, words))
        return cls(words, stems, frozenset(cut[:_HEAD_LETTERS] for cut in stems))

    def near(self, words: Iterable[str]) -> list[str]:
        """Those words that may be the question's, in some form."""
        return [word for word in words if word[:_HEAD_LETTERS] in self.heads]


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """How often the question's words stand in a text and in the headings above it."""

    length: int
    words: Mapping[str, int]
    stems: Mapping[str, int]
    heading_words: frozenset[str]
    heading_stems: frozenset[str]

    @classmethod
    def of(cls, question: Question, text: str, headings: Iterable[str]) -> ChunkTerms:
        """The piece made of some Markdown; addresses of links are no words."""
        every = split_markdown_terms(text)
        found = question.near(every)
        above = question.near(split_terms(" ".join(headings)))
        return cls(
            len(every),
            Counter(word for word in found if word in question.words),
            Counter(cut for word in found if (cut := stem(word)) in question.stems),
            question.words.intersection(above),
            question.stems.intersection(map(stem, above)),
        )


def score_chunks(question: Question, pages: Sequence[Sequence[ChunkTerms]]) -> list[list[float]]:
    """A score for each piece of each page, comparable across pages; 0: nothing of the question is there."""
    pieces = [piece for page in pages for piece in page]
    mean = max(1.0, sum(piece.length for piece in pieces) / max(1, len(pieces)))
    norms = [_K1 * (1 - _B + _B * piece.length / mean) for piece in pieces]
    words = _field_scores(
        question.words, [[(piece.words, piece.heading_words) for piece in page] for page in pages], norms
    )
    stems = _field_scores(
        question.stems, [[(piece.stems, piece.heading_stems) for piece in page] for page in pages], norms
    )
    flat = iter(
        _mixed(by_word, by_stem) * _mixed(seen, alike) ** _COVERAGE
        for (by_word, seen), (by_stem, alike) in zip(words, stems, strict=True)
    )
    return [[next(flat) for _ in page] for page in pages]


def _mixed(by_word: float, by_stem: float) -> float:
    return (1 - _STEMS) * by_word + _STEMS * by_stem


_Row = tuple[Mapping[str, int], frozenset[str]]
"""Counts in a piece, and what stands above it."""


def _field_scores(
    wanted: Iterable[str], pages: Sequence[Sequence[_Row]], norms: Sequence[float]
) -> list[tuple[float, float]]:
    """Score and covered share of the question for each piece, all pages in one row."""
    rows = [row for page in pages for row in page]
    found = Counter(term for counts, _ in rows for term in counts)
    rarity = {
        term: math.log(1 + (len(rows) - found[term] + 0.5) / (found[term] + 0.5)) for term in sorted(wanted)
    }
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
    """How much of each term a piece holds, with its headings and its neighbours on the page."""
    weighted = [dict[str, float](counts) for counts, _ in page]
    for at, (counts, above) in enumerate(page):
        for term in sorted(above):
            weighted[at][term] = weighted[at].get(term, 0.0) + _HEADING
        for neighbour in (at - 1, at + 1):
            if 0 <= neighbour < len(page):
                for term in counts:
                    weighted[neighbour][term] = weighted[neighbour].get(term, 0.0) + _NEIGHBOUR
    return weighted
