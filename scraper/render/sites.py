"""Render the answers of `map` and `crawl`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scraper.render.json_answers import CrawlAnswer, CrawledRow, LeftOutItem, MappedPage, SiteMapAnswer
from scraper.render.research_report import join_excerpts
from scraper.render.untrusted_text import UNTRUSTED_EXPLANATION, UNTRUSTED_NOTICE, mark_untrusted
from scraper.retrieval.model import PageExcerpts
from scraper.site.model import CrawlReport, ExcludedUrls, SiteMap, SitePage
from scraper.text import token_estimate
from scraper.text.sanitize import clean_line
from scraper.urls import host_of

RankedPages = Sequence[tuple[SitePage, float]]
"""Pages and their scores, best first."""

_MAX_URL = 500
_MAX_TITLE = 160
_MAX_WARNING = 300
_MAX_LEFT_OUT = 20
_HEADER_TOKENS = 300
"""Tokens of the text before and after the list of pages of a map."""


def map_as_markdown(site: SiteMap, ranked: RankedPages, *, start: int, max_pages: int, region: str, budget: int) -> str:
    """Return the facts of the map, then a line for each page from `start` on, within a token budget.

    A line is `- URL | title | date`. The excluded URLs follow, by reason.
    """
    rows = _select_rows(ranked, start, max_pages, budget)
    lists = f"{site.list_files} lists ({site.list_failures} failed)" if site.list_files else "no list"
    head = [f"{len(site.pages):,} pages of {host_of(site.url)}, from {lists} and links of {site.pages_read + 1} pages."]
    head += _warning_lines(site.warnings)
    end = start + len(rows)
    if not rows:
        return "\n".join([*head, "No page from this `start` on." if start else "No page was found."])
    head.append(f"Pages {start + 1:,} to {end:,}." + (f" Next: start={end}." if end < len(ranked) else ""))
    head.append(UNTRUSTED_EXPLANATION.format(region=region))
    body = [_page_line(page) for page, _ in rows]
    if site.left_out:
        body += ["", *_left_out_lines(site.left_out)]
    return "\n".join(head) + "\n\n" + mark_untrusted("\n".join(body), region)


def map_as_json(site: SiteMap, ranked: RankedPages, *, start: int, max_pages: int, budget: int) -> SiteMapAnswer:
    """Return the pages from `start` on, within a token budget, and the excluded URLs by reason."""
    rows = _select_rows(ranked, start, max_pages, budget)
    answer: SiteMapAnswer = {
        "pages": [_map_row(page, score) for page, score in rows],
        "total": len(site.pages),
        "start": start,
        "more": start + len(rows) < len(ranked),
        "left_out": _left_out_items(site.left_out),
        "lists": {"files": site.list_files, "failed": site.list_failures},
        "notice": UNTRUSTED_NOTICE,
    }
    if site.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_WARNING) for warning in site.warnings]
    return answer


def crawl_as_markdown(report: CrawlReport, pages: Sequence[PageExcerpts], *, region: str, budget: int) -> str:
    """Return the facts of a crawl, then excerpts of the best pages, or a line for each page of this call.

    Args:
        report: The crawl.
        pages: With a question, the best pages with their excerpts.
        region: Random ID of the untrusted region.
        budget: Tokens of the lines; the excerpts were selected within it before.
    """
    state = "Done." if report.is_done else f'Not done, {report.waiting:,} URLs wait. Next: crawl="{report.crawl}".'
    head = [
        f"{host_of(report.url)}: pages visited {report.visited:,}, kept {report.kept:,}. {state}",
        f'Search them: search_index with index_name="{report.index}".',
        *_warning_lines(report.warnings),
        UNTRUSTED_EXPLANATION.format(region=region),
    ]
    passages = [(page, join_excerpts(page, linked=True)) for page in pages]
    body = [part for page, text in passages if text for part in (f"## {_title_line(page)}", text)]
    if not body:
        rows = report.pages[: _count_affordable(report.pages, budget)]
        body = ["\n".join(_page_line(page) for page in rows) or "No new page."]
        if hidden := len(report.pages) - len(rows):
            body.append(f"{hidden:,} more pages are in the index.")
    if report.left_out:
        body.append("\n".join(_left_out_lines(report.left_out[:_MAX_LEFT_OUT])))
    return "\n".join(head) + "\n\n" + mark_untrusted("\n\n".join(body), region)


def crawl_as_json(report: CrawlReport, pages: Sequence[PageExcerpts], *, budget: int) -> CrawlAnswer:
    """Return a crawl as an object; with a question, the best pages have an excerpt."""
    excerpts = {page.url: join_excerpts(page, linked=False) for page in pages}
    rows: list[CrawledRow] = []
    for page in report.pages[: _count_affordable(report.pages, budget)]:
        row: CrawledRow = {"url": clean_line(page.url, _MAX_URL)}
        if page.title:
            row["title"] = clean_line(page.title, _MAX_TITLE)
        if excerpts.get(page.url):
            row["excerpt"] = excerpts[page.url]
        rows.append(row)
    answer: CrawlAnswer = {
        "crawl": report.crawl,
        "index": report.index,
        "done": report.is_done,
        "read": report.visited,
        "kept": report.kept,
        "left": report.waiting,
        "pages": rows,
        "left_out": _left_out_items(report.left_out),
        "notice": UNTRUSTED_NOTICE,
    }
    if report.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_WARNING) for warning in report.warnings]
    return answer


def _select_rows(ranked: RankedPages, start: int, max_pages: int, budget: int) -> RankedPages:
    """Return the pages of one answer: at least one, if any is left."""
    rows = ranked[start : start + max_pages]
    return rows[: max(1, _count_affordable([page for page, _ in rows], budget - _HEADER_TOKENS))]


def _map_row(page: SitePage, score: float) -> MappedPage:
    row: MappedPage = {"url": clean_line(page.url, _MAX_URL), "source": page.source}
    if page.title:
        row["title"] = clean_line(page.title, _MAX_TITLE)
    if page.modified:
        row["modified"] = page.modified
    if score:
        row["score"] = round(score, 3)
    return row


def _page_line(page: SitePage) -> str:
    parts = (clean_line(page.url, _MAX_URL), clean_line(page.title, _MAX_TITLE), page.modified)
    return "- " + " | ".join(filter(None, parts))


def _title_line(page: PageExcerpts) -> str:
    document = getattr(page.outcome, "document", None)
    name = clean_line(document.title or "", _MAX_TITLE) if document is not None else ""
    return " | ".join(filter(None, (clean_line(page.url, _MAX_URL), name)))


def _warning_lines(warnings: Iterable[str]) -> list[str]:
    return [f"Warning: {clean_line(warning, _MAX_WARNING)}" for warning in warnings]


def _left_out_lines(left_out: Iterable[ExcludedUrls]) -> list[str]:
    lines = [f"- {one.count:,} {one.reason}, such as {clean_line(one.example, _MAX_URL)}" for one in left_out]
    return ["Left out:", *lines]


def _left_out_items(left_out: Iterable[ExcludedUrls]) -> list[LeftOutItem]:
    return [
        {"reason": one.reason, "count": one.count, "example": clean_line(one.example, _MAX_URL)} for one in left_out
    ]


def _count_affordable(pages: Sequence[SitePage], budget: int) -> int:
    """Return the number of first pages that fit a token budget."""
    for count, page in enumerate(pages):
        budget -= token_estimate.estimate(_page_line(page)) + 1
        if budget < 0:
            return count
    return len(pages)
