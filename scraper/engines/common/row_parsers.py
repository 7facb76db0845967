"""Find the results of a page: by the CSS selectors of an engine, or by their shape alone.

Rows by shape are repeated links, each with its own text. They need no class name, id or label of any engine, so they
are found when markup changes. The weights were fitted with one engine left out at a time; each fit gave nearly the same
values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TypeAlias
from urllib.parse import parse_qs

from cssselect import HTMLTranslator

from scraper.engines.common import result_page, result_rows
from scraper.engines.common.result_page import ResultPage
from scraper.engines.common.result_rows import (
    MAX_ROWS,
    MIN_SNIPPET_CHARS,
    EngineRow,
    LinkCandidate,
    is_ad_link,
    is_labeled_as_ad,
    is_opaque_redirect,
    is_redirect_path,
    locate_rows,
    unwrap_redirect,
)
from scraper.html.dom.xpath import Element, classes_of, element_selector
from scraper.urls import split_url

ElementSelect: TypeAlias = Callable[[Element], list[Element]]

_MIN_SENTENCE = 60
"""Characters. Labels and calls to action are shorter."""

_QUERY_NAMES = frozenset({"q", "query", "wd", "word", "text", "p", "search"})
"""Parameters with the words of a search."""
_LINKS = element_selector("descendant-or-self::a[@href]")


def css(selector: str) -> ElementSelect:
    """Compile a CSS selector that matches in an element and the element itself."""
    return element_selector(HTMLTranslator().css_to_xpath(selector))


@dataclass(frozen=True, slots=True)
class ResultLayout:
    """Selectors of the parts of a result in one layout of an engine."""

    rows: ElementSelect
    title: ElementSelect
    link: ElementSelect | None = None
    """Selects the link if it is neither around nor in the title."""
    snippet: ElementSelect | None = None
    """If None or without a match, the first sentence outside the title is used."""
    date: ElementSelect | None = None
    source: ElementSelect | None = None
    address: Callable[[Element], str] | None = None
    """Read the target URL from an attribute of the row."""
    drops: ElementSelect | None = None
    """Selects decoration; the first match is removed from a snippet."""


def parse_by_layout(page: ResultPage, layout: ResultLayout) -> list[EngineRow]:
    """Return the organic rows that a layout finds, in page order."""
    if page.root is None:
        return []
    rows = (_row(page, layout, block) for block in _outermost(layout.rows(page.root)))
    return [row for row in rows if row is not None]


def is_engine_page(page: ResultPage, url: str) -> bool:
    """Return True if a URL leads to a page of the engine instead of a result."""
    parts = split_url(url)
    return (parts is None or (parts.hostname or "").removeprefix("www.") == page.host) and not is_opaque_redirect(url)


def _is_search_page(page: ResultPage, url: str) -> bool:
    """Return True if a URL of the engine is another search or an unresolved redirect; other pages may be results."""
    parts, own = split_url(url), split_url(page.url)
    if parts is None or own is None or not is_engine_page(page, url):
        return parts is None or own is None
    names = parse_qs(parts.query).keys() & _QUERY_NAMES
    return bool(names) or parts.path in {"", "/", own.path} or is_redirect_path(parts.path)


def _outermost(blocks: Sequence[Element]) -> Iterator[Element]:
    """Yield rows that are not inside another row (deep links, clusters)."""
    found: set[Element] = set()
    for block in blocks[:MAX_ROWS]:
        if not any(ancestor in found for ancestor in block.iterancestors()):
            found.add(block)
            yield block


def _row(page: ResultPage, layout: ResultLayout, block: Element) -> EngineRow | None:
    title = next(iter(layout.title(block)), None)
    if title is None:
        return None
    link = next(iter(layout.link(block)), None) if layout.link else _title_link(title)
    href = page.absolute(link.get("href")) if link is not None else ""
    target = layout.address(block) if layout.address else ""
    # Paid clicks and internal links are recognized only after the redirect is decoded.
    if not href or is_ad_link(href) or (not target and _is_search_page(page, unwrap_redirect(href))):
        return None
    text = result_page.element_text(title, result_page.MAX_TITLE)
    if not text or is_labeled_as_ad(block, text):
        return None
    return EngineRow(
        title=text,
        href=target or href,
        snippet=_snippet(layout, block, title),
        date=_text(layout.date, block),
        source=_text(layout.source, block),
    )


def _title_link(title: Element) -> Element | None:
    inner = _LINKS(title)
    around = (ancestor for ancestor in title.iterancestors("a") if ancestor.get("href"))
    return inner[0] if inner else next(around, None)


def _snippet(layout: ResultLayout, block: Element, title: Element) -> str:
    for element in layout.snippet(block) if layout.snippet else ():
        dropped = next(iter(layout.drops(element)), None) if layout.drops else None
        if text := result_page.one_line(" ".join(result_page.text_lines(element, dropped))):
            return text
    lines = (result_page.one_line(line) for line in result_page.text_lines(block, title))
    return next((line for line in lines if len(line) >= _MIN_SENTENCE and not result_page.is_address(line)), "")


def _text(select: ElementSelect | None, block: Element) -> str:
    return next((result_page.element_text(element, 200) for element in select(block)), "") if select else ""


_MAX_LINKS = 1_500
"""Candidate links examined. Real pages have fewer than 400."""
_MAX_GROUPS = 40
_SCORED_ROWS = 12
"""Rows used to score a group. More rows do not change the score."""
_USUAL_TITLE = 60
"""Characters of a usual title. Icons have none, URLs fewer, linked paragraphs more."""
_MIN_ROWS, _MAX_FOOTER_LINKS = 3, 4
_HALF, _MOST, _NEARLY_ALL = 0.5, 0.7, 0.9
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_HEADING_REACH = 3

_ALL_LINKS = element_selector("//a[@href]")
_INNER_HEADING = element_selector(".//h1 | .//h2 | .//h3 | .//h4 | .//*[@role='heading']")


@dataclass(frozen=True, slots=True)
class ShapeWeights:
    """Weights of the features of a group of result links."""

    heading: float = 2.0
    text: float = 1.5
    title: float = 0.5
    domains: float = 1.0


DEFAULT_WEIGHTS = ShapeWeights()


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Group of links of one shape. The features are shares from 0 to 1, measured on its first rows."""

    candidates: tuple[LinkCandidate, ...]
    count: float
    heading: float
    text: float
    title: float
    domains: float

    @property
    def has_content(self) -> bool:
        """Return True if at least half of the links have a heading or a text; navigation has neither."""
        return max(self.heading, self.text) >= _HALF

    @property
    def is_convincing(self) -> bool:
        """Return True if nearly all links have a heading and most have a text."""
        return self.heading >= _NEARLY_ALL and self.text >= _MOST

    @property
    def is_complete(self) -> bool:
        """Return True if every link has a heading, a text and a title of usual length."""
        return min(self.heading, self.text, self.title) == 1

    def score(self, weights: ShapeWeights) -> float:
        """Return the weighted sum of the features; higher is more like a result list."""
        return (
            self.count
            + weights.heading * self.heading
            + weights.text * self.text
            + weights.title * self.title
            + weights.domains * self.domains
        )


