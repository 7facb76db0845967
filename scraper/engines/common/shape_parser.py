"""Parse a result page by its shape: rows are repeated links, each with its own text.

This parser uses no class name, id or label of any engine, so it still works when markup changes. The weights were
fitted with one engine left out at a time; each fit gave nearly the same values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scraper.engines.common import dom_text, redirect_unwrapping
from scraper.engines.common.layout_parser import is_internal
from scraper.engines.common.result_page import ResultPage
from scraper.engines.common.rows import (
    MAX_ROWS,
    MIN_SNIPPET_CHARS,
    EngineRow,
    LinkCandidate,
    RowLocation,
    is_ad_link,
    is_labeled_as_ad,
    locate_rows,
)
from scraper.extract.dom.xpath import Element, element_selector

MAX_LINKS = 1_500
"""Candidate links examined. Real pages have fewer than 400."""
MAX_GROUPS = 40
_JUDGED = 12
"""Rows used to score a group. More rows do not change the score."""
_USUAL_TITLE = 60
"""Characters of a usual title. Icons have none, URLs fewer, linked paragraphs more."""
_MIN_ROWS, _FOOTER = 3, 4
_HALF, _MOST, _NEARLY_ALL = 0.5, 0.7, 0.9
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_HEADING_REACH = 3

_LINKS = element_selector("//a[@href]")
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
    """Links of one shape with the features of their group, each from 0 to 1."""

    candidates: tuple[LinkCandidate, ...]
    count: float
    heading: float
    text: float
    title: float
    domains: float

    @property
    def is_told(self) -> bool:
        """Return True if at least half of the links have a heading or a text; navigation has neither."""
        return max(self.heading, self.text) >= _HALF

    @property
    def is_convincing(self) -> bool:
        """Return True if nearly all links have a heading and most have a text."""
        return self.heading >= _NEARLY_ALL and self.text >= _MOST

    @property
    def is_poor(self) -> bool:
        """Return True if the group has at most 4 links and is not convincing; it may be a footer."""
        return len(self.candidates) <= _FOOTER and not self.is_convincing

    @property
    def is_beyond_doubt(self) -> bool:
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


def parse_by_shape(page: ResultPage, weights: ShapeWeights = DEFAULT_WEIGHTS) -> ShapeResult:
    """Return the rows of the best group of links."""
    group = choose_group(link_groups(page), weights)
    rows = tuple(rows_of(group))
    return ShapeResult(rows, is_convincing=group is not None and bool(rows) and group.is_convincing)


def choose_group(found: Sequence[RowGroup], weights: ShapeWeights) -> RowGroup | None:
    """Return the group that looks most like results, or None.

    One or two links count if each has heading, text and a title of usual length, and there is no list or only a small,
    unconvincing one with a lower score.
    """

    def score(group: RowGroup) -> float:
        return group.score(weights)

    lists = (group for group in found if len(group.candidates) >= _MIN_ROWS and group.is_told)
    few = (group for group in found if len(group.candidates) < _MIN_ROWS and group.is_beyond_doubt)
    best, best_few = max(lists, key=score, default=None), max(few, key=score, default=None)
    if best is None or (best_few is not None and best.is_poor and score(best_few) > score(best)):
        return best_few
    return best


def rows_of(group: RowGroup | None) -> list[EngineRow]:
    """Return the unique organic rows of a group, in page order."""
    if group is None:
        return []
    rows: dict[tuple[str, str], EngineRow] = {}
    places = locate_rows(group.candidates, MAX_ROWS)
    own = {block for place in places for block in place.blocks}
    for place in places:
        if _is_advertised(place) or _is_nested(place, own):
            continue
        if place.title:
            key = (place.candidate.url, place.title)
            rows.setdefault(key, EngineRow(place.title, place.candidate.href, place.snippet))
    return list(rows.values())


def link_groups(page: ResultPage) -> list[RowGroup]:
    """Return the groups of links that may be results."""
    candidates = _candidates(page)
    members: dict[tuple[int, ...], list[LinkCandidate]] = {}
    for indices in _grouped(candidates):
        members.setdefault(tuple(indices), [candidates[index] for index in indices])
    promising = sorted(filter(_may_be_results, members.values()), key=_promise, reverse=True)
    return [_judged(group) for group in promising[:MAX_GROUPS]]


def _candidates(page: ResultPage) -> list[LinkCandidate]:
    if page.root is None:
        return []
    found = []
    for link in _LINKS(page.root)[:MAX_LINKS]:
        href = page.absolute(link.get("href"))
        url = redirect_unwrapping.unwrap(href) if href else ""
        parts = redirect_unwrapping.split_url(url) if url else None
        if parts is None or is_internal(page, url):
            continue
        inner = _INNER_HEADING(link)
        found.append(LinkCandidate(link, href, url, inner[0] if inner else _heading_above(link), bool(inner)))
    return found


def _heading_above(link: Element) -> Element | None:
    for distance, ancestor in enumerate(link.iterancestors()):
        if distance >= _HEADING_REACH:
            return None
        if ancestor.tag in _HEADINGS or ancestor.get("role") == "heading":
            return ancestor
    return None


def _grouped(candidates: Sequence[LinkCandidate]) -> Iterable[list[int]]:
    """Group link indices by shape, from fine to coarse.

    Each shape gives a group of all links, and a group with only the most title-like link of each run to one URL.
    """
    speakers = _speakers(candidates)
    by_shape: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        for shape in _shapes(candidate):
            by_shape[shape].append(index)
            if index in speakers:
                by_shape["speaker", *shape].append(index)
    return by_shape.values()


def _speakers(candidates: Sequence[LinkCandidate]) -> set[int]:
    """Return, for each run of links to the same URL, the index of the link that looks most like a title."""
    speakers = set()
    start = 0
    for index in range(1, len(candidates) + 1):
        if index == len(candidates) or candidates[index].url != candidates[start].url:
            speakers.add(max(range(start, index), key=lambda at: _title_likeness(candidates[at])))
            start = index
    return speakers


def _title_likeness(candidate: LinkCandidate) -> tuple[bool, bool, int]:
    text = dom_text.element_text(candidate.link, dom_text.MAX_TITLE)
    return (candidate.heading is not None, bool(text) and not dom_text.is_address(text), -abs(len(text) - _USUAL_TITLE))


def _shapes(candidate: LinkCandidate) -> Iterable[tuple[str, ...]]:
    link, heading = candidate.link, candidate.heading
    tags: list[str] = [str(link.tag)]
    classes = link.get("class") or ""
    for ancestor in link.iterancestors():
        tags.append(str(ancestor.tag))
        if len(tags) == 6:
            break
    above = f"{heading.tag} {candidate.heads}" if heading is not None else ""
    parent = link.getparent()
    yield ("path and classes", above, *tags, " ".join(sorted(classes.split())))
    yield ("short path and class", above, *tags[:4], *classes.split()[:1])
    yield ("parent's class", above, *tags[:3], (parent.get("class") or "") if parent is not None else "")
    yield ("path", above, *tags)
    yield ("short path", above, *tags[:3])
    if heading is not None:
        yield ("heading", above)


def _may_be_results(group: Sequence[LinkCandidate]) -> bool:
    return len(group) >= _MIN_ROWS or all(candidate.heading is not None for candidate in group)


def _promise(group: Sequence[LinkCandidate]) -> float:
    judged = group[:_JUDGED]
    headed = sum(candidate.heading is not None for candidate in judged) / len(judged)
    return len(judged) / _JUDGED + 2 * headed


def _judged(group: Sequence[LinkCandidate]) -> RowGroup:
    judged = locate_rows(group, _JUDGED)
    count = len(judged)
    hosts = {_host(place.candidate.url) for place in judged}
    return RowGroup(
        candidates=tuple(group),
        count=count / _JUDGED,
        heading=sum(place.candidate.heading is not None for place in judged) / count,
        text=sum(len(place.snippet) >= MIN_SNIPPET_CHARS for place in judged) / count,
        title=sum(8 <= len(place.title) <= 160 for place in judged) / count,
        domains=len(hosts) / count,
    )


def _host(url: str) -> str:
    parts = redirect_unwrapping.split_url(url)
    return (parts.hostname or "") if parts else ""


def _is_advertised(place: RowLocation) -> bool:
    return is_ad_link(place.candidate.href) or any(is_labeled_as_ad(block, place.title) for block in place.blocks)


def _is_nested(place: RowLocation, own: set[Element]) -> bool:
    return any(ancestor in own for ancestor in place.blocks[0].iterancestors())
