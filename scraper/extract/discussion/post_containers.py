"""Find the elements that contain one post each: they have the same shape, and each has one author and one date."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urldefrag, urljoin, urlsplit

from scraper.extract.discussion.author_date_labels import DATE_TAGS, AuthorDateLabel
from scraper.extract.dom.tags import HEADINGS
from scraper.extract.dom.xpath import Element, text_of

_MAX_WIDE = 150
"""Labels. An element with more of them contains a thread, and so do its ancestors."""
_MAX_TOKENS = 8
_MAX_ANCESTORS = 60
_MAX_ROUNDS = 4
_MIN_GOOD = 0.5
"""Share of the elements of one shape that have an author and a date."""
_MIN_NAMED = 0.7
"""Share of the elements named as posts that have an author; not all need a date."""
_MAX_WRAPPERS = 0.2
"""Share of the elements of one shape that have the labels of several posts."""
_MIN_NAMES = 2
"""Minimum number of different names of posts without dates."""
_FULL = 400
"""Characters. Longer posts do not count more when shapes are compared."""
_MIN_CHARACTERS = 2
_MAX_LINK_DEPTH = 3
"""Levels above a card in which a link around the whole card is searched."""
_TIE = 0.9

_DIGITS = re.compile(r"\d+")
POST_NAME = re.compile(
    r"post(?!er)|comment|message|reply|answer|question|review|note|(?:^|[\s_#@-])(?:msg|email|mail|thread|topic|thing|"
    r"discussion|kommentar|beitrag|commentaire|comentario|отзыв|koment)",
    re.IGNORECASE,
)
"""Shapes whose names suggest posts."""
_REPLY_NAME = re.compile(
    r"comment|repl(?:y|ies)|answer|review|question|message|note|msg|mail|@Comment|@Answer", re.IGNORECASE
)
_SIDE_TAGS = frozenset({"nav", "footer", "header"})
_SIDE_NAME = re.compile(
    r"sidebar|widget|related|recent|latest|popular|trending|teaser|similar|recommend", re.IGNORECASE
)
_POST_TYPES = frozenset(
    {"@Question", "@Answer", "@Comment", "@UserComments", "@DiscussionForumPosting", "@SocialMediaPosting", "@Review"}
)
"""Shapes declared as posts; a single element of them is enough."""
_TYPED = "@Post"
"""Common shape of all elements with one of these types, because a question and its answers have different shapes."""
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


@dataclass(slots=True)
class _Shape:
    """Elements that share a tag and a class, an id without numbers, or a type, with the labels nearest to each."""

    name: str
    members: dict[Element, list[AuthorDateLabel]] = field(default_factory=dict)


@dataclass(slots=True)
class _Candidate:
    shape: _Shape
    containers: list[PostContainer]
    value: float

    @property
    def elements(self) -> set[Element]:
        """Elements of the posts."""
        return {one.element for one in self.containers}


def find_containers(labels: Sequence[AuthorDateLabel], url: str) -> list[PostContainer]:
    """Return the containers of all posts in document order.

    `url` is that of the page: elements that mainly link to other pages are teasers, not posts.
    """
    shapes = _group_by_shape(labels)
    found: dict[Element, PostContainer] = {}
    used: set[Element] = set()
    lengths: dict[Element, int] = {}
    for number in range(_MAX_ROUNDS):
        candidates = []
        seen: set[tuple[Element, ...]] = set()
        for shape in shapes:
            candidate = _judge(shape, used, found, lengths, url, is_first=number == 0)
            if candidate is not None:
                members = tuple(one.element for one in candidate.containers)
                if members not in seen:
                    seen.add(members)
                    candidates.append(candidate)
        if not candidates:
            break
        best = max(candidates, key=lambda one: one.value)
        typed = next((one for one in candidates if one.shape.name == _TYPED), None)
        is_typed = typed is not None and _prevails(typed, best, candidates)
        best = typed if typed is not None and is_typed else best
        # Of shapes that hold nearly the same, the outermost comes first.
        best = min(
            (one for one in candidates if one.value >= _TIE * best.value and _covers(one, best)),
            key=lambda one: (is_typed and one is not best, _depth(one.containers[0].element)),
        )
        for container in best.containers:
            found[container.element] = container
            used.update(label.element for label in (container.author, container.date) if label is not None)
            used.update(container.stamps)
    order = {element: number for number, element in enumerate(_in_order(found))}
    return sorted(found.values(), key=lambda one: order[one.element])


def _prevails(typed: _Candidate, best: _Candidate, candidates: Sequence[_Candidate]) -> bool:
    """Return True if declared posts hold most of the text and no shape contains them all."""
    elements = typed.elements
    return typed.value >= _MIN_TYPED * best.value and not any(
        elements <= one.elements for one in candidates if one.shape.name[0] != "@"
    )


def _depth(element: Element) -> int:
    return sum(1 for _ in element.iterancestors())


def _in_order(elements: Iterable[Element]) -> list[Element]:
    members = set(elements)
    if not members:
        return []
    root = next(iter(members)).getroottree().getroot()
    return [element for element in root.iter() if element in members]


def _covers(outer: _Candidate, inner: _Candidate) -> bool:
    """Return True if the candidate is the other one, or its elements contain the other's."""
    if outer is inner:
        return True
    if abs(len(outer.containers) - len(inner.containers)) > 0.1 * len(inner.containers):
        return False
    outers, sample = outer.elements, inner.containers[:5]
    return all(any(around in outers for around in islice(one.element.iterancestors(), 12)) for one in sample)