@dataclass(frozen=True, slots=True)
class ShapeResult:
    """Rows found by shape."""

    rows: tuple[EngineRow, ...] = ()
    is_convincing: bool = False
    """True if the rows are results regardless of the other content of the page."""


def parse_by_shape(page: ResultPage) -> ShapeResult:
    """Return the rows of the best group of links."""
    group = choose_group(group_links(page))
    rows = organic_rows(group)
    return ShapeResult(rows, is_convincing=group is not None and bool(rows) and group.is_convincing)


def choose_group(groups: Sequence[RowGroup], weights: ShapeWeights = DEFAULT_WEIGHTS) -> RowGroup | None:
    """Return the group that looks most like results, or None.

    A group of one or two links counts only if the links are complete. It is used if there is no list, or if the best
    list is small, unconvincing and has a lower score: such a list may be a footer.
    """
    lists = (group for group in groups if len(group.candidates) >= _MIN_ROWS and group.has_content)
    few = (group for group in groups if len(group.candidates) < _MIN_ROWS and group.is_complete)
    best, best_few = (max(some, key=lambda group: group.score(weights), default=None) for some in (lists, few))
    if best is None or best_few is None:
        return best or best_few
    may_be_footer = len(best.candidates) <= _MAX_FOOTER_LINKS and not best.is_convincing
    return best_few if may_be_footer and best_few.score(weights) > best.score(weights) else best


