"""Find the results of a page: by the CSS selectors of an engine, or by their shape alone.

Rows by shape are repeated links, each with its own text. They need no class name, id or label of any engine, so they
are found when markup changes. The weights were fitted with one engine left out at a time; each fit gave nearly the same
values.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from typing import TypeAlias
from urllib.parse import parse_qs

from cssselect import HTMLTranslator

from scraper.engines import result_page
from scraper.engines.result_page import MAX_ROWS, MIN_SNIPPET_CHARS, EngineRow, LinkCandidate, ResultPage
from scraper.html.dom.parsing import Element, classes_of, element_selector
from scraper.urls import split_url

ElementSelect: TypeAlias = Callable[[Element], list[Element]]

_MIN_SENTENCE = 60
"""Characters. Labels and calls to action are shorter."""

_QUERY_NAMES = frozenset({"q", "query", "wd", "word", "text", "p", "search"})
_REDIRECT_PATHS = ("/link", "/url", "/l/", "/ck/a", "/goto", "/aclk", "/aclick", "/a/redirect")
_TITLE_LINKS = element_selector("descendant-or-self::a[@href] | self::*[not(.//a/@href)]/ancestor::a[@href][1]")


def css(selector: str) -> ElementSelect:
    """Compile a CSS selector that matches in an element and the element itself."""
    return element_selector(HTMLTranslator().css_to_xpath(selector))


@dataclass(frozen=True, slots=True)
class ResultLayout:
    """Selectors of the parts of a result in one layout of an engine."""

    rows: ElementSelect
    title: ElementSelect
    snippet: ElementSelect | None = None
    """If None or without a match, the first sentence outside the title is used."""
    date: ElementSelect | None = None
    source: ElementSelect | None = None
    drops: ElementSelect | None = None
    """Selects decoration; the first match is removed from a snippet."""


def parse_by_layout(page: ResultPage, layout: ResultLayout) -> list[EngineRow]:
    """Return the organic rows that a layout finds, in page order."""
    blocks: dict[Element, None] = {}
    for block in layout.rows(page.root)[:MAX_ROWS]:
        # Rows inside another row are deep links and clusters.
        if not any(ancestor in blocks for ancestor in block.iterancestors()):
            blocks[block] = None
    return [row for block in blocks if (row := _row(page, layout, block)) is not None]


def _is_engine_page(page: ResultPage, url: str) -> bool:
    parts = split_url(url)
    return (
        parts is None or (parts.hostname or "").removeprefix("www.") == page.host
    ) and not result_page.is_opaque_redirect(url)


def _is_search_page(page: ResultPage, url: str) -> bool:
    """Return True if a URL of the engine is another search or an unresolved redirect; other pages may be results."""
    parts, own = split_url(url), split_url(page.url)
    if parts is None or own is None or not _is_engine_page(page, url):
        return parts is None or own is None
    is_search = parts.path in {"", "/", own.path} or parts.path.startswith(_REDIRECT_PATHS)
    return is_search or not _QUERY_NAMES.isdisjoint(parse_qs(parts.query))


def _row(page: ResultPage, layout: ResultLayout, block: Element) -> EngineRow | None:
    title = next(iter(layout.title(block)), None)
    if title is None:
        return None
    links = _TITLE_LINKS(title)
    href = page.absolute(links[0].get("href")) if links else ""
    # Paid clicks and internal links are recognized only after the redirect is decoded.
    if not href or result_page.is_ad_link(href) or _is_search_page(page, result_page.unwrap_redirect(href)):
        return None
    text = result_page.element_text(title, result_page.MAX_TITLE)
    if not text or result_page.is_labeled_as_ad(block, text):
        return None
    return EngineRow(
        title=text,
        href=result_page.resolve_opaque(href, links[0], block),
        snippet=_snippet(layout, block, title),
        date=_text(layout.date, block),
        source=_text(layout.source, block),
    )


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


DEFAULT_WEIGHTS = ShapeWeights()


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Group of links of one shape. The features are shares from 0 to 1, measured on its first rows."""

    candidates: Sequence[LinkCandidate]
    heading: float
    text: float
    title: float

    @property
    def is_convincing(self) -> bool:
        """Return True if nearly all links have a heading and most have a text."""
        return self.heading >= _NEARLY_ALL and self.text >= _MOST

    @property
    def may_be_results(self) -> bool:
        """Return True if half of the links have a heading or text, or each of one or two has both and a usual title."""
        if len(self.candidates) < _MIN_ROWS:
            return min(self.heading, self.text, self.title) == 1
        return max(self.heading, self.text) >= _HALF

    def score(self, weights: ShapeWeights) -> float:
        """Return the weighted sum of the features; higher is more like a result list."""
        count = min(len(self.candidates), _SCORED_ROWS) / _SCORED_ROWS
        return count + weights.heading * self.heading + weights.text * self.text + weights.title * self.title


