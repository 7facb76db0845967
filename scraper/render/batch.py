"""Render the answer of `fetch_batch`: all pages and errors in the order of the request, within one token budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from scraper.errors import ScraperError
from scraper.model import Reading
from scraper.render.json_truncation import compact_json
from scraper.render.page import BODY_BUDGET, MAX_FACT, characters_for, header, page_object, untrusted_page
from scraper.render.untrusted_text import MAX_DISPLAY_URL, display_url, error_object, error_sentence
from scraper.text import token_estimate
from scraper.text.markdown_structure import TextCut, cut_markdown
from scraper.text.sanitize import clean_line
from scraper.values.text import truncate

RULE = "\n\n---\n\n"
_ANSWER_RATIO = 1.2
"""Maximum size of an answer, relative to the budget of its texts."""
_MANY_PAGES = 10
_FACT_CHARS, _FEW_CHARS = 2_000, 60
"""Characters of URLs, titles and errors, for up to `_MANY_PAGES` and for more."""
_DROPPED = frozenset({"final_url", "language", "description", "page_type"})
"""Facts that are dropped for many pages: those of fifty pages take 1,500 tokens."""
_NO_PAGE = dict.fromkeys(
    "url title content method truncated tokens_estimated author published_date sitename final_url status language "
    "description page_type".split()
) | {"content": "", "truncated": False, "tokens_estimated": 0}


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One URL of a batch with its page or error."""

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
    """Return a section with text or error for each URL, in order. `render` is the requested render mode."""
    render_hint = "" if render == "auto" else f' and render="{render}"'
    read = sum(isinstance(item.outcome, Reading) for item in items)
    opening = f"{read} of {len(items)} pages read."

    chars = _fact_chars(items)

    def render_within(tokens_left: int) -> str:
        pieces = _pieces(items, tokens_left, characters_for(budget))
        sections = [
            _section(number, item, piece, region, now, render_hint, chars)
            for number, (item, piece) in enumerate(zip(items, pieces, strict=True), start=1)
        ]
        return RULE.join([opening, *sections])

    return render_within(max(0, budget - token_estimate.estimate(render_within(0))))


def as_json(items: Sequence[BatchItem], *, budget: int = BODY_BUDGET) -> list[dict[str, object]]:
    """Return an object for each URL in order; `error` is null if the page was read."""
    chars = _fact_chars(items)

    def render_within(tokens_left: int) -> list[dict[str, object]]:
        pieces = _pieces(items, tokens_left, characters_for(budget))
        rows = []
        for item, piece in zip(items, pieces, strict=True):
            if isinstance(item.outcome, ScraperError):
                row = failed_row(item.url, item.outcome)
            else:
                assert piece is not None
                row = {**page_object(item.outcome, piece), "error": None}
            rows.append(
                {
                    name: value if name in {"content", "notice", "retrieved_at"} else _shorten(value, chars)
                    for name, value in row.items()
                    if len(items) <= _MANY_PAGES or name not in _DROPPED
                }
            )
        return rows

    used = token_estimate.estimate(compact_json(render_within(0)))
    return render_within(max(0, round(_ANSWER_RATIO * budget) - used))


def _fact_chars(items: Sequence[BatchItem]) -> int:
    return _FACT_CHARS if len(items) <= _MANY_PAGES else _FEW_CHARS


def _section(
    number: int, item: BatchItem, piece: TextCut | None, region: str, now: datetime | None, render_hint: str, chars: int
) -> str:
    heading = f"## {number}. {display_url(item.url, chars=min(chars, MAX_DISPLAY_URL))}"
    if isinstance(item.outcome, ScraperError):
        return f"{heading}\n\nError: {clean_line(error_sentence(item.outcome), min(chars, 500))}"
    assert piece is not None
    url_chars, fact_chars = min(chars, MAX_DISPLAY_URL), min(chars, MAX_FACT)
    full_url_chars = chars if chars > MAX_DISPLAY_URL else 0
    text = untrusted_page(
        item.outcome, piece, region, url_chars=url_chars, full_url_chars=full_url_chars, fact_chars=fact_chars
    )
    lines = header(item.outcome, piece, now, url_chars=url_chars, fact_chars=fact_chars, title=heading)
    parts = ["\n".join([*lines, text])]
    if piece.next_start is not None:
        parts.append(f"Cut here. To go on, call fetch on this URL with start={piece.end}{render_hint}.")
    return "\n\n".join(parts)


def failed_row(url: str, error: ScraperError) -> dict[str, object]:
    """Return the object of a page that could not be read."""
    return {**_NO_PAGE, "url": url, **error_object(error)}


def _shorten(value: object, chars: int) -> object:
    if isinstance(value, str):
        return truncate(value, chars)
    return [_shorten(part, chars) for part in value] if isinstance(value, list) else value


def _pieces(items: Sequence[BatchItem], budget: int, characters: int) -> list[TextCut | None]:
    """Return the beginning of each page; the pages share the budgets of tokens and characters."""
    readings = [item.outcome for item in items if isinstance(item.outcome, Reading)]
    texts = [reading.document.markdown for reading in readings]
    tokens_each = _shares([token_estimate.estimate(text) + 1 for text in texts], max(0, budget))
    characters_each = _shares([len(text) for text in texts], characters)
    cuts = iter(
        cut_markdown(text, 0, min(token_estimate.fit_prefix(text, 0, share), characters), keep_whole=0)
        for text, share, characters in zip(texts, tokens_each, characters_each, strict=True)
    )
    return [next(cuts) if isinstance(item.outcome, Reading) else None for item in items]


def _shares(needs: list[int], budget: int) -> list[int]:
    """Divide a budget equally; what small needs leave goes to larger ones."""
    shares = [0] * len(needs)
    left = budget
    for rank, place in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        shares[place] = min(needs[place], left // (len(needs) - rank))
        left -= shares[place]
    return shares