def organic_rows(group: RowGroup | None) -> tuple[EngineRow, ...]:
    """Return the unique rows of a group in page order, without advertisements and rows inside other rows."""
    rows: dict[tuple[str, str], EngineRow] = {}
    locations = locate_rows(group.candidates, MAX_ROWS) if group else []
    own = {block for row in locations for block in row.blocks}
    for row in locations:
        href, title = row.candidate.href, row.title
        if is_ad_link(href) or any(is_labeled_as_ad(block, title) for block in row.blocks):
            continue
        if title and own.isdisjoint(row.blocks[0].iterancestors()):
            rows.setdefault((row.candidate.url, title), EngineRow(title, href, row.snippet))
    return tuple(rows.values())


def group_links(page: ResultPage) -> list[RowGroup]:
    """Return the groups of links that may be results; if there are too many, only the best."""
    candidates = _find_candidates(page)
    members: dict[tuple[int, ...], list[LinkCandidate]] = {}
    for indices in _group_by_shape(candidates):
        group = [candidates[index] for index in indices]
        if len(group) >= _MIN_ROWS or all(candidate.heading is not None for candidate in group):
            members.setdefault(tuple(indices), group)
    return [_measure_group(group) for group in sorted(members.values(), key=_estimate, reverse=True)[:_MAX_GROUPS]]


def _find_candidates(page: ResultPage) -> list[LinkCandidate]:
    found = []
    for link in _ALL_LINKS(page.root)[:_MAX_LINKS] if page.root is not None else ():
        href = page.absolute(link.get("href"))
        url = result_rows.unwrap_redirect(href) if href else ""
        if not url or split_url(url) is None or is_engine_page(page, url):
            continue
        inner = _INNER_HEADING(link)
        found.append(LinkCandidate(link, href, url, inner[0] if inner else _heading_above(link), bool(inner)))
    return found


def _heading_above(link: Element) -> Element | None:
    near = islice(link.iterancestors(), _HEADING_REACH)
    return next((one for one in near if one.tag in _HEADINGS or one.get("role") == "heading"), None)


def _group_by_shape(candidates: Sequence[LinkCandidate]) -> Iterable[list[int]]:
    """Group link indexes by shape, from fine to coarse.

    Each shape gives two groups: all links, and only the most title-like link of each run with the same URL.
    """
    runs = groupby(range(len(candidates)), key=lambda index: candidates[index].url)
    representatives = {max(run, key=lambda index: _title_likeness(candidates[index])) for _, run in runs}
    by_shape: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        for shape in _shapes(candidate):
            by_shape[shape].append(index)
            if index in representatives:
                by_shape["representative", *shape].append(index)
    return by_shape.values()


def _title_likeness(candidate: LinkCandidate) -> tuple[bool, bool, int]:
    text = result_page.element_text(candidate.link, result_page.MAX_TITLE)
    is_title = bool(text) and not result_page.is_address(text)
    return (candidate.heading is not None, is_title, -abs(len(text) - _USUAL_TITLE))


def _shapes(candidate: LinkCandidate) -> Iterable[tuple[str, ...]]:
    link, heading = candidate.link, candidate.heading
    tags = [str(link.tag), *(str(ancestor.tag) for ancestor in islice(link.iterancestors(), 5))]
    classes = classes_of(link)
    above = f"{heading.tag} {candidate.heads}" if heading is not None else ""
    parent = link.getparent()
    yield ("path and classes", above, *tags, " ".join(sorted(classes)))
    yield ("short path and class", above, *tags[:4], *classes[:1])
    yield ("parent's class", above, *tags[:3], (parent.get("class") or "") if parent is not None else "")
    yield ("path", above, *tags)
    yield ("short path", above, *tags[:3])
    if heading is not None:
        yield ("heading", above)


def _estimate(group: Sequence[LinkCandidate]) -> float:
    """Estimate the score of a group without locating its rows."""
    first = group[:_SCORED_ROWS]
    headings = sum(candidate.heading is not None for candidate in first) / len(first)
    return len(first) / _SCORED_ROWS + 2 * headings


def _measure_group(group: Sequence[LinkCandidate]) -> RowGroup:
    rows = locate_rows(group, _SCORED_ROWS)
    count = len(rows)
    urls = (split_url(row.candidate.url) for row in rows)
    return RowGroup(
        candidates=tuple(group),
        count=count / _SCORED_ROWS,
        heading=sum(row.candidate.heading is not None for row in rows) / count,
        text=sum(len(row.snippet) >= MIN_SNIPPET_CHARS for row in rows) / count,
        title=sum(8 <= len(row.title) <= 160 for row in rows) / count,
        domains=len({url.hostname if url else "" for url in urls}) / count,
    )
