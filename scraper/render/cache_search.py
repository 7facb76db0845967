"""The answer of `cache_search`: where in kept pages the words stand, as a list or rows, within a budget."""

from __future__ import annotations

from datetime import UTC, datetime

from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import PageHit, PageHits
from scraper.render.untrusted_region import EXPLANATION, seal

ANSWER_BUDGET = 6_000
"""Tokens of hits: 50 of them; a usual answer of ten has about a thousand."""

MAX_TITLE = 200
MAX_URL = 2_000
MAX_SNIPPET = 400
_MAX_QUERY = 200
_MAX_NOTE = 300

_NO_CACHE = (
    "There is no cache to look into: it is switched off, or its file or database cannot be used now. "
    "Use `search` or `fetch` instead."
)
_EMPTY = "Only pages that were read before are found here: use `search` for the web, or fewer or other words."


def as_markdown(
    query: str, found: PageHits, *, region: str, now: datetime, budget: int = ANSWER_BUDGET
) -> str:
    """What we know ourselves, then the hits in their region. `region`: a random id made for this answer."""
    if not found.usable:
        return _NO_CACHE
    shown = _fitting(found.hits, budget)
    count = len(shown)
    told = f"{count} cached page{'' if count == 1 else 's'}" if count else "No cached page"
    head = [f'{told} for "{clean_line(query, _MAX_QUERY)}".']
    if found.note:
        head.append(f"Note: {clean_line(found.note, _MAX_NOTE)}")
    if not count:
        return "\n".join([*head, _EMPTY])
    head.append("Read on with fetch, from the character that stands with each page.")
    head.append(EXPLANATION.format(region=region))
    rows = "\n\n".join(_row(number, hit, now) for number, hit in enumerate(shown, 1))
    return "\n".join(head) + "\n\n" + seal(rows, region)


def as_json(found: PageHits, *, budget: int = ANSWER_BUDGET) -> list[dict[str, object]]:
    """A row a hit: url, title, snippet; where to read on, and when the page was read."""
    return [
        {
            "url": clean_line(hit.url, MAX_URL),
            "title": clean_line(hit.title, MAX_TITLE),
            "snippet": clean_line(hit.snippet, MAX_SNIPPET),
            "start": hit.start,
            "retrieved_at": _moment(hit).isoformat(timespec="seconds"),
        }
        for hit in _fitting(found.hits, budget)
    ]


def _row(number: int, hit: PageHit, now: datetime) -> str:
    facts = f"read {_age(now, _moment(hit))}, start={hit.start}"
    title = clean_line(hit.title, MAX_TITLE) or "(no title)"
    url, snippet = clean_line(hit.url, MAX_URL), clean_line(hit.snippet, MAX_SNIPPET)
    return f"{number}. {title}\n<{url}> ({facts})\n{snippet}"


def _fitting(hits: tuple[PageHit, ...], budget: int) -> list[PageHit]:
    """As many as the budget of tokens allows, the first always."""
    kept: list[PageHit] = []
    for hit in hits:
        budget -= (
            token_estimate.estimate(f"{hit.url}{hit.title}{hit.snippet}"[: MAX_URL + MAX_TITLE + MAX_SNIPPET])
            + 20
        )
        if budget < 0 and kept:
            break
        kept.append(hit)
    return kept


def _moment(hit: PageHit) -> datetime:
    return datetime.fromtimestamp(hit.retrieved_at, UTC)


def _age(now: datetime, moment: datetime) -> str:
    minutes = max(0, int((now - moment).total_seconds() // 60))
    if minutes < 120:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // 1440} days ago"
