"""Score the sentences of pages for a question: a weighted sum of features."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scraper.retrieval.sentences import Sentence
from scraper.text.terms import ENGLISH_STOP_WORDS, is_ngram, split_markdown_terms, split_terms, stem
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern, Words, load_once

_MAX_TERMS = 40
"""Terms of a question. Of a longer one, the rarest on the pages count."""
_K1, _B = 1.0, 0.4
"""Parameters of BM25."""
_HEADINGS = 3
"""Innermost headings above a sentence whose words count for it."""
_GRAM = 4
"""Letters of the parts in which forms and compounds of a word agree."""
_MIN_WORD = 4
"""Letters. Of a shorter word of the question, only the word itself counts as similar."""
_MIN_SIMILARITY = 0.5
_MAX_GRAM_HITS = 400
"""Occurrences of one part that are counted; further ones are ignored."""
_PAIR_DISTANCE = 4
"""Words between which two neighbors of the question count as a pair."""
_FEEDBACK_SENTENCES, _FEEDBACK_STEMS = 4, 12
"""Best sentences, and stems that are taken from them (pseudo-relevance feedback)."""
_SECTION = 9
"""Sentences before and after that count as surroundings."""
_NEIGHBOR_WEIGHT, _HEADING_WEIGHT = 0.3, 0.6
"""Weight of a word in a neighbor or heading, relative to one in the sentence."""
_STOP_WORDS = Words("stop_words.any_topic")

_TABLE = read_table(__package__, "sentence_score.toml")
WEIGHTS: dict[str, float] = _TABLE["weights"]
_ANSWER_TYPES = [
    (WordPattern(one["question"], re.NOFLAG), [(re.compile(answer), value) for answer, value in one["answers"]])
    for one in _TABLE["answer_types"]
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


@load_once
def _stop_terms() -> frozenset[str]:
    return frozenset(split_terms(" ".join(_STOP_WORDS.all))) | ENGLISH_STOP_WORDS.all


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its terms, and those without stop words."""

    text: str
    terms: tuple[str, ...]
    content: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Split a text into the terms of a question."""
        terms = tuple(split_terms(text))
        return cls(text, terms, tuple(term for term in terms if term not in _stop_terms()))


def _inverse(frequencies: FloatArray | IntArray, count: int) -> FloatArray:
    return np.log(1 + (count - frequencies + 0.5) / (frequencies + 0.5))


class _Vocabulary:
    """Different terms of all sentences, and the term of each position."""

    def __init__(self, terms: Sequence[str], term_of: Iterable[int], sentence_of: IntArray, count: int) -> None:
        """Store the terms of `count` sentences: the index of the term and of the sentence at each position."""
        self.numbers = {term: number for number, term in enumerate(terms)}
        self.positions = np.fromiter(term_of, dtype=np.int64)
        self._sentence_of, self._count = sentence_of, count
        size = max(1, len(terms))
        cells = np.unique(sentence_of * size + self.positions)
        self.pair_sentences, self.pair_terms = cells // size, cells % size
        """Each term of each sentence once."""
        self.frequencies = np.bincount(self.pair_terms, minlength=size)

    def rarity(self, terms: Sequence[str]) -> FloatArray:
        """Return the inverse sentence frequency of each term, as the IDF of BM25."""
        found = np.array([self.frequencies[self.numbers[one]] if one in self.numbers else 0 for one in terms], float)
        return _inverse(found, self._count)

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


class SentenceIndex:
    """Words and stems of the sentences of all pages, which are numbered in one sequence."""

    def __init__(self, markdowns: Sequence[str], pages: Sequence[Sequence[Sentence]]) -> None:
        """Split the sentences into words and stems."""
        self._sentences = [sentence for page in pages for sentence in page]
        self.texts = [
            markdown[one.text_start : one.end] for markdown, page in zip(markdowns, pages, strict=True) for one in page
        ]
        self.count = len(self._sentences)
        self.page_sizes = [len(page) for page in pages]
        rows = [(split_markdown_terms if "](" in text else split_terms)(text) for text in self.texts]
        self.lengths = np.array([len(row) for row in rows], dtype=np.int64)
        self.sentence_of = np.repeat(np.arange(self.count), self.lengths)
        words = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
        number_of = {word: number for number, word in enumerate(words)}
        positions = list(map(number_of.__getitem__, itertools.chain.from_iterable(rows)))
        self.words = _Vocabulary(words, positions, self.sentence_of, self.count)
        word_stems = list(map(stem, words))
        stems = {term: number for number, term in enumerate(dict.fromkeys(word_stems))}
        stem_of = [stems[term] for term in word_stems]
        self.stems = _Vocabulary(list(stems), map(stem_of.__getitem__, positions), self.sentence_of, self.count)
        paragraphs = np.array([sentence.paragraph for sentence in self._sentences], dtype=np.int64)
        page_of = np.repeat(np.arange(len(pages)), self.page_sizes)
        is_first = np.ones(self.count, dtype=bool)
        is_first[1:] = (paragraphs[1:] != paragraphs[:-1]) | (page_of[1:] != page_of[:-1])
        self.paragraph_of = np.cumsum(is_first) - 1
        self._spelled = f"<{'><'.join(words)}>"
        self._word_starts = np.cumsum([0, *(len(word) + 2 for word in words)])[:-1]

    def heading_stems(self) -> list[frozenset[str]]:
        """Return the stems of the headings above each sentence."""
        paths = {sentence.headings[-_HEADINGS:] for sentence in self._sentences}
        stems = {path: frozenset(map(stem, split_terms(" ".join(path)))) for path in paths}
        return [stems[sentence.headings[-_HEADINGS:]] for sentence in self._sentences]

    def similar_words(self, word: str) -> FloatArray:
        """Return the similarity of a word of the question to the most similar word of each sentence, up to 1.

        Forms and compounds of a word share parts of four letters.
        """
        marked = f"<{word}>"
        parts = {marked[at : at + _GRAM] for at in range(max(1, len(marked) - _GRAM + 1))}
        hits = np.zeros(len(self._word_starts))
        for part in parts:
            hits += np.bincount(self._words_with(part), minlength=len(hits))
        lengths = np.diff(self._word_starts, append=len(self._spelled)) - 2
        similarity = 2 * hits / (len(parts) + np.maximum(1, lengths - 1))
        similarity[(lengths < _MIN_WORD) | (similarity < _MIN_SIMILARITY)] = 0.0
        best = np.zeros(self.count)
        np.maximum.at(best, self.words.pair_sentences, np.minimum(1.0, similarity)[self.words.pair_terms])
        return best

    def _words_with(self, part: str) -> IntArray:
        places: list[int] = []
        at = self._spelled.find(part)
        while at >= 0 and len(places) < _MAX_GRAM_HITS:
            places.append(at)
            at = self._spelled.find(part, at + 1)
        return np.searchsorted(self._word_starts, places, "right") - 1

    def sum_neighbors(self, marks: FloatArray) -> FloatArray:
        """Return for each sentence the sum of each column over the sentences before and after it on its page."""
        total = np.zeros_like(marks)
        start = 0
        for size in self.page_sizes:
            page, source = total[start : start + size], marks[start : start + size]
            page[1:] += source[:-1]
            page[:-1] += source[1:]
            start += size
        return total

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


def compute_features(index: SentenceIndex, question: Question) -> FloatArray:
    """Return an array of shape (sentences, features) with the columns of `WEIGHTS`.

    The rarity of a term is its inverse frequency among these sentences.
    """
    words = list(dict.fromkeys(question.content))
    word_rarity = index.words.rarity(words)
    if len(words) > _MAX_TERMS:
        rarest = sorted(np.argsort(-word_rarity, kind="stable")[:_MAX_TERMS].tolist())
        words, word_rarity = [words[at] for at in rarest], word_rarity[rarest]
    stems = list(dict.fromkeys(map(stem, words)))
    rarity = index.stems.rarity(stems)
    norm = _K1 * (1 - _B + _B * index.lengths / max(1.0, float(index.lengths.mean())))[:, None]

    def share(has_stem: FloatArray) -> FloatArray:
        return np.asarray(has_stem @ rarity) / (rarity.sum() or 1.0)

    def saturate(counts: FloatArray) -> FloatArray:
        return counts * (_K1 + 1) / (counts + norm)

    word_counts, stem_counts = index.words.count(words), index.stems.count(stems)
    has_stem = (stem_counts > 0).astype(float)
    whole = word_rarity.sum() or 1.0
    matches, coverage, neighbors = share(saturate(stem_counts)), share(has_stem), share(index.spread(has_stem, 1))
    headings = np.array([[term in heading for term in stems] for heading in index.heading_stems()], dtype=float)
    headings = headings.reshape(index.count, len(stems))
    weighted = stem_counts + _HEADING_WEIGHT * headings + _NEIGHBOR_WEIGHT * index.sum_neighbors(has_stem)
    similar = np.zeros(index.count)
    for column, (word, weight) in enumerate(zip(words, word_rarity, strict=True)):
        is_whole = len(word) < _MIN_WORD or is_ngram(word)
        similar += weight * ((word_counts[:, column] > 0) if is_whole else index.similar_words(word))
    sizes = np.bincount(index.paragraph_of)
    in_paragraph = np.add.reduceat(has_stem, np.flatnonzero(np.diff(index.paragraph_of, prepend=-1)), axis=0)
    paragraph = 0.5 * share((in_paragraph > 0).astype(float))
    paragraph += 0.5 * share(in_paragraph * 2 / (in_paragraph + 1 + 0.1 * sizes[:, None]))
    data = [text.encode("utf-8", "replace") for text in index.texts]
    digits = [1 - len(text.translate(None, b"0123456789")) / max(1, len(text)) for text in data]
    terms = index.stems
    common = np.log1p(terms.frequencies[terms.pair_terms])
    common = np.bincount(terms.pair_sentences, weights=common, minlength=index.count)
    columns = {
        "words": saturate(word_counts) @ word_rarity / whole,
        "word_coverage": (word_counts > 0) @ word_rarity / whole,
        "stems": matches,
        "stem_coverage": coverage,
        "neighbor_coverage": neighbors,
        "near_coverage": share(index.spread(has_stem, 3)),
        "section_coverage": share(index.spread(has_stem, _SECTION)),
        "heading_coverage": share(headings),
        "smoothed": share(saturate(weighted)) * share(np.minimum(1.0, weighted)),
        "similar_words": similar / whole,
        "pairs": _rate_pairs(index, [stem(word) for word in question.content if word in words]),
        "answer_type": _rate_answers(index, question),
        "paragraph": paragraph[index.paragraph_of],
        "paragraph_start": np.diff(index.paragraph_of, prepend=-1).astype(float),
        "paragraph_length": np.minimum(1.0, np.log1p(sizes[index.paragraph_of]) / 4),
        "feedback": _rate_feedback(index, matches + coverage + neighbors, stems),
        "length": np.log1p(index.lengths) / 4,
        "nearness_to_top": 1 - np.concatenate([np.arange(size) / max(1, size) for size in index.page_sizes]),
        "digits": np.minimum(1.0, 5 * np.array(digits)),
        "common_words": common / np.maximum(1, np.bincount(terms.pair_sentences, minlength=index.count)) / 5,
    }
    return np.stack([columns[name] for name in WEIGHTS], axis=1)


def _rate_pairs(index: SentenceIndex, order: Sequence[str]) -> FloatArray:
    """Return the share of neighbors in the question that are near each other in the sentence."""
    stems, sentence_of = index.stems, index.sentence_of
    pairs = {pair for pair in itertools.pairwise(order) if pair[0] != pair[1]}
    found = np.zeros(index.count)
    for first, second in sorted(pairs):
        if first in stems.numbers and second in stems.numbers:
            has_pair = np.zeros(index.count, dtype=bool)
            places = np.flatnonzero(stems.positions == stems.numbers[first])
            for distance in range(1, _PAIR_DISTANCE + 1):
                places = places[places + distance < len(stems.positions)]
                is_pair = stems.positions[places + distance] == stems.numbers[second]
                is_pair &= sentence_of[places + distance] == sentence_of[places]
                has_pair[sentence_of[places[is_pair]]] = True
            found += has_pair
    return found / max(1, len(pairs))


def _rate_answers(index: SentenceIndex, question: Question) -> FloatArray:
    """Return from 0 to 1 how well the form of each sentence answers the form of the question."""
    lower = question.text.lower()
    answers = next((answers for form, answers in _ANSWER_TYPES if form.search(lower)), ())
    return np.array([next((value for form, value in answers if form.search(text)), 0.0) for text in index.texts])


def _rate_feedback(index: SentenceIndex, base: FloatArray, question: Sequence[str]) -> FloatArray:
    """Return the share of the stems that the best sentences by `base` have: the page's own words for the topic."""
    stems = index.stems
    weights = np.zeros(len(stems.frequencies))
    best = [one for one in np.argsort(-base, kind="stable")[:_FEEDBACK_SENTENCES] if base[one] > 0]
    for one in best:
        weights[stems.pair_terms[stems.pair_sentences == one]] += base[one] / base[best[0]]
    is_useful = (stems.frequencies > 1) & (stems.frequencies < 0.2 * index.count + 3)
    weights *= _inverse(stems.frequencies, index.count) * is_useful
    weights[[stems.numbers[one] for one in question if one in stems.numbers]] = 0.0
    weights[np.argsort(-weights, kind="stable")[_FEEDBACK_STEMS:]] = 0.0
    weights /= weights.sum() or 1.0
    return np.bincount(stems.pair_sentences, weights=weights[stems.pair_terms], minlength=index.count).astype(float)


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
    names, weights = list(WEIGHTS), np.array(list(WEIGHTS.values()))
    matches = [names.index(name) for name in _MATCHES]
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
