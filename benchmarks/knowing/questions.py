"""Questions of people to long texts, and the sentences that answer them (corpus `knowing-passages`)."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.corpora import corpus_folder
from scraper.retrieval.sentences import Sentence

_NO_LETTER = re.compile(r"[\W_]+")
TEXT_FOLDS = 3
TEST_FOLD = 2
"""Fold of the test texts. Each third text of a set is in the same fold."""
FOLD_WEIGHTS = Path(__file__).with_name("fold_weights.json")
"""For each fold, the weights learned by `benchmarks.train_passages` from the texts of the other folds."""

REWORDINGS = Path(__file__).with_name("rewordings.toml")

Question = Mapping[str, Any]
"""`q` (question), `s` (sentence with the answer), and perhaps `any` (all sentences that answer)."""


@dataclass(frozen=True, slots=True)
class AskedText:
    """A text with its questions."""

    name: str
    """Set, with the language if it is not English: `xquad-de`."""
    number: int
    """Position in its set. Translations of one text have the same."""
    text: str
    questions: Sequence[Question]


def load_texts(corpora: Path) -> list[AskedText]:
    """Return all texts of the corpus."""
    texts: list[AskedText] = []
    counts: Counter[str] = Counter()
    file = corpus_folder(corpora, "knowing-passages") / "qa.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        texts.append(AskedText(row["set"], counts[row["set"]], row["text"], row["qs"]))
        counts[row["set"]] += 1
    return texts


def load_rewordings() -> dict[str, str]:
    """Return the second wording of questions to policies."""
    return tomllib.loads(REWORDINGS.read_text(encoding="utf-8"))


def is_test_text(text: AskedText) -> bool:
    """Return True if a text is not used for learning."""
    return text.number % TEXT_FOLDS == TEST_FOLD


def letters(text: str) -> str:
    """Return the letters and digits of a text without case."""
    return _NO_LETTER.sub("", text).casefold()


def has_answer(content: str, question: Question) -> bool:
    """Return True if the content has one of the sentences that answer the question."""
    content = letters(content)
    return any(letters(sentence) in content for sentence in question.get("any", [question["s"]]))


def sentences_with_answer(text: str, sentences: Sequence[Sentence], question: Question) -> list[int]:
    """Return the numbers of the sentences that overlap with a sentence that answers the question."""
    spans: list[tuple[int, int]] = []
    end = 0
    parts = [letters(text[one.text_start : one.end]) for one in sentences]
    for part in parts:
        spans.append((end, end + len(part)))
        end += len(part)
    whole = "".join(parts)
    found: set[int] = set()
    for answer in map(letters, question.get("any", [question["s"]])):
        at = whole.find(answer)
        if at >= 0:
            found.update(number for number, (start, end) in enumerate(spans) if start < at + len(answer) and end > at)
    return sorted(found)
