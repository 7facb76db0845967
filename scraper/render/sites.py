"""Render the answers of `map`, `crawl` and `changes`."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from scraper.errors import ScraperError
from scraper.model import Reading
from scraper.render.json_truncation import count_fitting, drop_empty
from scraper.render.research_report import join_excerpts
from scraper.render.untrusted_text import UNTRUSTED_NOTICE, error_object, error_sentence, mark_untrusted
from scraper.retrieval.model import PageExcerpts
from scraper.site.model import BlockChange, CrawlReport, ExcludedUrls, PageChange, SiteMap, SitePage
from scraper.site.page_changes import mark_words
from scraper.text.sanitize import clean_line
from scraper.urls import host_of
from scraper.values.text import truncate

Outcome = PageChange | ScraperError
"""Changes of a page, or the reason why it was not read."""

_MAX_CHANGE_URL = 300
_MAX_HEADING = 160
_MAX_AGENT_LINES, _MAX_AGENT_NAME = 8, 120
_MAX_BLOCK = 2_000
_PAGE_TOKENS = 60
_STATUS = {
    "first": "first reading, nothing to compare with",
    "same": "same",
    "changed": "changed",
    "gone": "gone",
    "moved": "same text at another URL",
    "reader_changed": "not comparable: another version of search-mcp read it before",
}


def as_markdown(urls: Sequence[str], outcomes: Sequence[Outcome], *, region: str, budget: int) -> str:
    """Return a section for each page: its status, then the changed lines below each heading.

    Lines begin with `-` (removed), `+` (added), `~` (edited) or `= moved:`. In a `~` line, `[-old-]` marks removed
    words and `{+new+}` added words.
    """
    share = budget // max(1, len(urls)) - _PAGE_TOKENS
    sections = [as_text(url, outcome, share) for url, outcome in zip(urls, outcomes, strict=True)]
    states = [outcome.status if isinstance(outcome, PageChange) else "failed" for outcome in outcomes]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    return f"Pages: {counts}.\n{mark_untrusted(chr(10).join(sections), region)}"


def as_json(urls: Sequence[str], outcomes: Sequence[Outcome], *, budget: int) -> dict[str, Any]:
    """Return a row for each page, with its changes within an equal share of the budget."""
    share = budget // max(1, len(urls)) - _PAGE_TOKENS
    rows = [as_row(url, outcome, share) for url, outcome in zip(urls, outcomes, strict=True)]
    return {"pages": rows, "notice": UNTRUSTED_NOTICE}


def as_row(url: str, outcome: Outcome, budget: int) -> dict[str, Any]:
    """Return one page as an object, with at least one change and no more than fit `budget` tokens."""
    shown = clean_line(url, _MAX_CHANGE_URL)
    if isinstance(outcome, ScraperError):
        return {"url": shown, "status": "failed", **error_object(outcome)}
    known = {
        "title": clean_line(outcome.title or "", _MAX_TITLE),
        "before": "" if outcome.before is None else _moment(outcome.before),
        "new_url": clean_line(outcome.new_url or "", _MAX_CHANGE_URL),
        "changes": [_block(change) for change in _fitting(outcome.changes, budget)],
        "noise": outcome.noise or None,
    }
    return {"url": shown, "status": outcome.status, "now": _moment(outcome.now), **drop_empty(known)}


def as_text(url: str, outcome: Outcome, budget: int) -> str:
    """Return the section of one page, as Markdown or for a terminal."""
    title = f"## {clean_line(url, _MAX_CHANGE_URL)}"
    if isinstance(outcome, ScraperError):
        return f"{title}\nError: {error_sentence(outcome)}"
    times = (
        f"{_moment(outcome.before)} to {_moment(outcome.now)}" if outcome.before is not None else _moment(outcome.now)
    )
    lines = [title, f"{_STATUS[outcome.status]} ({times})" + (f": {outcome.new_url}" if outcome.new_url else "")]
    heading = ""
    changes = _fitting(outcome.changes, budget)
    for change in changes:
        if change.heading != heading:
            heading = change.heading
            lines.append(f"\n### {clean_line(heading, _MAX_HEADING)}")
        lines.append(_line(change))
    if left := len(outcome.changes) - len(changes):
        lines.append(f"{left} more changes are left out.")
    return "\n".join(lines)


def _line(change: BlockChange) -> str:
    if change.kind == "edited":
        return "~ " + truncate(mark_words(change.old, change.new), _MAX_BLOCK)
    if change.kind == "moved":
        return "= moved: " + truncate(change.new, _MAX_BLOCK)
    return ("+ " if change.kind == "added" else "- ") + truncate(change.new or change.old, _MAX_BLOCK)


def _block(change: BlockChange) -> dict[str, Any]:
    known = {
        "heading": clean_line(change.heading, _MAX_HEADING),
        "old": truncate(change.old, _MAX_BLOCK),
        "new": "" if change.kind == "moved" else truncate(change.new, _MAX_BLOCK),
        "only_numbers": change.only_numbers,
    }
    return {"kind": change.kind, **drop_empty(known)}


def _fitting(changes: Sequence[BlockChange], budget: int) -> Sequence[BlockChange]:
    return changes[: max(1, count_fitting(map(_line, changes), budget, 2))]


def _moment(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds or 0.0, UTC).isoformat(timespec="seconds")


RankedPages = Sequence[tuple[SitePage, float]]

_MAX_URL = 500
_MAX_TITLE = 160
_MAX_WARNING = 300
_HEADER_TOKENS = 300
"""Tokens of the text before and after the list of pages of a map."""


def map_as_markdown(site: SiteMap, ranked: RankedPages, *, start: int, max_pages: int, region: str, budget: int) -> str:
    """Return the facts of the map, a line `- URL | title | date` per page from `start` on, and the excluded URLs."""
    rows = _select_rows(ranked, start, max_pages, budget)
    plural = "" if site.list_files == 1 else "s"
    lists = f"{site.list_files} list{plural} ({site.list_failures} failed)" if site.list_files else "no list"
    head = [f"{len(site.pages):,} pages of {host_of(site.url)}, from {lists} and links of {site.pages_read + 1} pages."]
    head += _warning_lines(site.warnings)
    end = start + len(rows)
    if not rows:
        none = "No page matches the question: without one, all are listed." if site.pages else "No page was found."
        return "\n".join([*head, "No page from this `start` on." if start else none])
    matching = f" of {len(ranked):,} that match the question" if ranked[0][1] else ""
    head.append(f"Pages {start + 1:,} to {end:,}{matching}." + (f" Next: start={end}." if end < len(ranked) else ""))
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(site.url))
    head.append(f"Paths are those of {origin}")
    body = [_page_line(page, origin) for page, _ in rows]
    if site.left_out:
        body += ["", *_left_out_lines(site.left_out)]
    if site.agents:
        shown = [f"- {name} | {url}" for name, url in _agent_rows(site)]
        body += ["", "For agents (named by the site, not read):", *shown]
    return "\n".join([*head, mark_untrusted("\n".join(body), region)])


def _agent_rows(site: SiteMap) -> list[tuple[str, str]]:
    return [
        (clean_line(name, _MAX_AGENT_NAME), clean_line(url, _MAX_URL)) for name, url in site.agents[:_MAX_AGENT_LINES]
    ]


def map_as_json(site: SiteMap, ranked: RankedPages, *, start: int, max_pages: int, budget: int) -> dict[str, Any]:
    """Return the pages from `start` on, within a token budget, and the excluded URLs by reason."""
    rows = _select_rows(ranked, start, max_pages, budget)
    pages = [
        {"url": clean_line(page.url, _MAX_URL), "source": page.source}
        | drop_empty(
            {"title": clean_line(page.title, _MAX_TITLE), "modified": page.modified, "score": round(score, 3) or None}
        )
        for page, score in rows
    ]
    return {
        "pages": pages,
        "total": len(site.pages),
        "start": start,
        "more": start + len(rows) < len(ranked),
        "left_out": _left_out_items(site.left_out),
        "lists": {"files": site.list_files, "failed": site.list_failures},
        "notice": UNTRUSTED_NOTICE,
        **drop_empty({"agents": [{"name": name, "url": url} for name, url in _agent_rows(site)]}),
        **drop_empty({"warnings": [clean_line(warning, _MAX_WARNING) for warning in site.warnings]}),
    }


def crawl_as_markdown(report: CrawlReport, pages: Sequence[PageExcerpts], *, region: str, budget: int) -> str:
    """Return the facts of a crawl, then excerpts of `pages` within the budget, or a line for each new page."""
    state = "Done." if report.is_done else f'Not done, {report.waiting:,} URLs wait. Next: crawl="{report.crawl}".'
    head = [
        f"{host_of(report.url)}: pages visited {report.visited:,}, kept {report.kept:,}. {state}",
        f'Search them: search_index with index_name="{report.index}".',
        *_warning_lines(report.warnings),
    ]
    body: list[str] = []
    for page in pages:
        if text := join_excerpts(page, linked=True):
            title = page.outcome.document.title if isinstance(page.outcome, Reading) else ""
            names = (clean_line(page.url, _MAX_URL), clean_line(title or "", _MAX_TITLE))
            body += ["## " + " | ".join(filter(None, names)), text]
    if not body:
        rows = report.pages[: count_fitting(map(_page_line, report.pages), budget, 1)]
        body = ["\n".join(_page_line(page) for page in rows) or "No new page."]
        if hidden := len(report.pages) - len(rows):
            body.append(f"{hidden:,} more pages are in the index.")
    if report.left_out:
        body.append("\n".join(_left_out_lines(report.left_out[:20])))
    return "\n".join([*head, mark_untrusted("\n\n".join(body), region)])


def crawl_as_json(report: CrawlReport, pages: Sequence[PageExcerpts], *, budget: int) -> dict[str, Any]:
    """Return a crawl as an object; with a question, the best pages have an excerpt."""
    excerpts = {page.url: join_excerpts(page, linked=False) for page in pages}
    rows = [
        {"url": clean_line(page.url, _MAX_URL)}
        | drop_empty({"title": clean_line(page.title, _MAX_TITLE), "excerpt": excerpts.get(page.url)})
        for page in report.pages[: count_fitting(map(_page_line, report.pages), budget, 1)]
    ]
    return {
        "crawl": report.crawl,
        "index": report.index,
        "done": report.is_done,
        "read": report.visited,
        "kept": report.kept,
        "left": report.waiting,
        "pages": rows,
        "left_out": _left_out_items(report.left_out),
        "notice": UNTRUSTED_NOTICE,
        **drop_empty({"warnings": [clean_line(warning, _MAX_WARNING) for warning in report.warnings]}),
    }


def _select_rows(ranked: RankedPages, start: int, max_pages: int, budget: int) -> RankedPages:
    rows = ranked[start : start + max_pages]
    return rows[: max(1, count_fitting((_page_line(page) for page, _ in rows), budget - _HEADER_TOKENS, 1))]


def _page_line(page: SitePage, origin: str = "") -> str:
    """Return the line of a page; its URL is a path if it is below `origin`."""
    url = page.url[len(origin) :] if origin and page.url.startswith(f"{origin}/") else page.url
    parts = (clean_line(url, _MAX_URL), clean_line(page.title, _MAX_TITLE), page.modified)
    return "- " + " | ".join(filter(None, parts))


def _warning_lines(warnings: Iterable[str]) -> list[str]:
    return [f"Warning: {clean_line(warning, _MAX_WARNING)}" for warning in warnings]


def _left_out_lines(left_out: Iterable[ExcludedUrls]) -> list[str]:
    lines = [f"- {one.count:,} {one.reason}, such as {clean_line(one.example, _MAX_URL)}" for one in left_out]
    return ["Left out:", *lines]


def _left_out_items(left_out: Iterable[ExcludedUrls]) -> list[dict[str, Any]]:
    return [
        {"reason": one.reason, "count": one.count, "example": clean_line(one.example, _MAX_URL)} for one in left_out
    ]
