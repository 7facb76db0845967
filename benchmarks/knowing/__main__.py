"""Measure how often the passages for a question contain the sentence that answers it.

The corpus `knowing-passages` has texts with questions of people and the sentences that answer them. The beginning of
the text with the same budget stands beside our passages. `test_at_*` counts only texts that were not used for learning.
`out_of_fold_at_*` counts all questions, each with weights that were learned without the third of the texts that its
text is in. `policy.two_wordings_at_*` counts, in the same way, the questions of `rewordings.toml` with both wordings,
and `policy.one_wording_at_*` the same questions with their own wording.

The corpus `knowing-sources` has answers of sources. Records of saved lists, and values by name and by one example, are
measured on `knowing-lists`, `serp`, `knowing-fields` and `knowing-redesign`. `tokens.list` is the size of the tool
list. With `--peers`, bm25s, rank-bm25, crawl4ai and Scrapling read the same.
"""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.common.command_line import Figures, Options, print_table, run
from benchmarks.common.corpora import corpus_folder
from benchmarks.knowing import examples, records, redesigns
from benchmarks.knowing.peers import PeerProcess, fit_passages, open_peers
from benchmarks.knowing.questions import (
    FOLD_WEIGHTS,
    TEXT_FOLDS,
    AskedText,
    Question,
    has_answer,
    is_test_text,
    load_rewordings,
    load_texts,
    sentences_with_answer,
)
from benchmarks.knowing.sources import measure_sources
from benchmarks.tokens import count_list_tokens
from scraper.model import Document, Reading
from scraper.render.research_report import fit_excerpts, join_excerpts
from scraper.retrieval.model import PageExcerpts
from scraper.retrieval.passage_selection import QUOTE_TOKENS, select_passages
from scraper.retrieval.sentence_score import WEIGHTS, score_sentences, split_wordings
from scraper.retrieval.sentences import split_sentences
from scraper.text import token_estimate
from scraper.text.markdown_structure import find_headings

BUDGETS = (300, 500, 1_500)
_QUESTIONS = 270
_QUICK = 60
_PEER_QUESTIONS, _QUICK_PEER_QUESTIONS = 100, 10
_FIRST = 5
_SETS = ("covid", "policy", "xquad")
_SEED = 1
_MIN_SELECTED = 120
"""As in `scraper.tools.reading_tools`."""


async def measure(options: Options) -> Figures:
    """Measure all figures, those of the peers too with `--peers`.

    Raises:
        FileNotFoundError: A corpus or a peer is missing.
    """
    if options.corpora is None:
        raise FileNotFoundError("The texts are missing: give --corpora DIR.")
    with open_peers() if options.peers else contextlib.nullcontext() as peers:
        return await _measure(options, options.corpora, peers)


async def _measure(options: Options, corpora: Path, peers: PeerProcess | None) -> Figures:
    figures: Figures = measure_sources(corpus_folder(corpora, "knowing-sources"))
    asked: defaultdict[str, list[tuple[AskedText, Question]]] = defaultdict(list)
    for text in load_texts(corpora):
        name = text.name if text.name in _SETS else "xquad_other"
        asked[name] += [(text, question) for question in text.questions]
    counts = {"asked": 0, "over_budget": 0, "inexact": 0}
    fold_weights = json.loads(FOLD_WEIGHTS.read_text(encoding="utf-8"))
    total_s = 0.0
    for name, questions in sorted(asked.items()):
        random.Random(_SEED).shuffle(questions)
        sample = questions[: _QUICK if options.quick else _QUESTIONS]
        seconds = 0.0
        is_test = np.array([is_test_text(text) for text, _ in sample])
        for budget in BUDGETS:
            hits, beginnings, out_of_fold = [], [], []
            for text, question in sample:
                began = time.process_time()
                page = ask(text.text, question["q"], budget)
                seconds += time.process_time() - began
                content = join_excerpts(page, linked=False)
                counts["asked"] += 1
                counts["over_budget"] += token_estimate.estimate(content) > budget
                quotes = [text.text[one.start : one.end].strip()[:40] for one in page.excerpts]
                counts["inexact"] += not all(quote in content for quote in quotes)
                hits.append(has_answer(content, question))
                with patch.dict(WEIGHTS, fold_weights[text.number % TEXT_FOLDS]):
                    unseen = join_excerpts(ask(text.text, question["q"], budget), linked=False)
                out_of_fold.append(has_answer(unseen, question))
                end = token_estimate.fit_prefix(text.text, 0, budget)
                beginnings.append(has_answer(text.text[:end], question))
            figures[f"passages.{name}.at_{budget}"] = round(float(np.mean(hits)), 3)
            figures[f"passages.{name}.test_at_{budget}"] = round(float(np.mean(np.array(hits)[is_test])), 3)
            figures[f"passages.{name}.out_of_fold_at_{budget}"] = round(float(np.mean(out_of_fold)), 3)
            figures[f"passages.{name}.beginning_at_{budget}"] = round(float(np.mean(beginnings)), 3)
        figures[f"passages.{name}.among_{_FIRST}"] = round(float(np.mean([_is_first(*one) for one in sample])), 3)
        figures[f"passages.{name}.ms"] = round(1_000 * seconds / (len(BUDGETS) * len(sample)), 1)
        total_s += seconds
        if peers is not None:
            figures |= _ask_peers(peers, name, sample[: _QUICK_PEER_QUESTIONS if options.quick else _PEER_QUESTIONS])
    figures |= _ask_in_two_wordings(asked["policy"], fold_weights, quick=options.quick)
    figures["passages.exact"] = float(not counts["inexact"])
    figures["passages.over_budget"] = counts["over_budget"]
    figures["passages.ms"] = round(1_000 * total_s / counts["asked"], 1)
    print_table("Passages", ("figure", "value"), [one for one in figures.items() if one[0].startswith("passages.")])
    figures |= records.measure(corpora, quick=options.quick)
    figures |= examples.measure(corpora, quick=options.quick)
    figures |= redesigns.measure(corpora, peers, quick=options.quick)
    figures["tokens.list"] = await count_list_tokens()
    others = [(name, value) for name, value in figures.items() if not name.startswith("passages.")]
    print_table("Records and fields", ("figure", "value"), others)
    return figures