def _group_by_shape(labels: Sequence[AuthorDateLabel]) -> list[_Shape]:
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
            names = tokens.get(around)
            if names is None:
                names = tokens[around] = _tokens(around)
            for name in names:
                if name not in nearest:
                    nearest.add(name)
                    shape = shapes.get(name)
                    if shape is None:
                        shape = shapes[name] = _Shape(name)
                    shape.members.setdefault(around, []).append(label)
            around = around.getparent()
    return list(shapes.values())


def _tokens(element: Element) -> list[str]:
    """Return the shapes of an element."""
    tag: str = element.tag
    names = [f"{tag}.{_DIGITS.sub('', name)}" for name in (element.get("class") or "")[:300].split()[:_MAX_TOKENS]]
    identity = element.get("id")
    if identity and any(map(str.isdigit, identity)):
        names.append(f"{tag}#{_DIGITS.sub('', identity)[:40]}")
    kind = _type_of(element)
    if kind:
        names += (kind, _TYPED) if kind in _POST_TYPES else (kind,)
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


def _judge(
    shape: _Shape,
    used: set[Element],
    found: Mapping[Element, PostContainer],
    lengths: dict[Element, int],
    url: str,
    *,
    is_first: bool,
) -> _Candidate | None:
    """Return the posts of a shape, or None if its elements are not posts."""
    is_single = shape.name in _POST_TYPES or shape.name == _TYPED
    is_reply = is_single or _REPLY_NAME.search(shape.name) is not None
    least = 1 if is_single else 2
    if len(shape.members) < least:
        return None
    members = {
        element: [label for label in labels if label.element not in used] if used else labels
        for element, labels in shape.members.items()
        if element not in found
    }
    members = {element: labels for element, labels in members.items() if labels}
    if len(members) < least or not _may_be_posts(shape.name, members.values(), least):
        return None
    author_key = _best_key(members.values(), is_date=False)
    date_key = _best_key(members.values(), is_date=True)
    if author_key is None or (date_key is None and not POST_NAME.search(shape.name)):
        return None
    containers, both, wrappers = [], 0, 0
    for element, labels in members.items():
        authors = _of_kind(labels, author_key, is_date=False)
        dates = _of_kind(labels, date_key, is_date=True)
        if _is_wrapper(authors, dates):
            wrappers += 1
            continue
        both += bool(authors and dates)
        if authors or dates:
            stamps = [label.element for label in labels if label.is_date and dates and label.text == dates[0].text]
            author, date = (authors[0] if authors else None), (dates[0] if dates else None)
            name = _type_of(element) if shape.name == _TYPED else shape.name
            containers.append(PostContainer(element, author, date, name, stamps))
    if len(containers) < least or wrappers > _MAX_WRAPPERS * len(members):
        return None
    names = {one.author.text for one in containers if one.author}
    if date_key is None and (
        not is_reply
        or len(containers) <= _MIN_NAMES
        or len(names) < _MIN_NAMES
        or _are_teasers(containers, url)
        or _are_priced(containers)
    ):
        return None
    if both < max(least, _MIN_GOOD * len(members)) and not (
        POST_NAME.search(shape.name) and sum(one.author is not None for one in containers) >= _MIN_NAMED * len(members)
    ):
        return None
    if not is_first and (not is_reply or date_key is None or not _may_follow(shape, found)):
        return None
    if not is_reply and _are_beside(containers, may_be_all=POST_NAME.search(shape.name) is not None):
        return None
    value = 0.0
    for one in containers:
        if date_key is not None and not (one.author and one.date):
            continue
        if one.element not in lengths:
            lengths[one.element] = _own_length(one.element, shape.members)
        value += min(lengths[one.element], _FULL)
    if value < _MIN_CHARACTERS * len(containers) or (not is_reply and _are_teasers(containers, url)):
        return None
    return _Candidate(shape, containers, value * (1.5 if POST_NAME.search(shape.name) else 1.0))


def _may_be_posts(name: str, members: Collection[Sequence[AuthorDateLabel]], least: int) -> bool:
    """Return False if too few elements have an author, or an author and a date, to be posts."""
    kinds = [{label.is_date for label in labels} for labels in members]
    if sum(len(kind) == 2 for kind in kinds) >= max(least, _MIN_GOOD * len(members)):
        return True
    return sum(False in kind for kind in kinds) >= _MIN_NAMED * len(members) and POST_NAME.search(name) is not None


