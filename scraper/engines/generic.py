"""Result pages read by their shape alone: rows are links that repeat, each with a text of its own.

No class name, id or label of any engine stands here, so that this reader holds when markup moves. The weights
were found by leaving one engine out at a time, and come out nearly the same for each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scraper.engines import ads, texts, unwrap
from scraper.engines.layout import is_internal
from scraper.engines.page import ResultPage
from scraper.engines.rows import Row
from scraper.extract.xpath import Element, elements

__all__ = ["DEFAULT_WEIGHTS", "Shape", "Weights", "groups", "pick", "read", "rows_of"]

MAX_LINKS = 1_500
"""Candidates looked at; real pages have fewer than 400."""
MAX_GROUPS = 40
MAX_ROWS = 200
_JUDGED = 12
"""Rows by which a group is judged: more would only repeat them."""
_LONG = 40
"""Characters from which a text is a sentence rather than a label."""
_MIN_ROWS = 3
_HALF, _MOST, _NEARLY_ALL = 0.5, 0.7, 0.9
_HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
_HEADING_REACH = 3
_MAX_CLIMB = 40

_ADDRESS_ATTRIBUTES = ("mu", "data-url", "data-href", "data-landurl")
"""Where an engine that hides its targets from people may name them for its own scripts."""

_LINKS = elements("//a[@href]")
_LINKED = elements("(self::a | .//a)[@href]")
_INNER_HEADING = elements(".//h1 | .//h2 | .//h3 | .//h4 | .//*[@role='heading']")
_TITLED = elements("descendant-or-self::*[@title]")


@dataclass(frozen=True, slots=True)
class Weights:
    """What a row of results looks like, by how much each sign counts."""

    heading: float = 2.0
    text: float = 1.5
    title: float = 0.5
    domains: float = 1.0


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class _Candidate:
    link: Element
    href: str
    url: str
    heading: Element | None
    heads: bool
    """The heading stands inside the link."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A candidate with the elements of the page that are its own."""

    candidate: _Candidate
    blocks: tuple[Element, ...]
    title: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Group:
    """Links of one shape, and how much they look like results."""

    candidates: tuple[_Candidate, ...]
    count: float
    heading: float
    text: float
    title: float
    domains: float

    @property
    def is_told(self) -> bool:
        """Whether at least half of the links have a heading or a text of their own, as navigation has not."""
        return max(self.heading, self.text) >= _HALF

    @property
    def is_convincing(self) -> bool:
        """Whether nearly all have a heading, and most a text: no navigation does."""
        return self.heading >= _NEARLY_ALL and self.text >= _MOST

    @property
    def is_beyond_doubt(self) -> bool:
        """Whether every link has both."""
        return min(self.heading, self.text, self.title) == 1

    def score(self, weights: Weights) -> float:
        """More is more like a list of results."""
        return (
            self.count
            + weights.heading * self.heading
            + weights.text * self.text
            + weights.title * self.title
            + weights.domains * self.domains
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """What a page shows by its shape."""

    rows: tuple[Row, ...] = ()
    is_convincing: bool = False
    """These are results, whatever else the page may say."""


def read(page: ResultPage, weights: Weights = DEFAULT_WEIGHTS) -> Shape:
    """The rows of a page that is not known to be a wall."""
    group = pick(groups(page), weights)
    rows = tuple(rows_of(page, group))
    return Shape(rows, is_convincing=group is not None and bool(rows) and group.is_convincing)


def pick(found: Sequence[Group], weights: Weights) -> Group | None:
    """The group that looks most like results; None when none does.

    One or two rows are taken for results only where there is no list, and where they have all that rows have.
    """
    lists = [group for group in found if len(group.candidates) >= _MIN_ROWS and group.is_told]
    few = [group for group in found if len(group.candidates) < _MIN_ROWS and group.is_beyond_doubt]
    return max(lists or few, key=lambda group: group.score(weights), default=None)


def rows_of(page: ResultPage, group: Group | None) -> list[Row]:
    """The organic rows of a group, in order, none twice."""
    if group is None:
        return []
    rows: dict[tuple[str, str], Row] = {}
    places = _placed(group.candidates, MAX_ROWS)
    own = {block for place in places for block in place.blocks}
    for place in places:
        if _is_advertised(place) or _is_nested(place, own):
            continue
        if place.title:
            key = (place.candidate.url, place.title)
            rows.setdefault(key, Row(place.title, place.candidate.href, place.snippet))
    return list(rows.values())


def groups(page: ResultPage) -> list[Group]:
    """The groups of links in a page that could be its results."""
    candidates = _candidates(page)
    members: dict[tuple[int, ...], list[_Candidate]] = {}
    for indices in _grouped(candidates):
        members.setdefault(tuple(indices), [candidates[index] for index in indices])
    promising = sorted(filter(_may_be_results, members.values()), key=_promise, reverse=True)
    return [_judged(group) for group in promising[:MAX_GROUPS]]


def _candidates(page: ResultPage) -> list[_Candidate]:
    if page.root is None:
        return []
    found = []
    for link in _LINKS(page.root)[:MAX_LINKS]:
        href = page.absolute(link.get("href"))
        url = unwrap.unwrap(href) if href else ""
        parts = unwrap.split(url) if url else None
        if parts is None or is_internal(page, url):
            continue
        inner = _INNER_HEADING(link)
        found.append(_Candidate(link, href, url, inner[0] if inner else _heading_above(link), bool(inner)))
    return found


def _heading_above(link: Element) -> Element | None:
    for distance, ancestor in enumerate(link.iterancestors()):
        if distance >= _HEADING_REACH:
            return None
        if ancestor.tag in _HEADINGS or ancestor.get("role") == "heading":
            return ancestor
    return None


def _grouped(candidates: Sequence[_Candidate]) -> Iterable[list[int]]:
    """Groups of candidates that look alike, from fine to coarse."""
    by_shape: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        for shape in _shapes(candidate):
            by_shape[shape].append(index)
    return (indices for indices in by_shape.values())


def _shapes(candidate: _Candidate) -> Iterable[tuple[str, ...]]:
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


def _may_be_results(group: Sequence[_Candidate]) -> bool:
    return len(group) >= _MIN_ROWS or all(candidate.heading is not None for candidate in group)


def _promise(group: Sequence[_Candidate]) -> float:
    judged = group[:_JUDGED]
    headed = sum(candidate.heading is not None for candidate in judged) / len(judged)
    return len(judged) / _JUDGED + 2 * headed


def _judged(group: Sequence[_Candidate]) -> Group:
    judged = _placed(group, _JUDGED)
    count = len(judged)
    hosts = {_host(place.candidate.url) for place in judged}
    return Group(
        candidates=tuple(group),
        count=count / _JUDGED,
        heading=sum(place.candidate.heading is not None for place in judged) / count,
        text=sum(len(place.snippet) >= _LONG for place in judged) / count,
        title=sum(8 <= len(place.title) <= 160 for place in judged) / count,
        domains=len(hosts) / count,
    )


def _host(url: str) -> str:
    parts = unwrap.split(url)
    return (parts.hostname or "") if parts else ""


def _placed(candidates: Sequence[_Candidate], count: int) -> list[_Place]:
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
        if len(snippet) < _LONG:
            blocks = (top, *_following(top, holders))
            snippet = max((snippet, *(_snippet(block, None, title) for block in blocks[1:])), key=len)
        places.append(_Place(_resolved(candidate, top), blocks, title, snippet))
    return places


def _resolved(candidate: _Candidate, top: Element) -> _Candidate:
    """An opaque link with the true address, where an attribute of the row gives it away."""
    if not unwrap.is_opaque(candidate.url):
        return candidate
    for element in (candidate.link, *candidate.link.iterancestors()):
        for value in (element.get(name) or "" for name in _ADDRESS_ATTRIBUTES):
            if unwrap.is_web(value) and not unwrap.is_opaque(value) and value != candidate.href:
                return replace(candidate, href=value, url=unwrap.unwrap(value))
        if element is top:
            break
    return candidate


def _holders(group: Sequence[_Candidate]) -> dict[Element, int]:
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


_MAX_FOLLOWING = 3


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


def _title_element(candidate: _Candidate) -> Element:
    heading = candidate.heading
    return heading if heading is not None else candidate.link


def _title(candidate: _Candidate, element: Element) -> str:
    if candidate.heading is not None and not _is_crowded(element):
        return texts.text_in(element, texts.MAX_TITLE)
    runs = [texts.tidy(run, texts.MAX_TITLE) for run in texts.runs(element)]
    runs = [run for run in runs if run and not texts.is_address(run)] or runs[:1]
    named = {texts.tidy(titled.get("title") or "", texts.MAX_TITLE) for titled in _TITLED(element)}
    return next((run for run in runs if run in named), max(runs, key=len, default=""))


def _is_crowded(element: Element) -> bool:
    """Whether a heading holds more than the title."""
    return any(texts.is_address(texts.tidy(run)) for run in texts.runs(element))


def _snippet(block: Element, without: Element | None, title: str) -> str:
    best = ""
    for run in texts.runs(block, without):
        text = texts.tidy(run)
        if len(text) > len(best) and text != title and not texts.is_address(text):
            best = text
    return best


def _is_advertised(place: _Place) -> bool:
    return ads.is_ad_link(place.candidate.href) or any(
        ads.is_labelled(block, place.title) for block in place.blocks
    )


def _is_nested(place: _Place, own: set[Element]) -> bool:
    return any(ancestor in own for ancestor in place.blocks[0].iterancestors())
