"""Parse the result page of an engine.

The checks run in this order, so that a block page or unknown markup never counts as "no results": rows by the layout
of the engine, block pages if there is no row, the "no results" message, rows by shape, error.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from statistics import fmean
from typing import Any

from lxml import etree

from browsers.model import Request, Snapshot
from scraper.engines import result_page, row_parsers
from scraper.engines.model import EngineOutcome, EngineResponse, EngineResult
from scraper.engines.result_page import EngineRow, ResultPage
from scraper.engines.row_parsers import ElementSelect, ResultLayout
from scraper.extract.verdict.block_signatures import SIGNATURES, BlockSignature, search_pattern
from scraper.html.dom import parsing
from scraper.html.dom.parsing import Element
from scraper.text.date_parsing import parse_date
from scraper.urls import is_web_url
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

_MAX_ROWS = 200
"""Rows of a source or feed. Google News returns 100."""
_PROBE = 2_000

ReadRow = Callable[[Any], EngineResult | None]


def parse_xml(text: str) -> Element | None:
    """Parse XML without resolving entities or loading external files; return None if it is not readable."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    try:
        return None if parsing.is_binary(text) else etree.fromstring(text.strip().encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None


def build_response(rows: Iterable[Any], read_row: ReadRow) -> EngineResponse:
    """Return the results of all valid rows; if no row is valid, the layout has changed."""
    results: list[EngineResult] = []
    listed = list(islice(rows, _MAX_ROWS))
    for row in listed:
        with contextlib.suppress(LookupError, TypeError, AttributeError, ValueError):
            if (found := read_row(row)) is not None:
                results.append(replace(found, rank=len(results) + 1))
    if listed and not results:
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    return EngineResponse(EngineOutcome.OK if results else EngineOutcome.NONE, tuple(results))


def parse_rss(snapshot: Snapshot) -> EngineResponse | None:
    """Parse the results of a feed; return None if the response is not a feed."""
    text = result_page.snapshot_text(snapshot)
    feed = parse_xml(text) if "<rss" in text[:_PROBE] else None
    return build_response(feed.iter("item"), _read_item) if feed is not None and feed.tag == "rss" else None


def _read_item(item: Element) -> EngineResult | None:
    url = result_page.unwrap_redirect(_text(item, "link"))
    title = result_page.one_line(_text(item, "title"), result_page.MAX_TITLE)
    if not title or not is_web_url(url):
        return None
    name = result_page.one_line(_text(item, "source"), result_page.MAX_TITLE)
    home = next((source.get("url") or "" for source in item.iterchildren("source")), "")
    return EngineResult(
        rank=0,
        title=title,
        url=url,
        snippet=_snippet(_text(item, "description"), title.removesuffix(f" - {name}"), name),
        date=parse_date(_text(item, "pubDate")),
        source=name or None,
        source_url=home if is_web_url(home) else None,
    )


def _snippet(description: str, title: str, publisher: str) -> str:
    """Return the text of an item beyond title and publisher, or the titles of related articles."""
    root = parsing.parse_html(description).root if description else None
    if root is None:
        return ""
    lines = [result_page.element_text(element) for element in root.iter("li")] or [result_page.element_text(root)]
    repeated = {title, publisher, f"{title} {publisher}", ""}
    return result_page.one_line(" · ".join(line for line in lines if line not in repeated))


def _text(item: Element, name: str) -> str:
    return (item.findtext(name) or "").strip()


_MAX_SENTENCE = 300

_MESSAGES = read_table(__package__, "messages.toml")
_SORRY = r"^\W*(?:(?:oops|sorry|unfortunately|hmm|uh\s+oh)\W+)?"
_NO_RESULTS = WordPattern(rf"{_SORRY}(?:{'|'.join(_MESSAGES['no_results'])}|{{search.no_results}})")
_RELAXED_QUERY_MESSAGE = re.compile(rf"^\W*(?:{'|'.join(_MESSAGES['relaxed'])})", re.IGNORECASE)
_MAX_LINES = 4_000


def _has_message(page: ResultPage, pattern: re.Pattern[str] | WordPattern) -> bool:
    lines = islice(result_page.text_lines(page.root), _MAX_LINES)
    return any(len(line) <= _MAX_SENTENCE and pattern.match(" ".join(line.split())) for line in lines)


_DETAILS = {"consent": "consent", "denied": "refused", "rate_limit": "rate_limited"}
"""Details of a response by the reason of a block page; all other reasons are captchas."""
_BY_STATUS = {
    202: BlockSignature("status 202", "captcha"),
    403: BlockSignature("denial", "denied"),
    429: BlockSignature("rate limit", "rate_limit"),
    503: BlockSignature("status 503", "rate_limit"),
}
"""Meaning of a status code on a page without rows and without a matching signature."""


def _matches(page: ResultPage, one: BlockSignature) -> bool:
    """Return True if a page without organic rows has the markup of a block page."""
    if one.reason == "denied" and page.status >= 500:
        return False  # the error page of a proxy
    urls = "\n".join((page.url, *page.redirects))
    return (
        one.matches(page.ids, page.classes, page.addresses, [page.scripts], urls)
        or (bool(one.title) and search_pattern(rf"\A(?:{one.title})\Z", page.title))
        or (bool(one.names) and any(search_pattern(one.names, name) for name in page.ids | page.classes))
        or search_pattern(one.opening, page.opening)
    )


_MIN_SHAPE_ROWS = 3
_MIN_ROW_SHARE = 0.6
"""Share of the rows found by shape. A layout that finds fewer no longer fits the markup."""
_MIN_SNIPPET_SHARE, _MAX_SNIPPET_SHARE = 0.3, 0.7
"""Shares of rows with a snippet. A layout below the first fails if the shape is above the second."""
_MIN_COMMON_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ParseRules:
    """Rules for parsing the result pages of one engine."""

    layouts: tuple[ResultLayout, ...] = ()
    """Layouts of the engine; the one that finds the most rows is used."""
    none: ElementSelect | None = None
    """Selects an element that exists only on pages without results."""
    next: Callable[[ResultPage], Request | None] | None = None
    """Build the request for the next page of results."""
    shells: frozenset[str] = frozenset()
    """Ids of the empty containers that scripts fill with results."""


def parse_response(snapshot: Snapshot, now: datetime, rules: ParseRules | None = None) -> EngineResponse:
    """Parse a result page. Without `rules`, use only the shape parser."""
    rules = rules or ParseRules()
    page = result_page.build_result_page(snapshot)
    if page is None:
        return _build_failure(snapshot.status, "unreadable")
    selected = max((row_parsers.parse_by_layout(page, one) for one in rules.layouts), key=len, default=[])
    shaped, is_convincing = row_parsers.parse_by_shape(page)
    has_rows = bool(selected) or (is_convincing and len(shaped) >= _MIN_SHAPE_ROWS)
    block_page = None if has_rows else _find_block_page(page)
    if block_page is not None and not (block_page.yields and _is_empty(page, rules)):
        return EngineResponse(
            EngineOutcome.BLOCKED,
            detail=_DETAILS.get(block_page.reason, "captcha"),
            clears_itself=block_page.clears_itself,
        )
    if not selected and _is_empty(page, rules, trust_message=not is_convincing):
        return EngineResponse(EngineOutcome.NONE)
    rows, changed = choose_rows(selected, shaped)
    if not rows or (not has_rows and page.status >= 400):
        return _build_failure(page.status, "not_rendered" if rules.shells & page.ids else "layout_changed")
    return EngineResponse(
        EngineOutcome.OK,
        results=result_page.results_from_rows(rows, now),
        next=rules.next(page) if rules.next else None,
        loosened=_has_message(page, _RELAXED_QUERY_MESSAGE),
        layout_changed=changed and bool(rules.layouts),
    )


def _find_block_page(page: ResultPage) -> BlockSignature | None:
    """Return the signature of a block page by its markup, else by its status code, or None."""
    return next((one for one in SIGNATURES if one.name and _matches(page, one)), _BY_STATUS.get(page.status))


def _build_failure(status: int, detail: str) -> EngineResponse:
    return EngineResponse(EngineOutcome.ERROR, detail=f"http_{status}" if status >= 400 else detail)


def choose_rows(selected: Sequence[EngineRow], shaped: Sequence[EngineRow]) -> tuple[Sequence[EngineRow], bool]:
    """Choose between rows by layout and rows by shape; return them and True if the two disagree."""
    if not selected:
        return shaped, bool(shaped)
    if len(shaped) < _MIN_SHAPE_ROWS:
        return selected, False
    with_snippet, shaped_with_snippet = (fmean(bool(row.snippet) for row in some) for some in (selected, shaped))
    misses_snippets = with_snippet < _MIN_SNIPPET_SHARE and shaped_with_snippet > _MAX_SNIPPET_SHARE
    if misses_snippets or len(selected) < _MIN_ROW_SHARE * len(shaped):
        return shaped, True
    # Compare titles too: Baidu's links are opaque, while its attributes hold the target URL.
    known = {result_page.unwrap_redirect(row.href) for row in selected} | {row.title for row in selected}
    common = sum(result_page.unwrap_redirect(row.href) in known or row.title in known for row in shaped)
    return selected, common < _MIN_COMMON_SHARE * len(shaped)


def _is_empty(page: ResultPage, rules: ParseRules, *, trust_message: bool = True) -> bool:
    """Return True if an element says that there are no results or, with `trust_message`, a sentence."""
    if page.status >= 400:
        return False
    # "No more results" ends many lists, so a sentence does not count beside convincing rows.
    has_marker = rules.none is not None and bool(rules.none(page.root))
    return has_marker or (trust_message and _has_message(page, _NO_RESULTS))
