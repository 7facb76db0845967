"""Select chunks for a question with libraries for BM25, if they are installed: bm25s and rank-bm25."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scraper.extract.text import token_estimate

_CHUNK = 400
"""Characters. With chunks of 1,000, both find fewer answers at small budgets."""
_WORD = re.compile(r"\w+")

Select = Callable[[str, str, int], str]
"""Returns the chunks of a text for a question within a budget of tokens."""


def find_peers() -> dict[str, Select]:
    """Return the peers that are installed, by name."""
    known: dict[str, tuple[str, Callable[[Any, Sequence[str], str], Sequence[float]]]] = {
        "bm25s": ("bm25s", _score_bm25s),
        "rank_bm25": ("rank_bm25", _score_rank_bm25),
    }
    return {
        name: _make_selection(importlib.import_module(module), score)
        for name, (module, score) in known.items()
        if importlib.util.find_spec(module)
    }


def _make_selection(module: Any, score: Callable[[Any, Sequence[str], str], Sequence[float]]) -> Select:
    def select(text: str, question: str, budget: int) -> str:
        chunks = list(_split(text))
        scores = score(module, chunks, question)
        chosen: list[int] = []
        for at in sorted(range(len(chunks)), key=lambda at: -scores[at]):
            cost = token_estimate.estimate(chunks[at])
            if cost <= budget:
                chosen.append(at)
                budget -= cost
        return "".join(chunks[at] for at in sorted(chosen))

    return select


def _split(text: str) -> Iterator[str]:
    """Yield parts that end with a line, sentence or word."""
    start = 0
    while start < len(text):
        end = min(len(text), start + _CHUNK)
        stops = (text.rfind(mark, start + _CHUNK // 2, end) + len(mark) for mark in ("\n", ". ", " "))
        stop = next((stop for stop in stops if stop > start + _CHUNK // 2), end) if end < len(text) else end
        yield text[start:stop]
        start = stop


def _score_bm25s(module: Any, chunks: Sequence[str], question: str) -> Sequence[float]:
    retriever = module.BM25()
    retriever.index(module.tokenize(list(chunks), stopwords="en", show_progress=False), show_progress=False)
    words = [word for word in _WORD.findall(question.lower()) if word in retriever.vocab_dict]
    return list(retriever.get_scores(words)) if words else [0.0] * len(chunks)


def _score_rank_bm25(module: Any, chunks: Sequence[str], question: str) -> Sequence[float]:
    return list(
        module.BM25Okapi([_WORD.findall(one.lower()) for one in chunks]).get_scores(_WORD.findall(question.lower()))
    )
