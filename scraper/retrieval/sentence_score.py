"""Score the sentences of pages for a question: a weighted sum of features."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scraper.retrieval.answer_types import find_answer_type, is_definition, rate_answer
from scraper.retrieval.sentence_index import FloatArray, SentenceIndex, inverse_frequencies
from scraper.retrieval.sentences import Sentence
from scraper.text.terms import ENGLISH_STOP_WORDS, is_ngram, split_terms, stem
from scraper.words.matcher import Words, load_once

_MAX_TERMS = 40
"""Terms of a question. Of a longer one, the rarest on the pages count."""
_MIN_FORM_LETTERS = 4
"""Letters. Of a shorter word, only the word itself counts as similar."""
_K1, _B = 1.0, 0.4
"""Parameters of BM25."""
_PAIR_DISTANCE = 4
"""Words between which two neighbors of the question count as a pair."""
_FEEDBACK_SENTENCES, _FEEDBACK_STEMS = 4, 12
"""Best sentences, and stems that are taken from them (pseudo-relevance feedback)."""
_SECTION = 9
"""Sentences before and after that count as surroundings."""
_NEIGHBOR_WEIGHT, _HEADING_WEIGHT = 0.3, 0.6
"""Weight of a word in a neighbor or heading, relative to one in the sentence."""
_DIGITS = b"0123456789"

FEATURE_NAMES = (
    "words",
    "stems",
    "word_coverage",
    "stem_coverage",
    "neighbor_coverage",
    "near_coverage",
    "heading_coverage",
    "similar_words",
    "pairs",
    "answer_type",
    "no_answer_type",
    "length",
    "nearness_to_top",
    "paragraph",
    "feedback",
    "definition",
    "smoothed",
    "paragraph_start",
    "digits",
    "question_mark",
    "common_words",
    "paragraph_length",
    "rarest_term",
    "density",
    "section_coverage",
)
"""Names of the columns of `compute_features`."""


_STOP_WORDS = Words("stop_words.any_topic")


@load_once
def _stop_terms() -> frozenset[str]:
    """Return the terms of words of many languages that occur in questions on any topic."""
    return frozenset(split_terms(" ".join(_STOP_WORDS.all))) | ENGLISH_STOP_WORDS.all


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its terms, and those without stop words."""

    text: str
    terms: tuple[str, ...]
    content: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Question:
        """Split a text into the terms of a question."""
        terms = tuple(split_terms(text))
        return cls(text, terms, tuple(term for term in terms if term not in _stop_terms()))


def compute_features(index: SentenceIndex, question: Question) -> FloatArray:
    """Return an array of shape (sentences, features) with the columns `FEATURE_NAMES`.

    The rarity of a term is its inverse frequency among these sentences.
    """
    columns = _Columns(index, question)
    return np.stack([columns.values[name] for name in FEATURE_NAMES], axis=1)


