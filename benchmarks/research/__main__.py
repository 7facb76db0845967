"""Whether the passage that answers is in the answer: ours beside cutting every page at one length.

200 questions with a known passage (how they are made: `benchmarks.research.questions`), all that are not
English among them, from domains that had no part in choosing parameters. Two measures:

One page at a budget: the excerpts of the page on which the passage stands, beside the page's beginning of the
same budget, and free-search-mcp's `compare` (its reader, its first 6,000 characters).

A whole answer: that page among two others that share most words with the question, in the order of a hash, as
`research` renders it by default; beside the same pages cut at equal lengths as `fetch_batch` does, and
free-search-mcp's `research` (its reader, up to 50,000 characters a page).

Saved pages that are not English are mostly shorter; those of 700 tokens and more are asked at 300 tokens too.

A passage counts when it stands there letter for letter. What our reader leaves out counts as missed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.peers.launch import peer_python
from benchmarks.research.questions import Page, Question, is_inside, pages_of, questions_of
from browsers.model import Snapshot
from scraper.errors import ScraperError
from scraper.extract import reader
from scraper.extract.text import token_estimate as tokens
from scraper.extract.text.terms import split_terms
from scraper.model import Document, Reading, ReadPage, ResearchReport, SearchAnswer, SearchResult
from scraper.render import batch
from scraper.render import research_report as render
from scraper.render.page import BODY_BUDGET
from scraper.render.research_report import PAGE_TOKENS
from scraper.retrieval import passages
from scraper.retrieval.passages import select_distinct_passages

_QUESTIONS = 200
_QUICK_QUESTIONS = 60
_BUDGETS = (300, 600, 1_000, 2_000)
_SHORT_PAGE_TOKENS, _SHORT_BUDGET = 700, 300
_PAGES_AN_ANSWER = 3
_REGION = "0123456789ab"
_PEER = "free_search_mcp"
_PEER_LIMIT_S = 900
_GOALS = (Goal("hit_ratio", at_least=1.5),)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What one way shows for each question, and whether the passage is in it."""

    hits: Sequence[bool]
    costs: Sequence[int]

    @property
    def share(self) -> float:
        return fmean(self.hits)

    @property
    def tokens(self) -> float:
        return fmean(self.costs)

    @property
    def per_1000(self) -> float:
        """Answers found for each 1,000 tokens that are shown."""
        return 1000 * self.share / self.tokens if self.tokens else 0.0


async def measure(options: Options) -> Figures:
    """Ask every question in every way."""
    if options.corpora is None:
        raise FileNotFoundError("Give the folder of the corpora: --corpora DIR.")
    pages = pages_of(options.corpora)
    asked = _sample(questions_of(pages), _QUICK_QUESTIONS if options.quick else _QUESTIONS)
    vocabulary = {page.name: frozenset(split_terms(f"{page.title} {page.gold}")) for page in pages}
    answers = {question.text: _pages_of_answer(question, pages, vocabulary) for question in asked}
    needed = {page.name: page for chosen in answers.values() for page in chosen}
    documents = {name: _read(page) for name, page in needed.items()}
    peer = _by_peer(asked, answers, needed)
    figures = _one_page(asked, documents, peer)
    figures |= _whole_answer(asked, answers, documents, peer)
    figures |= _other_languages(options.corpora)
    _print_kinds(asked, documents)
    print_goals(figures, _GOALS)
    return figures


