"""The few elements around a page's headline, where its author and its date stand."""

from __future__ import annotations

from collections import deque
from itertools import islice

from scraper.extract.dom.xpath import Element, having, text_of

MAX_ELEMENTS = 20_000
_BEFORE, _BEHIND = 40, 90
"""Elements before and behind the headline: bylines stand above or below it, dates with them."""

_OUTSIDE = frozenset({"nav", "footer", "aside"})
_WITH_ITEMPROP = having("itemprop")


def around_headline(body: Element) -> list[Element]:
    """In document order; empty where there is no headline."""
    headline = _headline(body)
    if headline is None:
        return []
    every = islice(body.iter("*"), MAX_ELEMENTS)
    before: deque[Element] = deque(maxlen=_BEFORE)
    for one in every:
        if one is headline:
            return _inside([*before, one, *islice(every, _BEHIND - 1)])
        before.append(one)
    return []


def first_elements(body: Element) -> list[Element]:
    """The beginning of a page, for one without a headline."""
    return _inside(list(islice(body.iter("*"), _BEFORE + _BEHIND)))


def _inside(near: list[Element]) -> list[Element]:
    """Those that stand in nothing that is beside the content; most have their parent in common."""
    known: dict[Element | None, bool] = {}
    found = []
    for element in near:
        around = element.getparent()
        inside = known.get(around)
        if inside is None:
            inside = known[around] = _OUTSIDE.isdisjoint(one.tag for one in element.iterancestors())
        if inside:
            found.append(element)
    return found


def _headline(body: Element) -> Element | None:
    for element in _WITH_ITEMPROP(body):
        if element.get("itemprop") == "headline" and element.tag in ("h1", "h2"):
            return element
    return next((heading for heading in body.iter("h1") if text_of(heading).strip()), None)
