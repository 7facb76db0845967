"""Select the passages of pages that answer a question within a token budget.

The best sentences are joined where they are adjacent. Near copies of a page count as one source.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scraper.retrieval.model import Excerpt
from scraper.retrieval.sentences import split_sentences
from scraper.retrieval.text_fragments import VisibleText, build_text_directive
from scraper.text import token_estimate
from scraper.text.likeness import find_near_duplicates
from scraper.text.markdown_structure import AtomicBlock, find_atomic_blocks, find_table_head
from scraper.text.sanitize import name_key
from scraper.text.terms import is_unspaced, split_terms

if TYPE_CHECKING:
    from scraper.retrieval.sentence_score import Question

LINK_TOKENS = 30
"""Tokens of an excerpt in addition to its text: heading, link and gap mark."""
QUOTE_TOKENS = 5
"""The same for an excerpt without a link."""

MIN_PAGE_SHARE = 0.25
"""Share of an equal part of the budget that each page gets if it has relevant sentences, and at least its best one.

The rest goes to the best sentences of all pages. Of 200 questions to three pages with 900 tokens together, the passage
was shown for 96 % from 0 to 0.5, 95.5 % at 0.75, 92 % with equal shares.
"""

_MIN_CONTEXT_SCORE = 0.3
"""Score relative to the best one from which a sentence is shown with its neighbors, if the budget allows."""

_CONTEXT_SENTENCES = 2
"""Neighbors shown on each side. An answer may name its subject by a pronoun only. The second one raised xquad from .978
to .985 and policies from .500 to .504 for 8 % more tokens (270 questions at 500 tokens). A fourth added nothing."""

_MIN_SCORE = 0.002
"""Score relative to the best one from which a sentence is relevant: .93 to .99 of the answers have it
(`benchmarks.train_passages`). With .02, two of 60 answers more are lost (`benchmarks.research`)."""

_PRICE_POWER = 0.5
"""Power of the price by which scores are divided. Several short sentences are better than one long one. From 0 to .6,
answers to articles and policies at 300 tokens rose from .803 to .810 and from .370 to .381."""

_SECTION_SENTENCES = 3
_SECTION_SCORE = 2.0
"""Number and score of the first sentences of a section whose heading is the question; the best other sentence has 1."""

_MAX_HEADINGS = 2
_MIN_CUT_TOKENS = 40
"""Tokens reserved for the best sentence of each page, or for its beginning if it is longer: about 25 words."""
_RESERVED_SHARES = 1.5
"""Equal share of a page in such parts, below which nothing is reserved. With three pages and 300 tokens, 50 of 113
answers were shown with a reserve, and 58 without."""
_MAX_WORD = 60
_PART_STEPS = 4
"""Parts of a long sentence that are compared overlap by three quarters, so its words stand near the beginning."""
_MAX_ROUNDS = 4
"""Rounds of selection. Table heads and code fences are known after one; the next reserves their excess."""

MAX_CHARACTERS = 400_000
"""Characters of one page; the rest of a longer one is ignored."""


def select_passages(
    texts: Sequence[str],
    question: str,
    budget: int,
    min_page_share: float = MIN_PAGE_SHARE,
    link_tokens: int = LINK_TOKENS,
) -> list[list[Excerpt]]:
    """Return the excerpts of each Markdown text in its order, together within the budget of tokens.

    `|` separates wordings of the question. `link_tokens` is the cost of an excerpt in addition to its text.

    A text without a word of the question returns its beginning, if any budget is left.
    """
    # Only the workers need it and numpy, which takes a tenth of the start of a server or command.
    from scraper.retrieval.sentence_score import score_sentences, split_wordings

    if not texts:
        return []
    wordings = split_wordings(question)
    pages = [_Page(text[:MAX_CHARACTERS], link_tokens) for text in texts]
    scores = score_sentences(wordings, [page.markdown for page in pages], [page.sentences for page in pages])
    for page, row in zip(pages, scores, strict=True):
        page.scores = row
        page.raise_named_section({name_key(wording) for wording in question.split("|")} - {""})
    allowance = budget
    for _ in range(_MAX_ROUNDS):
        _select_sentences(pages, allowance, min_page_share)
        selected = [page.excerpts(wordings) for page in pages]
        costs = (token_estimate.estimate(excerpt.text) + link_tokens for excerpts in selected for excerpt in excerpts)
        excess = sum(costs) - budget
        if excess <= 0:
            return selected if any(selected) else _cut_best(pages, selected, budget, wordings)
        allowance -= excess
    return _cut_best(pages, [[] for _ in pages], budget, wordings)


class _Page:
    def __init__(self, markdown: str, link_tokens: int) -> None:
        self.markdown = markdown
        self.link_tokens = link_tokens
        self.sentences = split_sentences(markdown)
        self._costs: dict[int, int] = {}
        self.scores: list[float] = []
        self.selected: set[int] = set()
        self.cut_tokens = 0
        """Tokens for the beginning of its best sentence, if none of its relevant sentences is affordable."""
        self._ranked: list[int] | None = None

    def raise_named_section(self, names: set[str]) -> None:
        """Raise the scores of the first sentences below a heading that is the question itself."""
        below = [at for at, one in enumerate(self.sentences) if one.headings and name_key(one.headings[-1]) in names]
        for at in below[:_SECTION_SENTENCES]:
            self.scores[at] = max(self.scores[at], _SECTION_SCORE)

    def _cost(self, at: int) -> int:
        if at not in self._costs:
            sentence = self.sentences[at]
            self._costs[at] = token_estimate.estimate(self.markdown[sentence.start : sentence.end]) + 1
        return self._costs[at]

    def price(self, at: int) -> int:
        """Return the cost of one more sentence; next to a selected one it needs no link of its own."""
        return self._cost(at) + self.link_tokens * (1 - (at - 1 in self.selected) - (at + 1 in self.selected))

    def worth(self, at: int) -> float:
        """Return the score of a sentence relative to its price."""
        return self.scores[at] / float((self._cost(at) + self.link_tokens) ** _PRICE_POWER)

    def select_affordable(self, places: Iterable[int], budget: int) -> int:
        """Select sentences in this order while they are affordable; return the remaining budget."""
        for at in places:
            price = self.price(at) if at not in self.selected else budget + 1
            if price <= budget:
                self.selected.add(at)
                budget -= price
        return budget

    def free_gaps(self) -> list[int]:
        """Return the sentences between two selected ones that cost nothing, since they save a separator."""
        gaps = [at + 1 for at in sorted(self.selected) if at + 2 in self.selected and at + 1 not in self.selected]
        return [at for at in gaps if self.price(at) <= 0]

    def complete(self, budget: int) -> int:
        """Select all if the rest costs no more than the link that it saves; return the remaining budget."""
        rest = token_estimate.estimate(self.markdown) + self.link_tokens - self.used_tokens
        if self.selected and rest <= min(self.link_tokens, budget):
            self.selected.update(range(len(self.sentences)))
            return budget - max(0, rest)
        return budget

    @property
    def used_tokens(self) -> int:
        """Cost of the selected sentences."""
        links = self.link_tokens * len(_runs(sorted(self.selected)))
        return sum(map(self._cost, self.selected)) + links

    def rank_sentences(self) -> list[int]:
        """Return the relevant sentences, best first."""
        if self._ranked is None:
            least = _MIN_SCORE * max(self.scores, default=0.0)
            places = [at for at, score in enumerate(self.scores) if score and score >= least]
            self._ranked = sorted(places, key=lambda at: -self.worth(at))
        return self._ranked

    def leading_sentences(self) -> Iterator[int]:
        """Yield the sentences from the top while each preceding one was selected."""
        for at in range(len(self.sentences)):
            if at and at - 1 not in self.selected:
                return
            yield at

    def neighbors_of(self, at: int, distance: int) -> list[int]:
        """Return the sentences at a distance in the same section, if those between are selected."""
        near = [
            one
            for one, step in ((at + distance, 1), (at - distance, -1))
            if 0 <= one < len(self.sentences) and all(place in self.selected for place in range(at, one, step))
        ]
        return [one for one in near if self.sentences[one].headings == self.sentences[at].headings]

    def excerpts(self, wordings: "Sequence[Question]") -> list[Excerpt]:
        """Return the selected sentences as excerpts, with adjacent ones joined, or the beginning of the best one."""
        if not self.selected:
            return self.cut_best(self.cut_tokens, wordings) if self.cut_tokens else []
        plain = VisibleText(self.markdown)
        code = find_atomic_blocks(self.markdown, len(self.markdown))
        words = {word for wording in wordings for word in wording.content or wording.terms}
        term_weights = plain.weigh_terms(sorted(words))
        return [self._excerpt(run, plain, code, term_weights) for run in _runs(sorted(self.selected))]

    def cut_best(self, budget: int, wordings: "Sequence[Question]") -> list[Excerpt]:
        """Return a part of the best sentence, cut at spaces; nothing if the budget has no room for it.

        It begins with the line, or shortly before the words, that have most words of the question.
        """
        at = max(range(len(self.sentences)), key=lambda at: self.scores[at])
        start, until = self.sentences[at].text_start, self.sentences[at].end
        words = {word for wording in wordings for word in wording.content or wording.terms}
        code = find_atomic_blocks(self.markdown, len(self.markdown))
        fence = next((one for one in code if one.start <= start < one.end), None)
        if fence and start == fence.start:
            start = self.markdown.find("\n", start, until) + 1 or start
        around = token_estimate.estimate(_complete_excerpt(self.markdown, start, start + 1, code)) if fence else 0
        room = budget - self.link_tokens - around
        length = token_estimate.fit_prefix(self.markdown[:until], start, room)
        if start + length < until:
            lines = (at for at in range(start + 1, until) if self.markdown[at - 1] == "\n")
            step = max(1, length // _PART_STEPS)
            parts = (_word_start(self.markdown, at) for at in range(start + step, until - length // 2, step))
            start = _find_best_part(self.markdown, [start, *(lines if fence else parts)], length, words)
            length = token_estimate.fit_prefix(self.markdown[:until], start, room)
        end = start + length
        pause = self.markdown.rfind("\n" if fence else " ", start + length // 2, end)
        end = pause if pause > 0 and end < until else end
        text = self.markdown[start:end].rstrip()
        if not text:
            return []
        whole = _complete_excerpt(self.markdown, start, start + len(text), code) if fence else text
        return [Excerpt(whole, start, self.scores[at], end=start + len(text))]

    def _excerpt(
        self, run: list[int], plain: VisibleText, code: list[AtomicBlock], term_weights: Mapping[str, float]
    ) -> Excerpt:
        first, last = self.sentences[run[0]], self.sentences[run[-1]]
        at = max(run, key=lambda at: self.scores[at])
        best = self.sentences[at]
        return Excerpt(
            text=_complete_excerpt(self.markdown, first.start, last.end, code),
            start=first.start,
            score=self.scores[at],
            heading=" > ".join(first.outer_headings[-_MAX_HEADINGS:]),
            end=last.end,
            fragment=build_text_directive(plain, best.text_start, best.end, term_weights),
        )


def _select_sentences(pages: Sequence[_Page], budget: int, min_page_share: float) -> None:
    for page in pages:
        page.selected.clear()
        page.cut_tokens = 0
    floor, left = round(min_page_share * budget / len(pages)), _select_best(pages, budget)
    for page in pages:
        allowed = max(0, min(left, floor - page.used_tokens))
        left -= allowed - page.select_affordable(page.rank_sentences(), allowed)
    ranked = sorted(
        ((page.worth(at), page.scores[at], page, at) for page in pages for at in page.rank_sentences()),
        key=lambda offer: -offer[0],
    )
    for _, score, page, at in ranked:
        if score >= _MIN_SCORE:
            left = page.select_affordable((at,), left)
    context = [(page, at) for _, score, page, at in ranked if score >= _MIN_CONTEXT_SCORE]
    for distance in range(1, _CONTEXT_SENTENCES + 1):
        for page, at in context:
            if at in page.selected:
                left = page.select_affordable(page.neighbors_of(at, distance), left)
    for page in pages:
        left = page.select_affordable(page.free_gaps(), left)
        left = page.complete(left)
    _fill_empty_pages(pages, left)


def _fill_empty_pages(pages: Sequence[_Page], left: int) -> None:
    """Select the beginning of each page from which nothing was selected."""
    # A relevant sentence that is too long is cut, not replaced by the beginning of its page.
    is_cut = not any(page.selected for page in pages) and any(page.rank_sentences() for page in pages)
    empty_pages = [page for page in pages if not page.selected and not page.cut_tokens and not is_cut]
    for remaining, page in zip(range(len(empty_pages), 0, -1), empty_pages, strict=True):
        left -= left // remaining - page.select_affordable(page.leading_sentences(), left // remaining)


def _select_best(pages: Sequence[_Page], budget: int) -> int:
    """Select the best affordable sentence of each page, or reserve `cut_tokens` for it; return the remaining budget."""
    waiting = [page for page in pages if page.rank_sentences()]
    left = budget
    for count, page in zip(range(len(waiting), 0, -1), waiting, strict=True):
        least = page.link_tokens + _MIN_CUT_TOKENS
        if budget < _RESERVED_SHARES * least * len(pages):
            left = page.select_affordable(page.rank_sentences()[:1], left)
            continue
        allowed = left - (count - 1) * least
        at = next((at for at in page.rank_sentences() if page.price(at) <= allowed), None)
        if at is None:
            page.cut_tokens = left // count
            left -= page.cut_tokens
        else:
            left = page.select_affordable((at,), left)
    return left


def _cut_best(
    pages: Sequence[_Page], selected: list[list[Excerpt]], budget: int, wordings: "Sequence[Question]"
) -> list[list[Excerpt]]:
    """Return the beginning of the best sentence of all pages if the budget is too small for more."""
    best = max((page for page in pages if page.sentences), key=lambda page: max(page.scores), default=None)
    if best is not None:
        selected[list(pages).index(best)] = best.cut_best(budget, wordings)
    return selected


def _word_start(markdown: str, at: int) -> int:
    """Return where the next word begins from an offset on, or the offset in scripts without spaces and long strings."""
    start = next((one for one in range(at, at + _MAX_WORD) if not markdown[one - 1 : one + 1].isalnum()), at)
    return at if is_unspaced(markdown[at : at + 1]) else start


def _find_best_part(markdown: str, starts: Sequence[int], length: int, words: set[str]) -> int:
    """Return the start of the first part of `length` characters with most words of the question, near its words."""
    counts = [len(words.intersection(split_terms(markdown[at : at + length]))) for at in starts]
    best = counts.index(max(counts))
    while best + 1 < len(counts) and counts[best] and counts[best + 1] == counts[best]:
        best += 1
    return starts[best]


def _runs(places: Sequence[int]) -> list[list[int]]:
    groups = itertools.groupby(enumerate(places), key=lambda one: one[1] - one[0])
    return [[place for _, place in group] for _, group in groups]


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
    """Excerpts of each text, and the index of the earlier text of which it is a near copy, or None."""

    excerpts: tuple[tuple[Excerpt, ...], ...]
    same_as: tuple[int | None, ...]


def select_distinct_passages(
    texts: Sequence[str], question: str, budget: int, min_page_share: float, once: bool, link_tokens: int = LINK_TOKENS
) -> PassageSelection:
    """Return the excerpts of some Markdown texts within a token budget.

    With `once`, near copies of an earlier text get no excerpts. `min_page_share` is the minimum of each text as part of
    an equal share. The other arguments are those of `select_passages`.
    """
    same_as = find_near_duplicates(texts)
    distinct = [text for text, earlier in zip(texts, same_as, strict=True) if earlier is None or not once]
    selected = iter(select_passages(distinct, question, budget, min_page_share, link_tokens))
    excerpts = (tuple(next(selected)) if earlier is None or not once else () for earlier in same_as)
    return PassageSelection(tuple(excerpts), tuple(same_as))
