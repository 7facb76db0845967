"""Find the elements that contain one post each: they have the same shape, and each has one author and one date."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from urllib.parse import urldefrag, urlsplit

from scraper.facts.metadata.author_date_labels import AuthorDateLabel, strip_digits
from scraper.facts.metadata.written_dates import DATE_TAGS
from scraper.html.dom.parsing import HEADINGS, Element, depth_of, text_of
from scraper.urls import join_url
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

_MAX_WIDE = 150
"""Labels. An element with more of them contains a thread, and so do its ancestors."""
_MAX_TOKENS = 8
_MAX_ANCESTORS = 60

_NAMES = read_table(__package__, "names.toml")
_POST_NAME = WordPattern("|".join(_NAMES["post_name"]))
_REPLY_NAME = WordPattern("|".join(_NAMES["reply_name"]))
_POST_TYPES = frozenset(_NAMES["post_types"].split())
"""Shapes declared as posts; a single element of them is enough."""
_TYPED_POST = "@Post"
"""Common shape of all elements with one of these types, because a question and its answers have different shapes."""


@dataclass
class _Shape:
    """Elements that share a tag and a class, an id without numbers, or a type, with the labels nearest to each."""

    name: str
    members: dict[Element, list[AuthorDateLabel]] = field(default_factory=dict)

    @cached_property
    def is_single(self) -> bool:
        """Return True if a single element may be a post."""
        return (
            self.name in _POST_TYPES
            or self.name == _TYPED_POST
            or (self.name.endswith("-post") and self.name[:-5].isalpha())
        )

    @cached_property
    def is_reply(self) -> bool:
        """Return True if the name is one of answers, comments and the like."""
        return self.is_single or _REPLY_NAME.search(self.name) is not None

    @cached_property
    def is_post(self) -> bool:
        """Return True if the name suggests posts."""
        return _POST_NAME.search(self.name) is not None


def _group_by_shape(labels: Sequence[AuthorDateLabel]) -> list[_Shape]:
    """Return the shapes that can be posts, and of those with the same elements and kind of name only the first."""
    shapes: dict[str, _Shape] = {}
    tokens: dict[Element, list[str]] = {}
    totals: Counter[Element] = Counter()
    for label in labels:
        nearest: set[str] = set()
        around: Element | None = label.element
        for _ in range(_MAX_ANCESTORS):
            if around is None or around.tag == "body":
                break
            totals[around] += 1
            if totals[around] > _MAX_WIDE:
                break
            if around not in tokens:
                tokens[around] = _tokens(around)
            for name in tokens[around]:
                if name not in nearest:
                    nearest.add(name)
                    if name not in shapes:
                        shapes[name] = _Shape(name)
                    shapes[name].members.setdefault(around, []).append(label)
            around = around.getparent()
    distinct: dict[tuple[object, ...], _Shape] = {}
    for shape in shapes.values():
        is_comment = "comment" in shape.name.lower()
        if len(shape.members) > 1 or shape.is_single or is_comment:
            kind = (shape.is_single, shape.is_reply, shape.is_post, is_comment)
            distinct.setdefault((kind, *shape.members), shape)
    return list(distinct.values())


def _tokens(element: Element) -> list[str]:
    tag: str = element.tag
    names = [f"{tag}.{strip_digits(name)}" for name in (element.get("class") or "")[:300].split()[:_MAX_TOKENS]]
    identity = element.get("id")
    if identity and any(map(str.isdigit, identity)):
        names.append(f"{tag}#{strip_digits(identity)[:40]}")
    kind = _type_of(element)
    if kind:
        names += (kind, _TYPED_POST) if kind in _POST_TYPES else (kind,)
    if "-" in tag:
        names.append(tag)
    if not names and tag in ("li", "article", "tr", "table", "section", "dd", "div"):
        around = element.getparent()
        names.append(f"{'' if around is None else (around.get('class') or around.tag)[:60]}>{tag}")
    return names


def _type_of(element: Element) -> str:
    """Return the shape of the schema.org type that an element declares, or an empty string."""
    kind = element.get("itemtype")
    return "@" + kind.rstrip("/").rpartition("/")[2] if kind else ""


_MAX_LINK_DEPTH = 3
_SIDE_TAGS = frozenset({"nav", "footer", "header"})
_SIDE_NAMES = "sidebar widget related recent latest popular trending teaser similar recommend".split()
_MAX_ROUNDS = 4
_MIN_GOOD = 0.5
"""Share of the elements of one shape that have an author and a date."""
_MIN_NAMED = 0.7
"""Share of the elements named as posts that have an author; not all need a date."""
_MAX_WRAPPERS = 0.2
"""Share of the elements of one shape that have the labels of several posts."""
_MIN_NAMES = 2
_FULL = 400
"""Characters. Longer posts do not count more when shapes are compared."""
_TIE = 0.9
_MIN_TYPED = 0.6
"""Share of the value of the best shape that declared posts must have, because a page may declare some posts only."""


@dataclass(slots=True)
class PostContainer:
    """Element that contains one post."""

    element: Element
    author: AuthorDateLabel | None = None
    date: AuthorDateLabel | None = None
    shape: str = ""
    """Tag with class or id, or a schema.org type such as `@Comment`, that all containers of a kind share."""
    stamps: list[Element] = field(default_factory=list)
    """Elements with the date of the post."""


@dataclass
class _Search:
    cards: "_RelatedCards"
    found: dict[Element, PostContainer] = field(default_factory=dict)
    used: set[Element] = field(default_factory=set)
    lengths: dict[Element, int] = field(default_factory=dict)
    """Characters of the elements of posts."""


@dataclass(frozen=True)
class _Candidate:
    shape: _Shape
    search: _Search
    containers: Sequence[PostContainer]
    size: int
    """Elements with unused labels, including those with the labels of several posts."""
    least: int
    is_undated: bool

    @cached_property
    def elements(self) -> list[Element]:
        """Elements of the posts."""
        return [one.element for one in self.containers]

    @cached_property
    def complete(self) -> list[Element]:
        """Elements with an author and a date."""
        return [one.element for one in self.containers if one.author and one.date]

    @cached_property
    def authors(self) -> list[str]:
        """Names of the authors, one for each post that has one."""
        return [one.author.text for one in self.containers if one.author]

    @cached_property
    def characters(self) -> int:
        """Characters of the posts that count: without dates all, else those with author and date."""
        lengths, counted = self.search.lengths, self.elements if self.is_undated else self.complete
        if any(element not in lengths for element in counted):
            whole = {element: len(text_of(element)) for element in self.shape.members}
            own = dict(whole)  # without the other elements inside
            for element in whole:
                around = next((one for one in element.iterancestors() if one in whole), None)
                if around is not None:
                    own[around] -= whole[element]
            lengths.update((element, own[element]) for element in counted if element not in lengths)
        return sum(min(lengths[element], _FULL) for element in counted)

    @property
    def value(self) -> float:
        """Characters, which count more if the name of the shape suggests posts."""
        return self.characters * (1.5 if self.shape.is_post else 1.0)


def find_containers(labels: Sequence[AuthorDateLabel], url: str) -> list[PostContainer]:
    """Return the containers of all posts in document order.

    `url` is that of the page: elements that mainly link to other pages are teasers, not posts.
    """
    shapes = _group_by_shape(labels)
    search = _Search(_RelatedCards(url))
    found, used = search.found, search.used
    for _ in range(_MAX_ROUNDS):
        candidates: dict[tuple[Element, ...], _Candidate] = {}
        for candidate in filter(None, (_judge(shape, search) for shape in shapes)):
            candidates.setdefault(tuple(candidate.elements), candidate)
        if not candidates:
            break
        for container in _choose(list(candidates.values())).containers:
            found[container.element] = container
            used.update(label.element for label in (container.author, container.date) if label is not None)
            used.update(container.stamps)
        # A date may have parts, such as a long and a short form.
        used.update(label.element for label in labels if label.is_date and label.element.getparent() in used)
    elements = labels[0].element.getroottree().getroot().iter() if found else ()
    return [found[element] for element in elements if element in found]


def _choose(candidates: Sequence[_Candidate]) -> _Candidate:
    """Return the best candidate; of those that hold nearly the same, the outermost."""
    best = max(candidates, key=lambda one: one.value)
    typed = next((one for one in candidates if one.shape.name == _TYPED_POST), None)
    if typed is not None and typed.value < _MIN_TYPED * best.value:
        typed = None
    best = typed or best
    return min(
        (one for one in candidates if one.value >= _TIE * best.value and _covers(one, best)),
        key=lambda one: (typed is not None and one is not best, depth_of(one.elements[0])),
    )


def _covers(outer: _Candidate, inner: _Candidate) -> bool:
    if outer is inner:
        return True
    if abs(len(outer.containers) - len(inner.containers)) > 0.1 * len(inner.containers):
        return False
    outers = set(outer.elements)
    return all(not outers.isdisjoint(islice(one.iterancestors(), 12)) for one in inner.elements[:5])


_REFUSALS: Mapping[str, Callable[[_Candidate], bool]] = {
    "wrappers": lambda one: one.size - len(one.containers) > _MAX_WRAPPERS * one.size,
    "few names, and no dates": lambda one: (
        one.is_undated and (len(one.containers) <= _MIN_NAMES or len(set(one.authors)) < _MIN_NAMES)
    ),
    "cards, and no dates": lambda one: one.is_undated and one.search.cards.are_teasers(one.elements),
    "few labels": lambda one: (
        len(one.complete) < max(one.least, _MIN_GOOD * one.size)
        and not (one.shape.is_post and len(one.authors) >= _MIN_NAMED * one.size)
    ),
    "parts of posts": lambda one: _are_parts(one.shape, one.containers, one.search.found),
    "cards beside the text": lambda one: (
        not one.shape.is_reply and one.search.cards.are_beside(one.elements, may_be_all=one.shape.is_post)
    ),
    "teasers": lambda one: not one.shape.is_reply and one.search.cards.are_teasers(one.elements),
}
"""By what the elements are instead of posts, or lack: the test. Cheap tests come first."""


def _judge(shape: _Shape, search: _Search) -> _Candidate | None:
    """Return the posts of a shape, or None if its elements are not posts."""
    least = 1 if shape.is_single else 2
    if search.found and not shape.is_reply:
        return None
    members = {
        element: unused
        for element, labels in shape.members.items()
        if element not in search.found
        if (unused := [label for label in labels if label.element not in search.used])
    }
    if len(members) < least:
        return None
    keys = author_key, date_key = _best_keys(members.values())
    may_be_undated = shape.is_post and shape.is_reply and not search.found
    if author_key is None or (date_key is None and not may_be_undated):
        return None
    read = (_read_post(shape, element, labels, *keys) for element, labels in members.items())
    posts = [one for one in read if one is not None]
    candidate = _Candidate(shape, search, posts, len(members), least, date_key is None)
    return None if any(refuses(candidate) for refuses in _REFUSALS.values()) else candidate


def _read_post(
    shape: _Shape,
    element: Element,
    labels: Sequence[AuthorDateLabel],
    author_key: tuple[str, ...] | None,
    date_key: tuple[str, ...] | None,
) -> PostContainer | None:
    """Return the post in an element that has labels, or None if it has the labels of several posts."""
    authors = _of_kind(labels, author_key, is_date=False)
    dates = _of_kind(labels, date_key, is_date=True)
    names, times = {label.text for label in authors}, {label.text for label in dates}
    if len(times) > 1 and (len(names) > 1 or len(times) > 3):
        return None
    same = [label for label in labels if label.is_date and label.text == dates[0].text]
    date = next((label for label in (*dates[:1], *same) if label.moment is not None), next(iter(dates), None))
    name = _type_of(element) if shape.name == _TYPED_POST else shape.name
    return PostContainer(element, next(iter(authors), None), date, name, [label.element for label in same])


def _best_keys(members: Iterable[Sequence[AuthorDateLabel]]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the keys of the authors and of the dates that most elements have once, earlier keys first."""
    authors: Counter[tuple[str, ...]] = Counter()
    dates: Counter[tuple[str, ...]] = Counter()
    for labels in members:
        texts: dict[tuple[bool, tuple[str, ...]], str | None] = {}
        for label in labels:
            kind = (label.is_date, label.key)
            if texts.setdefault(kind, label.text) != label.text:
                texts[kind] = None  # several texts
        for (is_date, key), text in texts.items():
            (dates if is_date else authors)[key] += 1 if text is None else 2
    author_key = None
    if authors:
        most = max(authors.values())
        # Markup names authors with more certainty than links do, and links more than classes.
        author_key = min((key for key, count in authors.items() if count >= 0.85 * most), key=lambda key: key[0])
    return author_key, max(dates, key=lambda key: (dates[key], key[0] in DATE_TAGS), default=None)


