"""Render the answers of `map`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import SiteMap, SitePage
from scraper.render.answer_parts import EXPLANATION, NOTICE, seal
from scraper.render.json_answers import MappedPage, SiteMapAnswer
from scraper.urls import host_of

RankedPages = Sequence[tuple[SitePage, float]]
"""Pages and their scores, best first."""

_MAX_URL = 500
_MAX_TITLE = 160
_MAX_WARNING = 300
_HEADER_TOKENS = 300
"""Tokens of the text before and after the list of pages."""


def as_markdown(site: SiteMap, ranked: RankedPages, *, start: int, max_pages: int, region: str, budget: int) -> str:
    """Return the facts of the map, then a line for each page from `start` on, within a token budget.

    A line is `- URL | title | date`. The excluded URLs follow, by reason.
    """
    rows = _within_budget(ranked[start : start + max_pages], budget)
    lists = f"{site.list_files} lists ({site.list_failures} failed)" if site.list_files else "no list"
    head = [f"{len(site.pages):,} pages of {host_of(site.url)}, from {lists} and links of {site.pages_read + 1} pages."]
    head += [f"Warning: {clean_line(warning, _MAX_WARNING)}" for warning in site.warnings]
    end = start + len(rows)
    if not rows:
        return "\n".join([*head, "No page from this `start` on." if start else "No page was found."])
    head.append(f"Pages {start + 1:,} to {end:,}." + (f" Next: start={end}." if end < len(ranked) else ""))
    head.append(EXPLANATION.format(region=region))
    body = [_format_line(page) for page in rows]
    if site.left_out:
        body += ["", "Left out:"]
        body += [f"- {one.count:,} {one.reason}, such as {clean_line(one.example, _MAX_URL)}" for one in site.left_out]
    return "\n".join(head) + "\n\n" + seal("\n".join(body), region)


def as_json(site: SiteMap, ranked: RankedPages, *, start: int, max_pages: int, budget: int) -> SiteMapAnswer:
    """Return the pages from `start` on, within a token budget, and the excluded URLs by reason."""
    rows = _within_budget(ranked[start : start + max_pages], budget)
    scores = dict(ranked[start : start + len(rows)])
    answer: SiteMapAnswer = {
        "pages": [_build_row(page, scores[page]) for page in rows],
        "total": len(site.pages),
        "start": start,
        "more": start + len(rows) < len(ranked),
        "left_out": [
            {"reason": one.reason, "count": one.count, "example": clean_line(one.example, _MAX_URL)}
            for one in site.left_out
        ],
        "lists": {"files": site.list_files, "failed": site.list_failures},
        "notice": NOTICE,
    }
    if site.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_WARNING) for warning in site.warnings]
    return answer


def _build_row(page: SitePage, score: float) -> MappedPage:
    row: MappedPage = {"url": clean_line(page.url, _MAX_URL), "source": page.source}
    if page.title:
        row["title"] = clean_line(page.title, _MAX_TITLE)
    if page.modified:
        row["modified"] = page.modified
    if score:
        row["score"] = round(score, 3)
    return row


def _format_line(page: SitePage) -> str:
    parts = (clean_line(page.url, _MAX_URL), clean_line(page.title, _MAX_TITLE), page.modified)
    return "- " + " | ".join(filter(None, parts))


def _within_budget(ranked: RankedPages, budget: int) -> list[SitePage]:
    return list(_take_affordable(ranked, budget - _HEADER_TOKENS))


def _take_affordable(ranked: RankedPages, left: int) -> Iterator[SitePage]:
    for number, (page, _) in enumerate(ranked):
        left -= token_estimate.estimate(_format_line(page)) + 1
        if left < 0 and number:
            return
        yield page
