"""The answer of `fetch_batch`: every page in the order asked for, failures among them, within one budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from scraper.errors import ScraperError
from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import Reading
from scraper.render import errors
from scraper.render.fetch import (
    BODY_BUDGET,
    MAX_FACT,
    MAX_URL,
    characters_for,
    header,
    page_object,
    piece_of,
    sealed_page,
)
from scraper.render.json_truncation import compact
from scraper.render.paging import TextCut, cut
from scraper.render.untrusted_region import EXPLANATION

T = TypeVar("T")

RULE = "\n\n---\n\n"

_MAX_URL = 200
_MAX_ERROR = 500
_HEADER_TOKENS = 90
"""A page's heading, header and border, measured on addresses of common length."""

_JSON_TOKENS = 150
"""An object's names and facts."""
_WHOLE = 1.2
"""All that an answer may have, against the budget of its texts."""
_FACT_CHARS = (10_000, 2_000, 500, 160, 60)
"""Addresses, titles and errors of fifty pages can take more than an answer may: they are cut until it fits.
The first leaves everything as it is."""
_LEAST_TEXT = 0.5
"""Of the budget, for the texts: rather than less, facts are cut shorter."""
_UNCUT = frozenset({"content", "notice", "retrieved_at"})


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One URL of a batch and what became of it."""

    url: str
    outcome: Reading | ScraperError


def as_markdown(
    items: Sequence[BatchItem],
    *,
    region: str,
    render: str = "auto",
    now: datetime | None = None,
    budget: int = BODY_BUDGET,
) -> str:
    """A section for each URL, separated by rules; a failed one is a note. `render`: as it was asked for."""
    again = "" if render == "auto" else f' and render="{render}"'
    read = sum(isinstance(item.outcome, Reading) for item in items)
    opening = f"{read} of {len(items)} pages read. {EXPLANATION.format(region=region)}"

    def within(tokens_left: int, chars: int) -> tuple[str, int]:
        pieces = _pieces(items, tokens_left, characters_for(budget))
        sections = [
            _section(number, item, piece, region, now, again, chars)
            for number, (item, piece) in enumerate(zip(items, pieces, strict=True), start=1)
        ]
        answer = RULE.join([opening, *sections])
        return answer, token_estimate.estimate(answer) - budget

    return _fitted(within, budget - _HEADER_TOKENS * len(items))


def as_json(items: Sequence[BatchItem], *, budget: int = BODY_BUDGET) -> list[dict[str, object]]:
    """An object for each URL in order; `error` is null where the page was read."""

    def within(tokens_left: int, chars: int) -> tuple[list[dict[str, object]], int]:
        pieces = _pieces(items, tokens_left, characters_for(budget))
        objects = [
            _with_short_facts(_object(item, piece), chars) for item, piece in zip(items, pieces, strict=True)
        ]
        return objects, round(token_estimate.estimate(compact(objects)) - _WHOLE * budget)

    return _fitted(within, budget - _JSON_TOKENS * len(items))


def _fitted(within: Callable[[int, int], tuple[T, int]], text_budget: int) -> T:
    """The richest answer that fits: `within` makes one of a budget for texts and a length for facts, and says
    by how much it is too large."""
    text_budget = max(0, text_budget)
    for chars in _FACT_CHARS:
        answer, excess = within(text_budget, chars)
        spared = 1.0 if chars == _FACT_CHARS[-1] else 1 - _LEAST_TEXT
        # What uncommon addresses and titles take is taken from the texts.
        if 0 < excess <= spared * text_budget or chars == _FACT_CHARS[-1]:
            answer, excess = within(max(0, text_budget - max(0, excess)), chars)
        if excess <= 0:
            break
    return answer


def _section(
    number: int,
    item: BatchItem,
    piece: TextCut | None,
    region: str,
    now: datetime | None,
    again: str,
    chars: int,
) -> str:
    heading = f"## {number}. {clean_line(item.url, min(chars, _MAX_URL))}"
    if isinstance(item.outcome, ScraperError):
        return f"{heading}\n\nError: {clean_line(errors.sentence(item.outcome), min(chars, _MAX_ERROR))}"
    if piece is None:
        piece = piece_of(item.outcome.document, 0, 0)
    url_chars, fact_chars = min(chars, MAX_URL), min(chars, MAX_FACT)
    parts = [
        heading,
        "\n".join(header(item.outcome, piece, now, url_chars=url_chars, fact_chars=fact_chars)),
        sealed_page(item.outcome.document, piece, region, fact_chars=fact_chars),
    ]
    if piece.next_start is not None:
        parts.append(f"Cut here. To go on, call fetch on this URL with start={piece.end}{again}.")
    return "\n\n".join(parts)


def _object(item: BatchItem, piece: TextCut | None) -> dict[str, object]:
    if isinstance(item.outcome, ScraperError) or piece is None:
        blank = dict.fromkeys(
            (
                "url",
                "title",
                "content",
                "method",
                "truncated",
                "tokens_estimated",
                "author",
                "published_date",
                "sitename",
            )
        )
        failure = errors.as_object(item.outcome) if isinstance(item.outcome, ScraperError) else {}
        return {**blank, "url": item.url, "content": "", "truncated": False, "tokens_estimated": 0, **failure}
    return {**page_object(item.outcome, piece), "error": None}


def _with_short_facts(page: dict[str, object], chars: int) -> dict[str, object]:
    return {name: value if name in _UNCUT else _short(value, chars) for name, value in page.items()}


def _short(value: object, chars: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= chars else value[: chars - 1] + "…"
    return [_short(part, chars) for part in value] if isinstance(value, list) else value


def _pieces(items: Sequence[BatchItem], budget: int, characters: int) -> list[TextCut | None]:
    """The beginning of each page that was read, the budget of tokens and of characters shared among them."""
    readings = [item.outcome for item in items if isinstance(item.outcome, Reading)]
    texts = [reading.document.markdown for reading in readings]
    tokens_each = _shares([token_estimate.estimate(text) + 1 for text in texts], max(0, budget))
    characters_each = _shares([len(text) for text in texts], characters)
    cuts = iter(
        cut(text, 0, min(token_estimate.fit_prefix(text, 0, share), characters), keep_whole=0)
        for text, share, characters in zip(texts, tokens_each, characters_each, strict=True)
    )
    return [next(cuts) if isinstance(item.outcome, Reading) else None for item in items]


def _shares(needs: list[int], budget: int) -> list[int]:
    """Equal parts of a budget; what the small ones leave goes to the large ones."""
    shares = [0] * len(needs)
    left = budget
    for rank, place in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        shares[place] = min(needs[place], left // (len(needs) - rank))
        left -= shares[place]
    return shares
