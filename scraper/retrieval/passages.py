"""What of some pages bears on a question, within a budget of tokens: the best pieces, joined where near."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scraper.extract.text import token_estimate
from scraper.extract.text.markdown_structure import AtomicBlock, find_atomic_blocks, find_table_head
from scraper.extract.text.terms import split_markdown_terms
from scraper.model import Document, Excerpt
from scraper.retrieval import bm25
from scraper.retrieval.bm25 import ChunkTerms, Question
from scraper.retrieval.chunks import split_chunks
from scraper.retrieval.text_fragments import VisibleText, build_text_directive

LINK_TOKENS = 60
"""What an excerpt costs beside its text: its heading, its link, the mark of a gap."""

LEAST_SHARE = 0.25
"""Of an equal share of the budget each page gets this much, as far as it has anything to say, and at least
its best piece; the rest goes to the best pieces wherever they stand. Of 200 questions to three pages with 900
tokens together, the passage was shown for 96 % from 0 to 0.5, 95.5 % at 0.75, 92 % with equal shares."""

_WORTH = 0.1
"""A piece that scores less than this part of the best one does not bear on the question: at 2,000 tokens a
third of the tokens is saved so, for 2 hits in 1,000."""

_CONTEXT_WORTH = 0.6
"""A piece that scores this part of the best one is shown with its neighbours, where the budget allows."""

_HEADINGS_SHOWN = 2
_TRIES = 4
"""Heads of tables and borders of code are known only when a choice is made; what they take beyond the budget
is kept back at the next try."""

MAX_CHARACTERS = 400_000
"""Of one page; the rest of a longer one is not looked at."""


def select_from_page(document: Document, question: str, budget: int) -> list[Excerpt]:
    """The excerpts of one page, in its order."""
    return select_passages([document.markdown], question, budget)[0]


def select_passages(
    texts: Sequence[str], question: str, budget: int, least_share: float = LEAST_SHARE
) -> list[list[Excerpt]]:
    """The excerpts of each Markdown text, in its order; all together cost at most the budget.

    Texts that fit together are given whole. One in which nothing of the question stands gives its beginning.
    """
    asked = Question.of(question)
    pages = [_Page(text[:MAX_CHARACTERS], asked) for text in texts]
    for page, row in zip(pages, bm25.score_chunks(asked, [page.pieces for page in pages]), strict=True):
        page.scores = row
    room = budget
    for _ in range(_TRIES):
        _choose(pages, room, least_share)
        chosen = [page.excerpts(asked) for page in pages]
        excess = sum(_cost(excerpt) for excerpts in chosen for excerpt in excerpts) - budget
        if excess <= 0:
            return chosen
        room -= excess
    return [[] for _ in pages]


class _Page:
    """One text, its pieces and which of them are chosen."""

    def __init__(self, markdown: str, asked: Question) -> None:
        self.markdown = markdown
        self.units = split_chunks(markdown)
        texts = [markdown[unit.start : unit.end] for unit in self.units]
        self.pieces = [
            ChunkTerms.of(asked, text, unit.headings) for text, unit in zip(texts, self.units, strict=True)
        ]
        self.costs = [token_estimate.estimate(text) + 1 for text in texts]
        self.scores: list[float] = []
        self.chosen: set[int] = set()

    @property
    def whole_cost(self) -> int:
        """What all of it would take."""
        return sum(self.costs) + LINK_TOKENS

    def price(self, at: int) -> int:
        """What one more piece would take; beside a chosen one it needs no link of its own."""
        return self.costs[at] + LINK_TOKENS * (1 - (at - 1 in self.chosen) - (at + 1 in self.chosen))

    def buy(self, places: Iterable[int], budget: int) -> int:
        """Choose in this order what is affordable; what is left."""
        for at in places:
            price = self.price(at) if at not in self.chosen else budget + 1
            if price <= budget:
                self.chosen.add(at)
                budget -= price
        return budget

    @property
    def spent(self) -> int:
        """What the chosen pieces take."""
        return sum(self.costs[at] for at in self.chosen) + LINK_TOKENS * len(list(_runs(sorted(self.chosen))))

    def by_score(self) -> list[int]:
        """The pieces that bear on the question, best first."""
        worth = _WORTH * max(self.scores, default=0.0)
        places = [at for at, score in enumerate(self.scores) if score and score >= worth]
        return sorted(places, key=lambda at: -self.scores[at])

    def beginning(self) -> Iterator[int]:
        """The pieces from the top, as long as each can be bought after the one before."""
        for at in range(len(self.units)):
            if at and at - 1 not in self.chosen:
                return
            yield at

    def around(self, at: int) -> list[int]:
        """The neighbours of a piece in its section."""
        headings = self.units[at].headings
        return [
            near
            for near in (at + 1, at - 1)
            if 0 <= near < len(self.units) and self.units[near].headings == headings
        ]

    def excerpts(self, asked: Question) -> list[Excerpt]:
        """What was chosen, joined where it touches."""
        if not self.chosen:
            return []
        plain = VisibleText(self.markdown)
        code = find_atomic_blocks(self.markdown, len(self.markdown))
        telling = plain.rarities(asked.words)
        return [self._excerpt(run, plain, code, telling) for run in _runs(sorted(self.chosen))]

    def _excerpt(
        self, run: list[int], plain: VisibleText, code: list[AtomicBlock], telling: Mapping[str, float]
    ) -> Excerpt:
        first, last = self.units[run[0]], self.units[run[-1]]
        select_from_page = max(run, key=lambda at: self.scores[at])
        return Excerpt(
            text=_standing_alone(self.markdown, first.start, last.end, code),
            start=first.start,
            score=self.scores[select_from_page],
            heading=" > ".join(first.headings[-_HEADINGS_SHOWN:]),
            end=last.end,
            fragment=build_text_directive(
                plain, self.units[select_from_page].start, self.units[select_from_page].end, telling
            ),
        )


def _cost(excerpt: Excerpt) -> int:
    return token_estimate.estimate(excerpt.text) + LINK_TOKENS


def _choose(pages: Sequence[_Page], budget: int, least_share: float) -> None:
    for page in pages:
        page.chosen.clear()
    if sum(page.whole_cost for page in pages) <= budget:
        for page in pages:
            page.chosen.update(range(len(page.units)))
        return
    floor, left = round(least_share * budget / len(pages)), budget
    for page in pages:
        left = page.buy(page.by_score()[:1], left)
    for page in pages:
        allowed = max(0, min(left, floor - page.spent))
        left -= allowed - page.buy(page.by_score(), allowed)
    ranked = sorted(
        ((score, page, at) for page in pages for at, score in enumerate(page.scores) if score),
        key=lambda offer: -offer[0],
    )
    top = ranked[0][0] if ranked else 0.0
    for score, page, at in ranked:
        if score >= _WORTH * top:
            left = page.buy((at,), left)
    for score, page, at in ranked:
        if score >= _CONTEXT_WORTH * top and at in page.chosen:
            left = page.buy(page.around(at), left)
    for page in pages:
        left = page.buy((at for at in range(len(page.units)) if page.price(at) <= 0), left)
    silent = [page for page in pages if not page.chosen]
    for waiting, page in zip(range(len(silent), 0, -1), silent, strict=True):
        left -= left // waiting - page.buy(page.beginning(), left // waiting)


def _runs(places: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for place in places:
        if run and place != run[-1] + 1:
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _standing_alone(markdown: str, start: int, end: int, code: Sequence[AtomicBlock]) -> str:
    """A part of the text with what it needs to be Markdown of its own: a table's head, the border of code."""
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
    """For each text its excerpts, and the place of an earlier one that it is a copy of."""

    excerpts: tuple[tuple[Excerpt, ...], ...]
    same_as: tuple[int | None, ...]