def _best_key(members: Iterable[Sequence[AuthorDateLabel]], *, is_date: bool) -> tuple[str, ...] | None:
    """Return the key of the labels that most elements have once, earlier keys first."""
    having: Counter[tuple[str, ...]] = Counter()
    for labels in members:
        values: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        for label in labels:
            if label.is_date is is_date:
                values[label.key].add(label.text)
        for key, texts in values.items():
            having[key] += 2 if len(texts) == 1 else 1
    if not having:
        return None
    most = max(having.values())
    if is_date:
        return max(having, key=lambda key: (having[key], key[0] in DATE_TAGS))
    # Markup names authors with more certainty than links do, and links more than classes.
    return min((key for key, count in having.items() if count >= 0.85 * most), key=lambda key: key[0])


def _of_kind(labels: Sequence[AuthorDateLabel], key: tuple[str, ...] | None, *, is_date: bool) -> list[AuthorDateLabel]:
    """Return the labels with a key; without a key, the first or, for authors, the most certain label."""
    of_kind = [label for label in labels if label.is_date is is_date]
    matching = [label for label in of_kind if label.key == key]
    if matching or not of_kind:
        return matching
    return of_kind[:1] if is_date else [min(of_kind, key=lambda label: label.key[0])]


def _is_wrapper(authors: Sequence[AuthorDateLabel], dates: Sequence[AuthorDateLabel]) -> bool:
    """Return True if an element has the labels of several posts."""
    names, times = {label.text for label in authors}, {label.text for label in dates}
    return len(times) > 1 and (len(names) > 1 or len(times) > 3)


def _may_follow(shape: _Shape, found: Mapping[Element, PostContainer]) -> bool:
    """Return True if posts of a shape may be next to the posts found before, or are comments in them."""
    is_inside = any(around in found for element in shape.members for around in element.iterancestors())
    if not is_inside:
        return True
    return "comment" in shape.name.lower() and not any("comment" in one.shape.lower() for one in found.values())


def _are_beside(containers: Sequence[PostContainer], *, may_be_all: bool) -> bool:
    """Return True if most of the elements are in navigation, widgets or lists of related pages.

    With `may_be_all`, an element with most of the page's text is none of these, regardless of its name.
    """
    beside: dict[Element, int] = {}
    known: dict[Element, bool] = {}
    for one in containers:
        for around in islice(one.element.iterancestors(), 12):
            if around not in known:
                name = f"{around.get('class') or ''} {around.get('id') or ''}"
                is_named = around.tag != "body" and _SIDE_NAME.search(name) is not None
                known[around] = around.tag in _SIDE_TAGS or is_named
            if known[around]:
                beside[around] = beside.get(around, 0) + 1
                break
    for around in [around for around, count in beside.items() if may_be_all and 2 * count > len(containers)]:
        whole = len(text_of(around.getroottree().getroot()))
        if 2 * len(text_of(around)) > whole:
            del beside[around]
    return 2 * sum(beside.values()) > len(containers)


def _are_priced(containers: Sequence[PostContainer]) -> bool:
    """Return True if most of the elements contain a price, as the cards of a shop do."""
    priced = sum(
        any("price" in (part.get("class") or "") for part in islice(one.element.iter(), _MAX_ANCESTORS))
        for one in containers
    )
    return 2 * priced > len(containers)


def _own_length(element: Element, members: Mapping[Element, object]) -> int:
    """Return the characters of an element without those of the members inside it."""
    length = len(text_of(element))
    stack = list(element)
    while stack:
        child = stack.pop()
        if child in members:
            length -= len(text_of(child))
        elif len(child):
            stack.extend(child)
    return length


def _are_teasers(containers: Sequence[PostContainer], url: str) -> bool:
    """Return True if most elements lead to a page of their own, as in lists of articles and topics."""
    path = urlsplit(url).path.rstrip("/")
    teasers = 0
    for one in containers:
        around = next((link for link in islice(one.element.iterancestors(), _MAX_LINK_DEPTH) if link.tag == "a"), None)
        if around is not None and _leads_away(around.get("href") or "", url, path):
            teasers += 1
            continue
        whole = len(text_of(one.element)) or 1
        links = [(link, len(text_of(link).strip())) for link in islice(one.element.iter("a"), 30)]
        largest, size = max(links, key=lambda pair: pair[1], default=(None, 0))
        is_card = largest is not None and size > 0.3 * whole and _leads_away(largest.get("href") or "", url, path)
        if is_card or sum(size for _, size in links) > 0.6 * whole:
            teasers += 1
            continue
        titled = [link for link, size in links if size > 12 and _is_headline(link, one.element)]
        teasers += any(_leads_away(link.get("href") or "", url, path) for link in titled)
    return 2 * teasers > len(containers)


def _is_headline(link: Element, container: Element) -> bool:
    for around in (link, *islice(link.iterancestors(), 3), *islice(link.iter(), 4)):
        if around is container:
            return False
        if around.tag in HEADINGS or "title" in (around.get("class") or ""):
            return True
    return False


def _leads_away(href: str, url: str, path: str) -> bool:
    try:
        target, fragment = urldefrag(urljoin(url, href))
        return not fragment and urlsplit(target).path.rstrip("/") != path
    except ValueError:
        return False