def _of_kind(labels: Sequence[AuthorDateLabel], key: tuple[str, ...] | None, *, is_date: bool) -> list[AuthorDateLabel]:
    """Return the labels with a key; without a key, the first or, for authors, the most certain label."""
    of_kind = [label for label in labels if label.is_date is is_date]
    matching = [label for label in of_kind if label.key == key]
    if matching or not of_kind:
        return matching
    return of_kind[:1] if is_date else [min(of_kind, key=lambda label: label.key[0])]


def _are_parts(shape: _Shape, containers: Sequence[PostContainer], found: Mapping[Element, PostContainer]) -> bool:
    if not any(around in found for element in shape.members for around in element.iterancestors()):
        return False
    if "comment" not in shape.name.lower() or any("comment" in one.shape.lower() for one in found.values()):
        return True
    outer = [next((found[one] for one in part.element.iterancestors() if one in found), None) for part in containers]
    complete = sum(one.author is not None and one.date is not None for one in containers)
    authors = [one.author.text if one is not None and one.author else "" for one in outer]
    own = [one.author.text if one.author else None for one in containers]
    return any(outer) and (complete < _MIN_GOOD * len(containers) or (len(containers) > 1 and authors == own))


class _RelatedCards:
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
                    is_named = around.tag != "body" and any(word in name for word in _SIDE_NAMES)
                    known[around] = around.tag in _SIDE_TAGS or is_named
                if known[around]:
                    found[around] += 1
                    break
        for around in [around for around, count in found.items() if may_be_all and 2 * count > len(elements)]:
            whole = len(text_of(around.getroottree().getroot()))
            if 2 * len(text_of(around)) > whole:
                del found[around]
        return 2 * found.total() > len(elements)

    def are_teasers(self, elements: Sequence[Element]) -> bool:
        """Return True if most of the elements lead to pages of their own, as in lists of articles and topics."""
        for element in elements:
            if element not in self._known:
                self._known[element] = self._is_teaser(element)
        return 2 * sum(self._known[element] for element in elements) > len(elements)

    def _is_teaser(self, element: Element) -> bool:
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
            return not fragment and urlsplit(target).path.rstrip("/") != urlsplit(self._url).path.rstrip("/")
        except ValueError:
            return False


def _is_headline(link: Element, container: Element) -> bool:
    for around in (link, *islice(link.iterancestors(), 3), *islice(link.iter(), 4)):
        if around is container:
            return False
        if around.tag in HEADINGS or "title" in (around.get("class") or ""):
            return True
    return False
