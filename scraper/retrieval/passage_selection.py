"""Select the passages of pages that answer a question, within a token budget.

Adjacent chunks are joined. Near copies of a page count as one source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scraper.extract.text import token_estimate
from scraper.extract.text.markdown_structure import AtomicBlock, find_atomic_blocks, find_table_head
from scraper.extract.text.terms import split_markdown_terms
from scraper.model import Document, Excerpt
from scraper.retrieval import bm25
from scraper.retrieval.bm25 import ChunkTerms, Question
from scraper.retrieval.chunks import TARGET_BYTES, split_chunks
from scraper.retrieval.text_fragments import VisibleText, build_text_directive

LINK_TOKENS = 60
"""Tokens of an excerpt in addition to its text: heading, link and gap mark."""

MIN_PAGE_SHARE = 0.25
"""Share of an equal part of the budget that each page gets if it has relevant chunks, and at least its best one.

The rest goes to the best chunks of all pages. Of 200 questions to three pages with 900 tokens together, the passage
was shown for 96 % from 0 to 0.5, 95.5 % at 0.75, 92 % with equal shares.
"""

_MIN_RELATIVE_SCORE = 0.1
"""Minimum share of the best score; chunks with less are not relevant. At 2,000 tokens this saves a third of the tokens,
for 2 hits in 1,000."""

_MIN_CONTEXT_SCORE = 0.6
"""Minimum share of the best score with which a chunk is returned with its neighbors, if the budget allows."""

_HEADINGS_SHOWN = 2
_MAX_ROUNDS = 4
"""Rounds of selection. Table heads and code fences are known only after a selection; their excess is reserved in the
next round."""

MAX_CHARACTERS = 400_000
"""Characters of one page; the rest of a longer one is ignored."""


@dataclass(frozen=True, slots=True)
class PassageStyle:
    """Size of chunks, and the cost of an excerpt in addition to its text."""

    chunk_bytes: int = TARGET_BYTES
    link_tokens: int = LINK_TOKENS


USUAL_STYLE = PassageStyle()
SHORT_STYLE = PassageStyle(chunk_bytes=350, link_tokens=5)
"""For small budgets without links: with 300 tokens, the answer to 150 questions each was shown for .807 instead of .740
of those to articles, and .327 instead of .247 of those to policies."""


def select_from_page(document: Document, question: str, budget: int) -> list[Excerpt]:
    """Return the excerpts of one page in its order."""
    return select_passages([document.markdown], question, budget)[0]


def select_passages(
    texts: Sequence[str],
    question: str,
    budget: int,
    min_page_share: float = MIN_PAGE_SHARE,
    style: PassageStyle = USUAL_STYLE,
) -> list[list[Excerpt]]:
    """Return the excerpts of each Markdown text in its order, together within the budget.

    Texts that fit together are returned completely. For a text without a word of the question, its beginning is
    returned. `style` sets the size of chunks and the cost of an excerpt in addition to its text.
    """
    query = Question.of(question)
    pages = [_Page(text[:MAX_CHARACTERS], query, style) for text in texts]
    for page, row in zip(pages, bm25.score_chunks(query, [page.terms for page in pages]), strict=True):
        page.scores = row
    allowance = budget
    for _ in range(_MAX_ROUNDS):
        _select_chunks(pages, allowance, min_page_share)
        chosen = [page.excerpts(query) for page in pages]
        costs = (
            token_estimate.estimate(excerpt.text) + style.link_tokens for excerpts in chosen for excerpt in excerpts
        )
        excess = sum(costs) - budget
        if excess <= 0:
            return chosen
        allowance -= excess
    return [[] for _ in pages]


class _Page:
    """One text, its chunks and the selected ones."""

    def __init__(self, markdown: str, query: Question, style: PassageStyle) -> None:
        self.markdown = markdown
        self._link_tokens = style.link_tokens
        self.chunks = split_chunks(markdown, style.chunk_bytes)
        texts = [markdown[chunk.start : chunk.end] for chunk in self.chunks]
        self.terms = [
            ChunkTerms.of(query, text, chunk.headings) for text, chunk in zip(texts, self.chunks, strict=True)
        ]
        self.costs = [token_estimate.estimate(text) + 1 for text in texts]
        self.scores: list[float] = []
        self.chosen: set[int] = set()

    @property
    def whole_cost(self) -> int:
        """Cost of the whole text."""
        return sum(self.costs) + self._link_tokens

    def price(self, at: int) -> int:
        """Return the cost of one more chunk; next to a selected chunk it needs no link of its own."""
        return self.costs[at] + self._link_tokens * (1 - (at - 1 in self.chosen) - (at + 1 in self.chosen))

    def select_affordable(self, places: Iterable[int], budget: int) -> int:
        """Select chunks in this order while they are affordable; return the remaining budget."""
        for at in places:
            price = self.price(at) if at not in self.chosen else budget + 1
            if price <= budget:
                self.chosen.add(at)
                budget -= price
        return budget

    @property
    def spent(self) -> int:
        """Cost of the selected chunks."""
        links = self._link_tokens * len(list(_runs(sorted(self.chosen))))
        return sum(self.costs[at] for at in self.chosen) + links

    def rank_chunks(self) -> list[int]:
        """Return the relevant chunks, best first."""
        worth = _MIN_RELATIVE_SCORE * max(self.scores, default=0.0)
        places = [at for at, score in enumerate(self.scores) if score and score >= worth]
        return sorted(places, key=lambda at: -self.scores[at])

    def leading_chunks(self) -> Iterator[int]:
        """Yield the chunks from the top while each preceding one was selected."""
        for at in range(len(self.chunks)):
            if at and at - 1 not in self.chosen:
                return
            yield at

    def neighbors_of(self, at: int) -> list[int]:
        """Return the neighbors of a chunk in its section."""
        near = [one for one in (at + 1, at - 1) if 0 <= one < len(self.chunks)]
        return [one for one in near if self.chunks[one].headings == self.chunks[at].headings]

    def excerpts(self, query: Question) -> list[Excerpt]:
        """Return the selected chunks as excerpts, with adjacent ones joined."""
        if not self.chosen:
            return []
        plain = VisibleText(self.markdown)
        code = find_atomic_blocks(self.markdown, len(self.markdown))
        term_weights = plain.weigh_terms(query.words)
        return [self._excerpt(run, plain, code, term_weights) for run in _runs(sorted(self.chosen))]

    def _excerpt(
        self, run: list[int], plain: VisibleText, code: list[AtomicBlock], term_weights: Mapping[str, float]
    ) -> Excerpt:
        first, last = self.chunks[run[0]], self.chunks[run[-1]]
        at = max(run, key=lambda at: self.scores[at])
        return Excerpt(
            text=_complete_excerpt(self.markdown, first.start, last.end, code),
            start=first.start,
            score=self.scores[at],
            heading=" > ".join(first.headings[-_HEADINGS_SHOWN:]),
            end=last.end,
            fragment=build_text_directive(plain, self.chunks[at].start, self.chunks[at].end, term_weights),
        )


def _select_chunks(pages: Sequence[_Page], budget: int, min_page_share: float) -> None:
    for page in pages:
        page.chosen.clear()
    if sum(page.whole_cost for page in pages) <= budget:
        for page in pages:
            page.chosen.update(range(len(page.chunks)))
        return
    floor, left = round(min_page_share * budget / len(pages)), budget
    for page in pages:
        left = page.select_affordable(page.rank_chunks()[:1], left)
    for page in pages:
        allowed = max(0, min(left, floor - page.spent))
        left -= allowed - page.select_affordable(page.rank_chunks(), allowed)
    ranked = sorted(
        ((score, page, at) for page in pages for at, score in enumerate(page.scores) if score),
        key=lambda offer: -offer[0],
    )
    top = ranked[0][0] if ranked else 0.0
    for score, page, at in ranked:
        if score >= _MIN_RELATIVE_SCORE * top:
            left = page.select_affordable((at,), left)
    for score, page, at in ranked:
        if score >= _MIN_CONTEXT_SCORE * top and at in page.chosen:
            left = page.select_affordable(page.neighbors_of(at), left)
    for page in pages:
        left = page.select_affordable((at for at in range(len(page.chunks)) if page.price(at) <= 0), left)
    empty_pages = [page for page in pages if not page.chosen]
    for remaining, page in zip(range(len(empty_pages), 0, -1), empty_pages, strict=True):
        left -= left // remaining - page.select_affordable(page.leading_chunks(), left // remaining)


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for place in places:
        if run and place != run[-1] + 1:
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _complete_excerpt(markdown: str, start: int, end: int, code: Sequence[AtomicBlock]) -> str:
    """Return a part of the text as valid Markdown, with table head and code fences added."""
    text = markdown[start:end].strip("\n").rstrip()
    for fence in code:
        if fence.start < start < fence.end:
            text = fence.opening + text
        if fence.start < end < fence.end:
            text = f"{text}\n{fence.closing}"
    if start and markdown[start - 1] == "\n" and not any(fence.start < start < fence.end for fence in code):
        text = find_table_head(markdown, start) + text
    return text


@dataclass(frozen=True, slots=True)
class PassageSelection:
    """Excerpts of each text, and for copies the index of the original text."""

    excerpts: tuple[tuple[Excerpt, ...], ...]
    same_as: tuple[int | None, ...]


def select_distinct_passages(
    texts: Sequence[str],
    question: str,
    budget: int,
    min_page_share: float,
    once: bool,
    style: PassageStyle = USUAL_STYLE,
) -> PassageSelection:
    """Return the excerpts of some Markdown texts within a token budget.

    With `once`, copies of an earlier text get no excerpts. `min_page_share` is the minimum of each text as part of an
    equal share.
    """
    same_as = find_near_copies(texts)
    distinct = [text for text, earlier in zip(texts, same_as, strict=True) if earlier is None or not once]
    chosen = iter(select_passages(distinct, question, budget, min_page_share, style))
    excerpts = (tuple(next(chosen)) if earlier is None or not once else () for earlier in same_as)
    return PassageSelection(tuple(excerpts), tuple(same_as))


_SHINGLE_WORDS = 5
"""Words of a shingle. Runs of five words are rarely equal by chance."""
_MIN_SIMILARITY = 0.7
"""Minimum Jaccard similarity of the shingles of two near copies."""
_MIN_CONTAINMENT = 0.85
"""Minimum share of the shorter text's shingles in the longer text, if one is a part of the other: a shortened story, or
the same story with boxes of another site."""
_MIN_SHINGLES = 40
"""Shingles. Shorter texts must be equal, as they contain too little to compare."""
_MAX_WORDS = 20_000
"""Words of each text that are compared."""


def find_near_copies(texts: Sequence[str]) -> list[int | None]:
    """Return for each text the index of the first text of which it is a near copy, or None.

    On 1,100,000 pairs of saved pages the rule reports seven: five are one page under two URLs, one is two lists of one
    shop that share four fifths of their goods, one a product beside the list that repeats it.

    A few texts are compared pairwise on all their shingles. Sketches (MinHash, simhash) would save nothing here, and
    estimate what can be counted.
    """
    sets = [_shingles(text) for text in texts]
    originals: list[int | None] = []
    for place, shingles in enumerate(sets):
        earlier = (other for other in range(place) if originals[other] is None)
        originals.append(next((other for other in earlier if _are_near_copies(sets[other], shingles)), None))
    return originals


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = split_markdown_terms(text)[:_MAX_WORDS]
    return frozenset(zip(*(words[offset:] for offset in range(_SHINGLE_WORDS)), strict=False))


def _are_near_copies(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    shorter = min(len(one), len(other))
    if shorter < _MIN_SHINGLES:
        return bool(shorter) and one == other
    shared = len(one & other)
    return shared >= _MIN_CONTAINMENT * shorter or shared >= _MIN_SIMILARITY * (len(one) + len(other) - shared)