def _sample(questions: Sequence[Question], count: int) -> list[Question]:
    """Of the half that is reported: all that are not English, then English ones."""
    reported = [question for question in questions if not question.page.is_for_choosing]
    others = [question for question in reported if question.page.language != "en"]
    english = [question for question in reported if question.page.language == "en"]
    return [*others[: count // 2], *english][:count]


def _read(page: Page) -> Document:
    body = page.file.read_bytes()
    html = body.decode("utf-8", "replace")
    try:
        return reader.read(Snapshot(page.url, page.url, 200, {}, "text/html", body, html))
    except ScraperError:
        return Document(url=page.url)


def _pages_of_answer(question: Question, pages: Sequence[Page], vocabulary: Mapping[str, frozenset[str]]) -> list[Page]:
    """Return the page and two others of its language that share most words with the question, shuffled."""
    words = frozenset(split_terms(question.text))
    others = [page for page in pages if page.name != question.page.name]
    rivals = [page for page in others if page.language == question.page.language] or others
    nearest = sorted(rivals, key=lambda page: (-len(words & vocabulary[page.name]), page.name))
    chosen = [question.page, *nearest[: _PAGES_AN_ANSWER - 1]]
    return sorted(chosen, key=lambda page: _hash(question.text + page.name))


def _one_page(asked: Sequence[Question], documents: Mapping[str, Document], peer: Mapping[str, Any] | None) -> Figures:
    rows: list[tuple[object, ...]] = []
    figures: Figures = {}
    for budget in _BUDGETS:
        ours = _shown(asked, partial(_excerpts, documents, budget))
        cut = _shown(asked, partial(_beginning, documents, budget))
        ratio = ours.share / cut.share if cut.share else float("inf")
        rows += [_row(f"passages, {budget}", ours), _row(f"equal cutting, {budget}", cut)]
        figures |= {
            f"hit.{budget}": ours.share,
            f"hit.cut.{budget}": cut.share,
            f"hit_ratio.{budget}": ratio,
            f"per_1000.{budget}": ours.per_1000,
            f"per_1000.cut.{budget}": cut.per_1000,
            f"tokens.{budget}": ours.tokens,
        }
    if peer is not None:
        theirs = _shown(asked, lambda question: str(peer["excerpts"][question.page.name]))
        rows.append(_row("free-search-mcp compare", theirs))
        figures |= {"hit.free_search_mcp": theirs.share, "per_1000.free_search_mcp": theirs.per_1000}
    print_table(f"One page, {len(asked)} questions", ("tokens a page", "hits", "tokens", "per 1,000"), rows)
    figures["ms_per_page"] = _cost_ms(asked, documents)
    print(f"CPU to choose the passages of one page: {figures['ms_per_page']:.1f} ms\n")
    return figures | {"hit_ratio": figures[f"hit_ratio.{_BUDGETS[-1]}"]}


def _whole_answer(
    asked: Sequence[Question],
    answers: Mapping[str, Sequence[Page]],
    documents: Mapping[str, Document],
    peer: Mapping[str, Any] | None,
) -> Figures:
    def of(question: Question) -> list[Document]:
        return [documents[page.name] for page in answers[question.text]]

    ours = _shown(asked, lambda question: _brief(question, of(question)))
    cut = _shown(asked, lambda question: _batch(of(question)))
    rows = [_row("research", ours), _row("equal cutting", cut)]
    figures: Figures = {
        "answer.hit": ours.share,
        "answer.hit.cut": cut.share,
        "answer.hit_ratio": ours.share / cut.share if cut.share else float("inf"),
        "answer.tokens": ours.tokens,
        "answer.per_1000": ours.per_1000,
        "answer.per_1000.cut": cut.per_1000,
    }
    if peer is not None:
        briefs = dict(zip((question.text for question in asked), peer["briefs"], strict=True))
        theirs = _shown(asked, lambda question: str(briefs[question.text]))
        rows.append(_row("free-search-mcp research", theirs))
        figures |= {
            "answer.hit.free_search_mcp": theirs.share,
            "answer.tokens.free_search_mcp": theirs.tokens,
            "answer.per_1000.free_search_mcp": theirs.per_1000,
        }
    print_table("A whole answer of three pages", ("", "hits", "tokens", "per 1,000"), rows)
    return figures


def _other_languages(corpora: Path) -> Figures:
    pages = [page for page in pages_of(corpora, _SHORT_PAGE_TOKENS) if page.language != "en"]
    asked = [question for question in questions_of(pages) if not question.page.is_for_choosing]
    documents = {page.name: _read(page) for page in pages if not page.is_for_choosing}
    ours = _shown(asked, partial(_excerpts, documents, _SHORT_BUDGET))
    cut = _shown(asked, partial(_beginning, documents, _SHORT_BUDGET))
    rows = [_row("passages", ours), _row("equal cutting", cut)]
    print_table(
        f"Shorter pages that are not English, {len(asked)} questions, {_SHORT_BUDGET} tokens",
        ("", "hits", "tokens", "per 1,000"),
        rows,
    )
    return {"other_languages.hit": ours.share, "other_languages.hit.cut": cut.share}


def _cost_ms(asked: Sequence[Question], documents: Mapping[str, Document]) -> float:
    begun = time.process_time()
    for question in asked:
        passages.select_from_page(documents[question.page.name], question.text, _BUDGETS[-1])
    return 1000 * (time.process_time() - begun) / len(asked)


def _shown(asked: Sequence[Question], show: Callable[[Question], str]) -> _Shown:
    texts = [show(question) for question in asked]
    hits = [is_inside(question.passage, text) for question, text in zip(asked, texts, strict=True)]
    return _Shown(hits, [tokens.estimate(text) for text in texts])


def _excerpts(documents: Mapping[str, Document], budget: int, question: Question) -> str:
    chosen = passages.select_from_page(documents[question.page.name], question.text, budget)
    return "\n\n".join(one.text for one in chosen)


def _beginning(documents: Mapping[str, Document], budget: int, question: Question) -> str:
    document = documents[question.page.name]
    return document.markdown[: tokens.fit_prefix(document.markdown, 0, budget)]


def _brief(question: Question, documents: Sequence[Document]) -> str:
    results = tuple(SearchResult(one.title or "", one.url, "", ("local",), 1.0) for one in documents)
    search = SearchAnswer(question.text, results, ("local",))
    budget = BODY_BUDGET - render.sources_tokens(search) - PAGE_TOKENS * len(documents)
    choice = select_distinct_passages(
        [one.markdown for one in documents], question.text, budget, passages.MIN_PAGE_SHARE, True
    )
    pages = tuple(
        ReadPage(one.url, _reading(one), excerpts, same_as)
        for one, excerpts, same_as in zip(documents, choice.excerpts, choice.same_as, strict=True)
    )
    return render.as_markdown(ResearchReport(question.text, search, pages), region=_REGION)


def _batch(documents: Sequence[Document]) -> str:
    return batch.as_markdown([batch.BatchItem(one.url, _reading(one)) for one in documents], region=_REGION)


def _reading(document: Document) -> Reading:
    return Reading(document, document.url, document.url, 200, "http", False, datetime.now(UTC))


def _by_peer(
    asked: Sequence[Question], answers: Mapping[str, Sequence[Page]], pages: Mapping[str, Page]
) -> dict[str, Any] | None:
    """Return the excerpts of free-search-mcp, or None if it is not installed."""
    python = peer_python(_PEER)
    if not python.exists():
        print(f"{python} is missing: run `python -m benchmarks.setup_peers` to see free-search-mcp beside us.")
        return None
    job = {
        "pages": [{"name": page.name, "url": page.url, "file": str(page.file)} for page in pages.values()],
        "asked": [
            {"question": question.text, "pages": [page.name for page in answers[question.text]]} for question in asked
        ],
    }
    done = subprocess.run(
        [str(python), "-m", "benchmarks.peers.runners.free_search_mcp_excerpts"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        timeout=_PEER_LIMIT_S,
    )
    if done.returncode:
        sys.stderr.write(done.stderr[-2_000:])
        return None
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _print_kinds(asked: Sequence[Question], documents: Mapping[str, Document]) -> None:
    budget = _BUDGETS[-1]
    hits = {question.text: is_inside(question.passage, _excerpts(documents, budget, question)) for question in asked}
    groups: dict[str, list[bool]] = defaultdict(list)
    for question in asked:
        groups[f"kind {question.kind}"].append(hits[question.text])
        groups[f"language {question.page.language}"].append(hits[question.text])
    rows = [(name, len(found), fmean(found)) for name, found in sorted(groups.items())]
    print_table(f"Passages at {budget} tokens, by kind and language", ("", "questions", "hits"), rows)


def _row(name: str, shown: _Shown) -> tuple[object, ...]:
    return name, shown.share, shown.tokens, shown.per_1000


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    run(__doc__ or "", measure)
