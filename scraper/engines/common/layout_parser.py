"""An engine's own markup as data: which elements are rows, and where in them title, link and text stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cssselect import HTMLTranslator

from scraper.engines.common import ads, dom_text
from scraper.engines.common.redirect_unwrapping import is_opaque, split, unwrap
from scraper.engines.common.result_page import ResultPage
from scraper.engines.common.rows import EngineRow
from scraper.extract.dom.xpath import Element, element_selector

Select: TypeAlias = Callable[[Element], list[Element]]

MAX_ROWS = 200
"""No engine shows more than a hundred; the rest of a hostile page costs nothing."""

_SENTENCE = 60
"""Characters: labels and invitations are shorter."""

_LINKS = element_selector("descendant-or-self::a[@href]")


def css(selector: str) -> Select:
    """What a CSS selector selects in an element, itself included."""
    return element_selector(HTMLTranslator().css_to_xpath(selector))


@dataclass(frozen=True, slots=True)
class Layout:
    """One face of an engine."""

    rows: Select
    title: Select
    link: Select | None = None
    """Where the link is not the title's own: around it, or in it."""
    snippet: Select | None = None
    """None, or nothing found: the longest text outside the title."""
    date: Select | None = None
    source: Select | None = None
    address: Callable[[Element], str] | None = None
    """Reads the true address from the row, where the engine writes it beside the link."""
    drops: Select | None = None
    """What is decoration in a snippet."""


def read(page: ResultPage, layout: Layout) -> list[EngineRow]:
    """The organic rows of a page by a layout, in order."""
    if page.root is None:
        return []
    rows = (_row(page, layout, block) for block in _outermost(layout.rows(page.root)))
    return [row for row in rows if row is not None]


def is_internal(page: ResultPage, url: str) -> bool:
    """Whether an address leads to the engine's own pages rather than to a result."""
    parts = split(url)
    own = parts is None or (parts.hostname or "").removeprefix("www.") == page.host
    return own and not is_opaque(url)


def _outermost(blocks: Sequence[Element]) -> Iterator[Element]:
    """Rows in rows (deep links, clusters) belong to the outer one."""
    taken: set[Element] = set()
    for block in blocks[:MAX_ROWS]:
        if not any(ancestor in taken for ancestor in block.iterancestors()):
            taken.add(block)
            yield block


def _row(page: ResultPage, layout: Layout, block: Element) -> EngineRow | None:
    title = next(iter(layout.title(block)), None)
    if title is None:
        return None
    link = _link(layout, block, title)
    href = page.absolute(link.get("href")) if link is not None else ""
    own = layout.address(block) if layout.address else ""
    # What counts as a click for money or as a way back into the engine shows once the wrapper is off.
    if not href or ads.is_ad_link(href) or (not own and is_internal(page, unwrap(href))):
        return None
    text = dom_text.text_in(title, dom_text.MAX_TITLE)
    if not text or ads.is_labelled(block, text):
        return None
    return EngineRow(
        title=text,
        href=own or href,
        snippet=_snippet(layout, block, title),
        date=_text(layout.date, block),
        source=_text(layout.source, block),
    )


def _link(layout: Layout, block: Element, title: Element) -> Element | None:
    if layout.link is not None:
        return next(iter(layout.link(block)), None)
    inner = _LINKS(title)
    around = (ancestor for ancestor in title.iterancestors("a") if ancestor.get("href"))
    return inner[0] if inner else next(around, None)


def _snippet(layout: Layout, block: Element, title: Element) -> str:
    for element in layout.snippet(block) if layout.snippet else ():
        dropped = next(iter(layout.drops(element)), None) if layout.drops else None
        text = dom_text.tidy(" ".join(dom_text.runs(element, dropped)))
        if text:
            return text
    return _sentence(block, title)


def _sentence(block: Element, title: Element) -> str:
    """The first text in a row that is long enough to be one, for rows of a kind that was not foreseen."""
    runs = (dom_text.tidy(run) for run in dom_text.runs(block, title))
    return next((run for run in runs if len(run) >= _SENTENCE and not dom_text.is_address(run)), "")


def _text(select: Select | None, block: Element) -> str:
    return next((dom_text.text_in(element, 200) for element in select(block)), "") if select else ""
