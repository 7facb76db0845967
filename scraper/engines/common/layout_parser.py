"""Parse a result page with the CSS selectors of an engine for rows, titles, links and snippets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cssselect import HTMLTranslator

from scraper.engines.common import result_page
from scraper.engines.common.result_page import ResultPage
from scraper.engines.common.result_rows import (
    MAX_ROWS,
    EngineRow,
    is_ad_link,
    is_labeled_as_ad,
    is_opaque_redirect,
    unwrap_redirect,
)
from scraper.html.dom.xpath import Element, element_selector
from scraper.urls import split_url

ElementSelect: TypeAlias = Callable[[Element], list[Element]]

_MIN_SENTENCE = 60
"""Characters. Labels and calls to action are shorter."""

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
    if not href or is_ad_link(href) or (not target and is_engine_page(page, unwrap_redirect(href))):
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
