"""Measure how often the passages for a question contain the sentence that answers it.

The corpus `knowing-passages` has texts with questions of people and the sentences that answer them. The beginning of
the text with the same budget stands beside our passages. The corpus `knowing-sources` has answers of sources.
Records of saved lists, and values by one example, are
measured on the corpora `knowing-lists`, `serp`, `knowing-fields` and `knowing-redesign`.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.knowing import examples, records
from benchmarks.knowing.sources import measure_sources
from scraper.extract.text import token_estimate
from scraper.extract.text.markdown_structure import find_headings
from scraper.model import Document, Reading, ReadPage
from scraper.render.quotes import fit_quotes
from scraper.render.research_report import join_excerpts
from scraper.retrieval.passage_selection import SHORT_STYLE, select_passages

BUDGETS = (300, 500)
_QUESTIONS = 270
_QUICK = 60
_SEED = 1
_MIN_SELECTED = 120
"""As in `scraper.tools.reading_tools`."""
_NO_LETTER = re.compile(r"[\W_]+")

Question = Mapping[str, Any]
"""`q` (question), `s` (sentence with the answer), and perhaps `any` (all sentences that answer)."""


async def measure(options: Options) -> Figures:
    """Ask the questions of each set.

    Raises:
        FileNotFoundError: The corpus is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("The texts are missing: give --corpora DIR.")
    file = corpus_folder(options.corpora, "knowing-passages") / "qa.jsonl"
    asked: dict[str, list[tuple[str, Question]]] = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)
        name = text["set"] if text["set"] != "xquad" or text["lang"] == "en" else "xquad_other"
        asked[name] += [(text["text"], question) for question in text["qs"]]
    figures: Figures = measure_sources(corpus_folder(options.corpora, "knowing-sources"))
    seconds = 0.0
    over_budget = 0
    is_exact = True
    for name, questions in sorted(asked.items()):
        random.Random(_SEED).shuffle(questions)
        sample = questions[: _QUICK if options.quick else _QUESTIONS]
        for budget in BUDGETS:
            hits = beginnings = 0
            for text, question in sample:
                began = time.process_time()
                page = ask(text, question["q"], budget)
                seconds += time.process_time() - began
                content = join_excerpts(page, linked=False)
                over_budget += token_estimate.estimate(content) > budget
                is_exact &= all(text[one.start : one.end].strip()[:40] in content for one in page.excerpts)
                hits += has_answer(content, question)
                beginnings += has_answer(text[: token_estimate.fit_prefix(text, 0, budget)], question)
            figures[f"passages.{name}.at_{budget}"] = round(hits / len(sample), 3)
            figures[f"passages.{name}.beginning_at_{budget}"] = round(beginnings / len(sample), 3)
    asked_count = len(BUDGETS) * sum(min(len(one), _QUICK if options.quick else _QUESTIONS) for one in asked.values())
    figures["passages.exact"] = float(is_exact)
    figures["passages.over_budget"] = over_budget
    figures["passages.ms"] = round(1_000 * seconds / asked_count, 1)
    print_table(
        "Answers in the passages",
        ("set", *(f"{budget} tokens" for budget in BUDGETS), *(f"beginning, {budget}" for budget in BUDGETS)),
        [
            (
                name,
                *(figures[f"passages.{name}.at_{budget}"] for budget in BUDGETS),
                *(figures[f"passages.{name}.beginning_at_{budget}"] for budget in BUDGETS),
            )
            for name in sorted(asked)
        ],
    )
    figures |= records.measure(options.corpora, quick=options.quick)
    figures |= examples.measure(options.corpora, quick=options.quick)
    others = [(name, value) for name, value in figures.items() if not name.startswith("passages.")]
    print_table("Records and fields", ("figure", "value"), others)
    return figures


def ask(text: str, question: str, budget: int) -> ReadPage:
    """Return the text with its passages for the question, as the tools select them."""
    document = Document("https://text.example/", markdown=text, text=text, outline=find_headings(text))
    (excerpts,) = select_passages([text], question, max(budget, _MIN_SELECTED), style=SHORT_STYLE)
    reading = Reading(document, document.url, document.url, 200, "http", False, datetime.now(UTC))
    page = ReadPage(document.url, reading, tuple(excerpts))
    return fit_quotes((page,), budget, linked=False)[0]


def has_answer(content: str, question: Question) -> bool:
    """Return True if the content has one of the sentences that answer the question."""
    letters = _letters(content)
    return any(_letters(sentence) in letters for sentence in question.get("any", [question["s"]]))


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


if __name__ == "__main__":
    run(__doc__ or "", measure)
