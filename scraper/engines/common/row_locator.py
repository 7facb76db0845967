"""Where a link stands in a page of results, and which text around it is its title and which its snippet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scraper.engines.common import dom_text, redirect_unwrapping
from scraper.extract.dom.xpath import Element, element_selector

MAX_ROWS = 200
LONG = 40
"""Characters from which a text is a sentence rather than a label."""

_MAX_CLIMB = 40
_MAX_FOLLOWING = 3
_ADDRESS_ATTRIBUTES = ("mu", "data-url", "data-href", "data-landurl")
"""Where an engine that hides its targets from people may name them for its own scripts."""

_LINKED = element_selector("(self::a | .//a)[@href]")
_TITLED = element_selector("descendant-or-self::*[@title]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A link that may be a row's, with where it leads and the heading that belongs to it."""

    link: Element
    href: str
    url: str
    heading: Element | None
    heads: bool
    """The heading stands inside the link."""


@dataclass(frozen=True, slots=True)
class RowLocation:
    """A candidate with the elements of the page that are its own."""

    candidate: Candidate
    blocks: tuple[Element, ...]
    title: str
    snippet: str


def placed(candidates: Sequence[Candidate], count: int) -> list[RowLocation]:
    """The first so many of a group in their places."""
    holders = _holders(candidates[:MAX_ROWS])
    group = candidates[:count]
    tops = [_top(candidate.link, holders) for candidate in group]
    places = []
    for candidate, top in zip(group, tops, strict=True):
        title_element = _title_element(candidate)
        title = _title(candidate, title_element)
        snippet = _snippet(top, title_element, title)
        blocks: tuple[Element, ...] = (top,)
        if len(snippet) < LONG:
            blocks = (top, *_following(top, holders))
            snippet = max((snippet, *(_snippet(block, None, title) for block in blocks[1:])), key=len)
        places.append(RowLocation(_resolved(candidate, top), blocks, title, snippet))
    return places


def _resolved(candidate: Candidate, top: Element) -> Candidate:
    """An opaque link with the true address, where an attribute of the row gives it away."""
    if not redirect_unwrapping.is_opaque(candidate.url):
        return candidate
    for element in (candidate.link, *candidate.link.iterancestors()):
        for value in (element.get(name) or "" for name in _ADDRESS_ATTRIBUTES):
            if (
                redirect_unwrapping.is_web(value)
                and not redirect_unwrapping.is_opaque(value)
                and value != candidate.href
            ):
                return replace(candidate, href=value, url=redirect_unwrapping.unwrap(value))
        if element is top:
            break
    return candidate


def _holders(group: Sequence[Candidate]) -> dict[Element, int]:
    """How many links of the group each element holds."""
    holding: defaultdict[Element, int] = defaultdict(int)
    for candidate in group:
        holding[candidate.link] += 1
        for distance, ancestor in enumerate(candidate.link.iterancestors()):
            holding[ancestor] += 1
            if distance > _MAX_CLIMB:
                break
    return holding


def _top(link: Element, holders: dict[Element, int]) -> Element:
    """The largest element that holds this link of the group alone."""
    top = link
    for ancestor in link.iterancestors():
        if holders.get(ancestor, 2) > 1:
            break
        top = ancestor
    return top


def _following(top: Element, holders: dict[Element, int]) -> Iterable[Element]:
    """What stands between a row's own element and the next row: rows of tables lie side by side.

    What has links of its own is something else: an advertisement, a module.
    """
    following = top.getnext()
    for _ in range(_MAX_FOLLOWING):
        if following is None or following in holders or _LINKED(following):
            return
        yield following
        following = following.getnext()


def _title_element(candidate: Candidate) -> Element:
    heading = candidate.heading
    return heading if heading is not None else candidate.link


def _title(candidate: Candidate, element: Element) -> str:
    if candidate.heading is not None and not _is_crowded(element):
        return dom_text.text_in(element, dom_text.MAX_TITLE)
    runs = [dom_text.tidy(run, dom_text.MAX_TITLE) for run in dom_text.runs(element)]
    runs = [run for run in runs if run and not dom_text.is_address(run)] or runs[:1]
    named = {dom_text.tidy(titled.get("title") or "", dom_text.MAX_TITLE) for titled in _TITLED(element)}
    return next((run for run in runs if run in named), max(runs, key=len, default=""))


def _is_crowded(element: Element) -> bool:
    """Whether a heading holds more than the title."""
    return any(dom_text.is_address(dom_text.tidy(run)) for run in dom_text.runs(element))


def _snippet(block: Element, without: Element | None, title: str) -> str:
    best = ""
    for run in dom_text.runs(block, without):
        text = dom_text.tidy(run)
        if len(text) > len(best) and text != title and not dom_text.is_address(text):
            best = text
    return best