class _Columns:
    """Computes the columns in groups that share intermediate results."""

    def __init__(self, index: SentenceIndex, question: Question) -> None:
        self._index = index
        self.values: dict[str, FloatArray] = {}
        words = list(dict.fromkeys(question.content))
        self._word_rarity = index.words.rarity(words)
        if len(words) > _MAX_TERMS:
            rarest = sorted(np.argsort(-self._word_rarity, kind="stable")[:_MAX_TERMS].tolist())
            words, self._word_rarity = [words[at] for at in rarest], self._word_rarity[rarest]
        self._words = words
        self._stems = list(dict.fromkeys(map(stem, words)))
        self._stem_rarity = index.stems.rarity(self._stems)
        self._norm = _K1 * (1 - _B + _B * index.lengths / max(1.0, float(index.lengths.mean())))[:, None]
        self._word_counts = index.words.count(words)
        self._stem_counts = index.stems.count(self._stems)
        self._has_stem = (self._stem_counts > 0).astype(float)
        self._add_matches()
        self._add_surroundings()
        self._add_similar_words()
        self._add_pairs([stem(word) for word in question.content if word in set(words)])
        self._add_answer_type(question.text)
        self._add_paragraphs()
        self._add_feedback()
        self._add_form()

    def _share(self, has_stem: FloatArray) -> FloatArray:
        """Return the share of the question that each row covers, by rarity."""
        return np.asarray(has_stem @ self._stem_rarity) / (self._stem_rarity.sum() or 1.0)

    def _saturate(self, counts: FloatArray) -> FloatArray:
        return counts * (_K1 + 1) / (counts + self._norm)

    def _add_matches(self) -> None:
        total = self._word_rarity.sum() or 1.0
        self.values["words"] = self._saturate(self._word_counts) @ self._word_rarity / total
        self.values["word_coverage"] = (self._word_counts > 0) @ self._word_rarity / total
        self.values["stems"] = self._share(self._saturate(self._stem_counts))
        self.values["stem_coverage"] = self._share(self._has_stem)
        rarest = (self._has_stem * self._stem_rarity).max(axis=1, initial=0.0)
        self.values["rarest_term"] = rarest / max(self._stem_rarity.max(initial=0.0), 1e-9)
        self.values["density"] = self._has_stem.sum(axis=1) / np.maximum(3, self._index.lengths)

    def _add_surroundings(self) -> None:
        neighbors = self._index.spread(self._has_stem, 1)
        self.values["neighbor_coverage"] = self._share(neighbors)
        self.values["near_coverage"] = self._share(self._index.spread(self._has_stem, 3))
        self.values["section_coverage"] = self._share(self._index.spread(self._has_stem, _SECTION))
        in_headings = np.array(
            [[term in heading for term in self._stems] for heading in self._index.heading_stems()], dtype=float
        ).reshape(self._index.count, len(self._stems))
        self.values["heading_coverage"] = self._share(in_headings)
        weighted = self._stem_counts + _HEADING_WEIGHT * in_headings
        start = 0
        for size in self._index.page_sizes:
            page, source = weighted[start : start + size], self._has_stem[start : start + size]
            page[1:] += _NEIGHBOR_WEIGHT * source[:-1]
            page[:-1] += _NEIGHBOR_WEIGHT * source[1:]
            start += size
        self.values["smoothed"] = self._share(self._saturate(weighted)) * self._share(np.minimum(1.0, weighted))

    def _add_similar_words(self) -> None:
        """Add compounds and inflected forms, which share parts of four letters."""
        index, total = self._index, np.zeros(self._index.count)
        for column, (word, weight) in enumerate(zip(self._words, self._word_rarity, strict=True)):
            if len(word) < _MIN_FORM_LETTERS or is_ngram(word):
                total += weight * (self._word_counts[:, column] > 0)
                continue
            similarity = np.zeros(len(index.words.numbers) + 1)
            for number, value in index.similar_words(word).items():
                similarity[number] = value
            best = np.zeros(index.count)
            np.maximum.at(best, index.words.pair_sentences, similarity[index.words.pair_terms])
            total += weight * best
        self.values["similar_words"] = total / (self._word_rarity.sum() or 1.0)

    def _add_pairs(self, order: Sequence[str]) -> None:
        """Add the share of neighbors in the question that are near each other in the sentence."""
        stems, sentence_of = self._index.stems, self._index.sentence_of
        pairs = {pair for pair in itertools.pairwise(order) if pair[0] != pair[1]}
        found = np.zeros(self._index.count)
        for first, second in sorted(pairs):
            if first not in stems.numbers or second not in stems.numbers:
                continue
            has_pair = np.zeros(self._index.count, dtype=bool)
            places = np.flatnonzero(stems.positions == stems.numbers[first])
            for distance in range(1, _PAIR_DISTANCE + 1):
                places = places[places + distance < len(stems.positions)]
                is_pair = stems.positions[places + distance] == stems.numbers[second]
                is_pair &= sentence_of[places + distance] == sentence_of[places]
                has_pair[sentence_of[places[is_pair]]] = True
            found += has_pair
        self.values["pairs"] = found / max(1, len(pairs))

    def _add_answer_type(self, question: str) -> None:
        index, answer_type = self._index, find_answer_type(question)
        rates = np.array([rate_answer(answer_type, text) for text in index.texts])
        self.values["answer_type"] = np.maximum(0.0, rates)
        self.values["no_answer_type"] = np.maximum(0.0, -rates)
        defines = [answer_type == "definition" and is_definition(text) for text in index.texts]
        self.values["definition"] = np.array(defines) * (self.values["stem_coverage"] > 0.5).astype(float)

    def _add_paragraphs(self) -> None:
        index = self._index
        starts = np.flatnonzero(index.is_first)
        sizes = np.bincount(index.paragraph_of)
        counts = np.add.reduceat(self._has_stem, starts, axis=0)
        coverage = self._share((counts > 0).astype(float))
        saturated = self._share(counts * 2 / (counts + 1 + 0.1 * sizes[:, None]))
        self.values["paragraph"] = (0.5 * coverage + 0.5 * saturated)[index.paragraph_of]
        self.values["paragraph_start"] = index.is_first.astype(float)
        self.values["paragraph_length"] = np.minimum(1.0, np.log1p(sizes[index.paragraph_of]) / 4)

    def _add_feedback(self) -> None:
        """Add the stems that the best sentences share: the page's own words for the topic."""
        index, stems = self._index, self._index.stems
        base = self.values["stems"] + self.values["stem_coverage"] + self.values["neighbor_coverage"]
        best = [one for one in np.argsort(-base, kind="stable")[:_FEEDBACK_SENTENCES] if base[one] > 0]
        weights = np.zeros(len(stems.frequencies))
        for one in best:
            weights[stems.pair_terms[stems.pair_sentences == one]] += base[one] / base[best[0]]
        is_useful = (stems.frequencies > 1) & (stems.frequencies < 0.2 * index.count + 3)
        weights *= inverse_frequencies(stems.frequencies, index.count) * is_useful
        weights[[stems.numbers[one] for one in self._stems if one in stems.numbers]] = 0.0
        weights[np.argsort(-weights, kind="stable")[_FEEDBACK_STEMS:]] = 0.0
        weights /= weights.sum() or 1.0
        self.values["feedback"] = np.bincount(
            stems.pair_sentences, weights=weights[stems.pair_terms], minlength=index.count
        ).astype(float)

    def _add_form(self) -> None:
        """Add the features that do not depend on the question."""
        index, stems = self._index, self._index.stems
        self.values["length"] = np.log1p(index.lengths) / 4
        places = [np.arange(size) / max(1, size) for size in index.page_sizes]
        self.values["nearness_to_top"] = 1 - np.concatenate(places)
        data = [text.encode("utf-8", "replace") for text in index.texts]
        digits = [1 - len(text.translate(None, _DIGITS)) / max(1, len(text)) for text in data]
        self.values["digits"] = np.minimum(1.0, 5 * np.array(digits))
        self.values["question_mark"] = np.array([float(text.rstrip().endswith("?")) for text in index.texts])
        stem_counts = np.maximum(1, np.bincount(stems.pair_sentences, minlength=index.count))
        common = np.bincount(
            stems.pair_sentences, weights=np.log1p(stems.frequencies[stems.pair_terms]), minlength=index.count
        )
        self.values["common_words"] = common / stem_counts / 5