def _ask_in_two_wordings(
    questions: Sequence[tuple[AskedText, Question]], fold_weights: Sequence[Mapping[str, float]], *, quick: bool
) -> Figures:
    """Return the figures of policies with one and with two wordings of a question."""
    second = load_rewordings()
    sample = [one for one in questions if one[1]["q"] in second][: _QUICK if quick else _PEER_QUESTIONS]
    figures: Figures = {}
    for budget in BUDGETS:
        hits: list[tuple[bool, bool]] = []
        for text, question in sample:
            wordings = (question["q"], f"{question['q']} | {second[question['q']]}")
            with patch.dict(WEIGHTS, fold_weights[text.number % TEXT_FOLDS]):
                one, two = (
                    has_answer(join_excerpts(ask(text.text, wording, budget), linked=False), question)
                    for wording in wordings
                )
            hits.append((one, two))
        for name, share in zip(("one_wording", "two_wordings"), np.mean(hits, axis=0), strict=True):
            figures[f"passages.policy.{name}_at_{budget}"] = round(float(share), 3)
    return figures


def _ask_peers(peers: PeerProcess, name: str, sample: Sequence[tuple[AskedText, Question]]) -> Figures:
    """Return the figures of other libraries with the same questions."""
    hits: defaultdict[str, list[bool]] = defaultdict(list)
    milliseconds: defaultdict[str, list[float]] = defaultdict(list)
    for text, question in sample:
        for peer, (passages, ms) in peers.select(text.text, question["q"]).items():
            milliseconds[peer].append(ms)
            for budget in BUDGETS:
                content = fit_passages(text.text, passages, budget)
                hits[f"{peer}.{name}.at_{budget}"].append(has_answer(content, question))
    figures = {f"passages.peers.{key}": round(float(np.mean(found)), 3) for key, found in hits.items()}
    return figures | {
        f"passages.peers.{peer}.{name}.ms": round(float(np.mean(took)), 1) for peer, took in milliseconds.items()
    }


def ask(text: str, question: str, budget: int) -> PageExcerpts:
    """Return the text with its passages for the question, as the tools select them."""
    document = Document("https://text.example/", markdown=text, text=text, outline=find_headings(text))
    (excerpts,) = select_passages([text], question, max(budget, _MIN_SELECTED), link_tokens=QUOTE_TOKENS)
    reading = Reading(document, document.url, document.url, 200, "http", False, datetime.now(UTC))
    page = PageExcerpts(document.url, reading, tuple(excerpts))
    return fit_excerpts((page,), budget, linked=False)[0]


def _is_first(text: AskedText, question: Question) -> bool:
    """Return True if a sentence that answers is among the best rated ones."""
    sentences = split_sentences(text.text)
    (scores,) = score_sentences(split_wordings(question["q"]), [text.text], [sentences])
    best = sorted(range(len(scores)), key=lambda at: -scores[at])[:_FIRST]
    return not set(best).isdisjoint(sentences_with_answer(text.text, sentences, question))


if __name__ == "__main__":
    run(__doc__ or "", measure, optional_peers=True)
