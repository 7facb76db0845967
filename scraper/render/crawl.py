"""Render the answers of `crawl`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scraper.extract.text import token_estimate
from scraper.extract.text.sanitize import clean_line
from scraper.model import CrawlReport, ReadPage, SitePage
from scraper.render.answer_parts import EXPLANATION, NOTICE, seal
from scraper.render.json_answers import CrawlAnswer, CrawledRow
from scraper.render.research_report import join_excerpts
from scraper.urls import host_of

_MAX_URL = 500
_MAX_TITLE = 160
_MAX_WARNING = 300
_MAX_LEFT_OUT = 20


def as_markdown(report: CrawlReport, pages: Sequence[ReadPage], *, region: str, budget: int) -> str:
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
        *(f"Warning: {clean_line(warning, _MAX_WARNING)}" for warning in report.warnings),
        EXPLANATION.format(region=region),
    ]
    passages = [(page, join_excerpts(page, linked=True)) for page in pages]
    body = [part for page, text in passages if text for part in (f"## {_page_line(page)}", text)]
    if not body:
        rows = list(_take_affordable(report.pages, budget))
        body = ["\n".join(f"- {_format_line(page)}" for page in rows) or "No new page."]
        if hidden := len(report.pages) - len(rows):
            body.append(f"{hidden:,} more pages are in the index.")
    if report.left_out:
        lines = [
            f"- {one.count:,} {one.reason}, such as {clean_line(one.example, _MAX_URL)}" for one in report.left_out
        ]
        body.append("\n".join(["Left out:", *lines[:_MAX_LEFT_OUT]]))
    return "\n".join(head) + "\n\n" + seal("\n\n".join(body), region)


def as_json(report: CrawlReport, pages: Sequence[ReadPage], *, budget: int) -> CrawlAnswer:
    """Return a crawl as an object; with a question, the best pages have an excerpt."""
    excerpts = {page.url: join_excerpts(page, linked=False) for page in pages}
    rows: list[CrawledRow] = []
    for page in _take_affordable(report.pages, budget):
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
        "left_out": [
            {"reason": one.reason, "count": one.count, "example": clean_line(one.example, _MAX_URL)}
            for one in report.left_out
        ],
        "notice": NOTICE,
    }
    if report.warnings:
        answer["warnings"] = [clean_line(warning, _MAX_WARNING) for warning in report.warnings]
    return answer


def _page_line(page: ReadPage) -> str:
    title = getattr(page.outcome, "document", None)
    name = clean_line(title.title or "", _MAX_TITLE) if title is not None else ""
    return " | ".join(filter(None, (clean_line(page.url, _MAX_URL), name)))


def _format_line(page: SitePage) -> str:
    return " | ".join(filter(None, (clean_line(page.url, _MAX_URL), clean_line(page.title, _MAX_TITLE))))


def _take_affordable(pages: Sequence[SitePage], left: int) -> Iterator[SitePage]:
    for page in pages:
        left -= token_estimate.estimate(_format_line(page)) + 2
        if left < 0:
            return
        yield page
