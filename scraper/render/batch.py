"""The answer of `fetch_batch`: every page in the order asked for, failures among them, within one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scraper.errors import ScraperError
from scraper.extract import tokens
from scraper.extract.characters import line
from scraper.model import Reading
from scraper.render import errors
from scraper.render.fetch import BODY_BUDGET, characters_for, header, page_object, piece_of, sealed_page
from scraper.render.paging import Cut, cut
from scraper.render.sealed import EXPLANATION

__all__ = ["Item", "as_json", "as_markdown"]

RULE = "\n\n---\n\n"

_MAX_URL = 200
_MAX_ERROR = 500
_HEADER_TOKENS = 90
"""A page's heading, header and border, measured on addresses of common length."""

_JSON_TOKENS = 150
"""An object's names and facts."""


@dataclass(frozen=True, slots=True)
class Item:
    """One URL of a batch and what became of it."""

    url: str
    outcome: Reading | ScraperError


def as_markdown(
    items: Sequence[Item],
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

    def within(text_budget: int) -> str:
        pieces = _pieces(items, text_budget, characters_for(budget))
        sections = [
            _section(number, item, piece, region, now, again)
            for number, (item, piece) in enumerate(zip(items, pieces, strict=True), start=1)
        ]
        return RULE.join([opening, *sections])

    text_budget = budget - _HEADER_TOKENS * len(items)
    answer = within(text_budget)
    # Addresses and titles of uncommon length: what they take is taken from the texts.
    excess = tokens.estimate(answer) - budget
    return within(max(0, text_budget - excess)) if excess > 0 else answer


def as_json(items: Sequence[Item], *, budget: int = BODY_BUDGET) -> list[dict[str, object]]:
    """An object for each URL in order; `error` is null where the page was read."""
    pieces = _pieces(items, budget - _JSON_TOKENS * len(items), characters_for(budget))
    return [_object(item, piece) for item, piece in zip(items, pieces, strict=True)]


def _section(
    number: int, item: Item, piece: Cut | None, region: str, now: datetime | None, again: str
) -> str:
    heading = f"## {number}. {line(item.url, _MAX_URL)}"
    if isinstance(item.outcome, ScraperError):
        return f"{heading}\n\nError: {line(errors.sentence(item.outcome), _MAX_ERROR)}"
    if piece is None:
        piece = piece_of(item.outcome.document, 0, 0)
    parts = [
        heading,
        "\n".join(header(item.outcome, piece, now)),
        sealed_page(item.outcome.document, piece, region),
    ]
    if piece.next_start is not None:
        parts.append(f"Cut here. To go on, call fetch on this URL with start={piece.end}{again}.")
    return "\n\n".join(parts)


def _object(item: Item, piece: Cut | None) -> dict[str, object]:
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


def _pieces(items: Sequence[Item], budget: int, characters: int) -> list[Cut | None]:
    """The beginning of each page that was read, the budget of tokens and of characters shared among them."""
    readings = [item.outcome for item in items if isinstance(item.outcome, Reading)]
    texts = [reading.document.markdown for reading in readings]
    tokens_each = _shares([tokens.estimate(text) + 1 for text in texts], max(0, budget))
    characters_each = _shares([len(text) for text in texts], characters)
    cuts = iter(
        cut(text, 0, min(tokens.prefix_within(text, 0, share), characters), keep_whole=0)
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
