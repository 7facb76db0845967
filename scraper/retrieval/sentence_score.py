"""Score the sentences of pages for a question: a weighted sum of features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scraper.retrieval.sentence_features import FEATURE_NAMES, Question, compute_features
from scraper.retrieval.sentence_index import SentenceIndex
from scraper.retrieval.sentences import Sentence

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