def select_distinct_passages(
    texts: Sequence[str], question: str, budget: int, least_share: float, once: bool
) -> PassageSelection:
    """The excerpts of some Markdown texts within a budget of tokens; `once`: of copies only the first's.

    `least_share`: what each text gets at least, as a part of an equal share.
    """
    same_as = find_near_copies(texts)
    asked = [text for text, earlier in zip(texts, same_as, strict=True) if earlier is None or not once]
    chosen = iter(select_passages(asked, question, budget, least_share))
    return PassageSelection(
        tuple(tuple(next(chosen)) if earlier is None or not once else () for earlier in same_as),
        tuple(same_as),
    )


_WORDS = 5
"""Words in a shingle; runs of five words are seldom shared by chance."""
_ALIKE = 0.7
"""Share of all shingles of two texts that both have, from which they are near copies."""
_CONTAINED = 0.85
"""Share of the shorter text's shingles from which it is a part of the longer one: the cut version of a story,
or the story with another site's boxes around it."""
_LEAST_SHINGLES = 40
"""Shorter texts have too little to be told apart by."""
_MAX_WORDS = 20_000
"""Compared at the most, of each text."""


def find_near_copies(texts: Sequence[str]) -> list[int | None]:
    """For each text the place of the first one that it is a near copy of; None: it is nobody's.

    On 1,100,000 pairs of saved pages the rule names seven: five are one page under two addresses, one is two
    lists of one shop that share four fifths of their goods, one a product beside the list that repeats it.

    A handful of texts is compared pair by pair on all their shingles: sketches (MinHash, simhash) would save
    nothing here, and estimate what can be counted.
    """
    sets = [_shingles(text) for text in texts]
    originals: list[int | None] = []
    for place, shingles in enumerate(sets):
        earlier = (other for other in range(place) if originals[other] is None)
        originals.append(next((other for other in earlier if _same(sets[other], shingles)), None))
    return originals


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = split_markdown_terms(text)[:_MAX_WORDS]
    return frozenset(zip(*(words[offset:] for offset in range(_WORDS)), strict=False))


def _same(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    shorter = min(len(one), len(other))
    if shorter < _LEAST_SHINGLES:
        return bool(shorter) and one == other
    shared = len(one & other)
    return shared >= _CONTAINED * shorter or shared >= _ALIKE * (len(one) + len(other) - shared)
