"""Learn the weights of `scraper.retrieval.sentence_score`.

Run `python -m benchmarks.train_passages --corpora DIR`.

The corpus `knowing-passages` has texts with questions of people and the sentences that answer them. Every third text of
each set is left out; `benchmarks.knowing` reports these as the test part. For its figures `out_of_fold_*`, weights are
learned three times, each time without another third, and written to `benchmarks/knowing/fold_weights.json`.

The weights maximize the likelihood of an answering sentence among the best sentences of its text (softmax), and stay
near a start chosen by hand: features that these texts do not have, such as headings, keep it. Prints the share of test
questions with an answering sentence among the first five, and the weights in the format of the code.
"""

from __future__ import annotations

import json
import random
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.knowing.questions import (
    FOLD_WEIGHTS,
    TEST_FOLD,
    TEXT_FOLDS,
    AskedText,
    load_texts,
    sentences_with_answer,
)
from scraper.retrieval.sentence_score import WEIGHTS, Question, SentenceIndex, compute_features
from scraper.retrieval.sentences import split_sentences

_START = {
    "words": 2.0,
    "stems": 2.0,
    "word_coverage": 2.0,
    "stem_coverage": 2.0,
    "neighbor_coverage": 2.0,
    "near_coverage": 0.6,
    "heading_coverage": 1.2,
    "similar_words": 1.2,
    "pairs": 1.0,
    "answer_type": 0.6,
    "length": 0.6,
    "nearness_to_top": 0.1,
    "paragraph": 1.6,
    "feedback": 0.4,
}
"""Weights chosen by hand before learning; those of the other features are 0."""
_ADHERENCE = 0.001
"""Pull toward the start."""
_STEPS, _RATE = 120, 0.08
_CANDIDATES = 60
"""Best sentences of each text by the start weights that compete with the answering ones."""
_QUESTIONS = {"covid": 1_000, "policy": 800, "xquad": 800}
_QUESTIONS_IN_LANGUAGE = 80
_WEIGHT = {"policy": 0.6}
_FIRST = 5

Floats = NDArray[np.float64]


async def measure(options: Options) -> Figures:
    """Learn from two thirds of the texts, and count hits on the others.

    Raises:
        FileNotFoundError: The corpus is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("Name the folder of the corpora: --corpora DIR.")
    examples = _load_examples(options.corpora, 0.1 if options.quick else 1.0)
    start = np.array([_START.get(name, 0.0) for name in WEIGHTS])
    folds = [_fit([one for one in examples if one[0] != fold], start) for fold in range(TEXT_FOLDS)]
    weights = folds[TEST_FOLD]
    if not options.quick:
        rows_of_folds = [dict(zip(WEIGHTS, one.round(2).tolist(), strict=True)) for one in folds]
        FOLD_WEIGHTS.write_text(json.dumps(rows_of_folds, indent=1) + "\n", encoding="utf-8")
    hits: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for fold, name, features, answers in examples:
        if fold == TEST_FOLD:
            group = name if name in _QUESTIONS else "xquad_other"
            hits[group].append((_is_first(features @ start, answers), _is_first(features @ weights, answers)))
    rows = [(name, len(both), *np.mean(both, axis=0).round(3).tolist()) for name, both in sorted(hits.items())]
    print_table(f"Among the first {_FIRST}, test texts", ("set", "questions", "start", "learned"), rows)
    print_table("Weights", ("feature", "weight"), zip(WEIGHTS, weights.round(2).tolist(), strict=True))
    figures: Figures = {f"among_{_FIRST}.{name}": learned for name, _, _, learned in rows}
    return figures | {f"weight.{name}": round(float(one), 2) for name, one in zip(WEIGHTS, weights, strict=True)}


_Example = tuple[int, str, Floats, list[int]]
"""Fold of the text, its set, the features of the sentences, and the sentences that answer."""


def _load_examples(corpora: Path, share: float) -> list[_Example]:
    examples: list[_Example] = []
    texts: defaultdict[str, list[AskedText]] = defaultdict(list)
    for text in load_texts(corpora):
        texts[text.name].append(text)
    for name, members in sorted(texts.items()):
        count = round(share * _QUESTIONS.get(name, _QUESTIONS_IN_LANGUAGE))
        asked = [(at, question) for at, text in enumerate(members) for question in text.questions]
        random.Random(zlib.crc32(name.encode())).shuffle(asked)
        for at in sorted({at for at, _ in asked[:count]}):
            text = members[at]
            sentences = split_sentences(text.text)
            index = SentenceIndex([text.text], [sentences])
            for question in (question for other, question in asked[:count] if other == at):
                answers = sentences_with_answer(text.text, sentences, question)
                if answers:
                    features = compute_features(index, Question.of(question["q"]))
                    examples.append((text.number % TEXT_FOLDS, name, features, answers))
    return examples


def _fit(examples: Sequence[_Example], start: Floats) -> Floats:
    rows = []
    for _, name, features, answers in examples:
        candidates = np.union1d(np.argsort(-(features @ start), kind="stable")[:_CANDIDATES], answers)
        rows.append((features[candidates], np.isin(candidates, answers), _WEIGHT.get(name, 1.0)))
    longest = max(len(features) for features, _, _ in rows)
    table = np.zeros((len(rows), longest, len(start)))
    is_answer, absent = np.zeros((len(rows), longest)), np.full((len(rows), longest), -1e9)
    for at, (features, answers_here, _) in enumerate(rows):
        table[at, : len(features)] = features
        is_answer[at, : len(features)] = answers_here
        absent[at, : len(features)] = 0.0
    importance = np.array([weight for _, _, weight in rows])
    importance /= importance.sum()
    weights, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, _STEPS + 1):
        likely = _softmax(table @ weights + absent)
        wanted = likely * is_answer
        wanted /= np.maximum(wanted.sum(axis=1, keepdims=True), 1e-12)
        slope = np.einsum("ij,ijk->k", (likely - wanted) * importance[:, None], table) + _ADHERENCE * (weights - start)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights = weights - _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _is_first(scores: Floats, answers: Sequence[int]) -> bool:
    return bool(np.isin(np.argsort(-scores, kind="stable")[:_FIRST], answers).any())


if __name__ == "__main__":
    run(__doc__ or "", measure)
