"""Recognize elements that repeat like posts and are none: teasers, cards with prices, and widgets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from urllib.parse import urldefrag, urlsplit

from scraper.html.dom.tags import HEADINGS
from scraper.html.dom.xpath import Element, text_of
from scraper.urls import join_url

_MAX_LINK_DEPTH = 3
"""Levels above a card in which a link around the whole card is searched."""
_SIDE_TAGS = frozenset({"nav", "footer", "header"})
_SIDE_NAME = re.compile("sidebar|widget|related|recent|latest|popular|trending|teaser|similar|recommend")


class RelatedCards:
    """Tell if elements are beside the content of a page, or lead to other pages. Each element is examined once."""

    def __init__(self, url: str) -> None:
        """Compare links with the URL of the page."""
        self._url = url
        self._known: dict[Element, bool] = {}
        self._beside: dict[Element, bool] = {}

    def are_beside(self, elements: Sequence[Element], *, may_be_all: bool) -> bool:
        """Return True if most of the elements are in navigation, widgets or lists of related pages.

        With `may_be_all`, an element with most of the page's text is none of these, regardless of its name.
        """
        found: Counter[Element] = Counter()
        known = self._beside
        for element in elements:
            for around in islice(element.iterancestors(), 12):
                if around not in known:
                    name = f"{around.get('class') or ''} {around.get('id') or ''}".lower()
                    is_named = around.tag != "body" and _SIDE_NAME.search(name) is not None
                    known[around] = around.tag in _SIDE_TAGS or is_named
                if known[around]:
                    found[around] += 1
                    break
        for around in [around for around, count in found.items() if may_be_all and 2 * count > len(elements)]:
            whole = len(text_of(around.getroottree().getroot()))
            if 2 * len(text_of(around)) > whole:
                del found[around]
        return 2 * found.total() > len(elements)

    @cached_property
    def _path(self) -> str:
        return urlsplit(self._url).path.rstrip("/")

    def are_teasers(self, elements: Sequence[Element]) -> bool:
        """Return True if most of the elements lead to pages of their own, as in lists of articles and topics."""
        return 2 * sum(map(self._is_teaser, elements)) > len(elements)

    def _is_teaser(self, element: Element) -> bool:
        if element not in self._known:
            self._known[element] = self._examine(element)
        return self._known[element]

    def _examine(self, element: Element) -> bool:
        around = next((link for link in islice(element.iterancestors(), _MAX_LINK_DEPTH) if link.tag == "a"), None)
        if around is not None and self._leads_away(around):
            return True
        whole = len(text_of(element)) or 1
        links = [(link, len(text_of(link).strip())) for link in islice(element.iter("a"), 30)]
        largest, size = max(links, key=lambda pair: pair[1], default=(None, 0))
        is_card = largest is not None and size > 0.3 * whole and self._leads_away(largest)
        if is_card or sum(size for _, size in links) > 0.6 * whole:
            return True
        titled = (link for link, size in links if size > 12 and _is_headline(link, element))
        return any(map(self._leads_away, titled))

    def _leads_away(self, link: Element) -> bool:
        try:
            target, fragment = urldefrag(join_url(self._url, link.get("href") or ""))
            return not fragment and urlsplit(target).path.rstrip("/") != self._path
        except ValueError:
            return False


def _is_headline(link: Element, container: Element) -> bool:
    for around in (link, *islice(link.iterancestors(), 3), *islice(link.iter(), 4)):
        if around is container:
            return False
        if around.tag in HEADINGS or "title" in (around.get("class") or ""):
            return True
    return False