def parse_by_shape(page: ResultPage) -> tuple[tuple[EngineRow, ...], bool]:
    """Return the rows of the best group of links, and True if they are results whatever else the page has."""
    group = choose_group(group_links(page))
    rows = organic_rows(group)
    return rows, group is not None and bool(rows) and group.is_convincing


def choose_group(groups: Sequence[RowGroup], weights: ShapeWeights = DEFAULT_WEIGHTS) -> RowGroup | None:
    """Return the group that looks most like results, or None.

    A group of one or two links is used if there is no list, or if the best list is small, unconvincing and has a lower
    score: such a list may be a footer.
    """
    ranked = sorted(groups, key=lambda group: group.score(weights), reverse=True)
    best = next((group for group in ranked if group.may_be_results and len(group.candidates) >= _MIN_ROWS), None)
    if best is not None and (len(best.candidates) > _MAX_FOOTER_LINKS or best.is_convincing):
        return best
    return next((group for group in ranked if group.may_be_results), None)


def organic_rows(group: RowGroup | None) -> tuple[EngineRow, ...]:
    """Return the unique rows of a group in page order, without advertisements and rows inside other rows."""
    rows: dict[tuple[str, str], EngineRow] = {}
    locations = result_page.locate_rows(group.candidates, MAX_ROWS) if group else []
    own = {block for row in locations for block in row.blocks}
    for row in locations:
        href, title = row.candidate.href, row.title
        if result_page.is_ad_link(href) or any(result_page.is_labeled_as_ad(block, title) for block in row.blocks):
            continue
        if title and own.isdisjoint(row.blocks[0].iterancestors()):
            rows.setdefault((row.candidate.url, title), EngineRow(title, href, row.snippet))
    return tuple(rows.values())


def group_links(page: ResultPage) -> list[RowGroup]:
    """Return the groups of links that may be results; if there are too many, only the largest.

    Links of one shape have the same heading, or also the same classes and path of tags.
    """
    by_shape: defaultdict[tuple[str, ...], list[LinkCandidate]] = defaultdict(list)
    for candidate in _find_candidates(page):
        link, heading = candidate.link, candidate.heading
        above = f"{heading.tag} {candidate.heads}" if heading is not None else ""
        tags = (str(element.tag) for element in (link, *islice(link.iterancestors(), 5)))
        by_shape[above, *tags, " ".join(sorted(classes_of(link)))].append(candidate)
        if above:
            by_shape[above,].append(candidate)
    groups = [group for group in by_shape.values() if len(group) >= _MIN_ROWS or group[0].heading is not None]
    return [_measure_group(group) for group in sorted(groups, key=len, reverse=True)[:_MAX_GROUPS]]


def _find_candidates(page: ResultPage) -> Iterator[LinkCandidate]:
    for link in _ALL_LINKS(page.root)[:_MAX_LINKS]:
        href = page.absolute(link.get("href"))
        url = result_page.unwrap_redirect(href) if href else ""
        if url and split_url(url) is not None and not _is_engine_page(page, url):
            inner = _INNER_HEADING(link)
            near = islice(link.iterancestors(), _HEADING_REACH)
            above = (one for one in near if one.tag in _HEADINGS or one.get("role") == "heading")
            yield LinkCandidate(link, href, url, inner[0] if inner else next(above, None), bool(inner))


def _measure_group(group: Sequence[LinkCandidate]) -> RowGroup:
    rows = result_page.locate_rows(group, _SCORED_ROWS)
    return RowGroup(
        group,
        heading=fmean(row.candidate.heading is not None for row in rows),
        text=fmean(len(row.snippet) >= MIN_SNIPPET_CHARS for row in rows),
        title=fmean(8 <= len(row.title) <= 160 for row in rows),
    )
