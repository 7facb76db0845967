"""Locate the rows of a result page around its links: block, title and snippet of each."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from scraper.engines.common import dom_text
from scraper.engines.common.redirect_unwrapping import is_opaque_redirect, unwrap_redirect
from scraper.engines.common.result_rows import MAX_ROWS, MIN_SNIPPET_CHARS
from scraper.html.dom.xpath import Element, element_selector
from scraper.urls import is_web_url

_MAX_ANCESTORS = 42
_MAX_FOLLOWING = 3
_ADDRESS_ATTRIBUTES = ("mu", "data-url", "data-href", "data-landurl")
"""Attributes in which engines store the target URL for their scripts."""
_LINKED = element_selector("(self::a | .//a)[@href]")
_TITLED = element_selector("descendant-or-self::*[@title]")


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """Link that may belong to a result row, with its URL and heading."""

    link: Element
    href: str
    """Absolute URL of the link."""
    url: str
    """Target of `href`, with decoded redirects."""
    heading: Element | None
    heads: bool
    """True if the heading is inside the link."""


@dataclass(frozen=True, slots=True)
class RowLocation:
    """Link candidate with the elements that belong to its row."""

    candidate: LinkCandidate
    blocks: tuple[Element, ...]
    title: str
    snippet: str


def locate_rows(candidates: Sequence[LinkCandidate], count: int) -> list[RowLocation]:
    """Locate the rows of the first `count` candidates; the links of the other candidates bound them."""
    link_counts = _count_links(candidates[:MAX_ROWS])
    rows = []
    for candidate in candidates[:count]:
        top = _largest_block(candidate.link, link_counts)
        title_element = candidate.link if candidate.heading is None else candidate.heading
        title = _title(candidate, title_element)
        snippet = _snippet(top, title_element, title)
        blocks: tuple[Element, ...] = (top,)
        if len(snippet) < MIN_SNIPPET_CHARS:
            blocks = (top, *_following(top, link_counts))
            snippet = max((snippet, *(_snippet(block, None, title) for block in blocks[1:])), key=len)
        rows.append(RowLocation(_resolve(candidate, top), blocks, title, snippet))
    return rows


def _resolve(candidate: LinkCandidate, top: Element) -> LinkCandidate:
    """Replace an opaque link by the target URL if an attribute of the row holds it."""
    if not is_opaque_redirect(candidate.url):
        return candidate
    for element in (candidate.link, *candidate.link.iterancestors()):
        for value in (element.get(name) or "" for name in _ADDRESS_ATTRIBUTES):
            if value != candidate.href and is_web_url(value) and not is_opaque_redirect(value):
                return replace(candidate, href=value, url=unwrap_redirect(value))
        if element is top:
            break
    return candidate


def _count_links(group: Sequence[LinkCandidate]) -> Counter[Element]:
    """Return the number of candidate links inside each element."""
    links = (candidate.link for candidate in group)
    return Counter(one for link in links for one in (link, *islice(link.iterancestors(), _MAX_ANCESTORS)))


def _largest_block(link: Element, link_counts: Counter[Element]) -> Element:
    """Return the largest element that contains only this link of the group."""
    alone = takewhile(lambda ancestor: link_counts[ancestor] == 1, link.iterancestors())
    return deque((link, *alone), maxlen=1)[0]


def _following(top: Element, link_counts: Counter[Element]) -> Iterable[Element]:
    """Yield the elements between this row and the next one: table layouts split a row over several elements.

    Stop at an element with links: it is an advertisement or a module.
    """
    following = top.getnext()
    for _ in range(_MAX_FOLLOWING):
        if following is None or following in link_counts or _LINKED(following):
            return
        yield following
        following = following.getnext()


def _title(candidate: LinkCandidate, element: Element) -> str:
    """Return the title in a link or heading that may also hold the URL of the result."""
    lines = [dom_text.one_line(line, dom_text.MAX_TITLE) for line in dom_text.text_lines(element)]
    other = [line for line in lines if not dom_text.is_address(line)]
    if candidate.heading is not None and len(other) == len(lines):
        return dom_text.element_text(element, dom_text.MAX_TITLE)
    lines = list(filter(None, other)) or lines[:1]
    named = {dom_text.one_line(titled.get("title") or "", dom_text.MAX_TITLE) for titled in _TITLED(element)}
    return next((line for line in lines if line in named), max(lines, key=len, default=""))


def _snippet(block: Element, without: Element | None, title: str) -> str:
    lines = map(dom_text.one_line, dom_text.text_lines(block, without))
    return max((line for line in lines if line != title and not dom_text.is_address(line)), key=len, default="")