WEIGHTS = {
    "answer_type": 1.36,
    "common_words": -0.8,
    "definition": 0.53,
    "density": 0.27,
    "digits": 0.65,
    "feedback": 1.44,
    "heading_coverage": 1.2,
    "length": -1.0,
    "near_coverage": 0.88,
    "nearness_to_top": 0.65,
    "neighbor_coverage": 1.74,
    "no_answer_type": -0.2,
    "pairs": 1.0,
    "paragraph": 2.41,
    "paragraph_length": -1.23,
    "paragraph_start": 0.07,
    "question_mark": -0.37,
    "rarest_term": -0.04,
    "section_coverage": 0.99,
    "similar_words": 3.06,
    "smoothed": -1.85,
    "stem_coverage": -0.13,
    "stems": 1.53,
    "word_coverage": 0.79,
    "words": 0.9,
}
"""Weights of the features. Learned by `benchmarks.train_passages` from two thirds of its texts."""

_MATCHES = ("stem_coverage", "similar_words", "heading_coverage")
_MIN_UNMATCHED_SCORE = 0.02
"""Score from which a sentence without a word of the question is relevant: its neighbors have these words."""


def split_wordings(question: str) -> list[Question]:
    """Return the wordings of a question, which `|` separates."""
    return [Question.of(wording) for wording in question.split("|") if wording.strip()]


def score_sentences(
    wordings: Sequence[Question], markdowns: Sequence[str], pages: Sequence[Sequence[Sentence]]
) -> list[list[float]]:
    """Return the score of each sentence of each page, comparable across pages: 1 for the best one.

    The score is the likelihood of an answer in the sentence, relative to the best one: the exponential of a weighted
    sum of features. Wordings are scored separately, and the mean of their sums counts. A page without a word of the
    question scores 0, and so does an unlikely sentence without one.
    """
    weights = np.array([WEIGHTS[name] for name in FEATURE_NAMES])
    matches = [FEATURE_NAMES.index(name) for name in _MATCHES]
    counts = [len(page) for page in pages]
    total, is_match = np.zeros(sum(counts)), np.zeros(sum(counts), dtype=bool)
    wordings = [wording for wording in wordings if wording.content]
    if wordings and sum(counts):
        index = SentenceIndex(markdowns, pages)
        for wording in wordings:
            features = compute_features(index, wording)
            total += features @ weights / len(wordings)
            is_match |= features[:, matches].any(axis=1)
    scores = np.exp(total - total.max(initial=-np.inf))
    scores[(scores < _MIN_UNMATCHED_SCORE) & ~is_match] = 0
    rows: list[list[float]] = []
    start = 0
    for count in counts:
        page = scores[start : start + count] * is_match[start : start + count].any()
        rows.append(page.tolist())
        start += count
    return rows
