"""Find the elements that contain one post each: they have the same shape, and each has one author and one date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, takewhile

from scraper.extract.discussion.author_date_labels import DATE_TAGS, AuthorDateLabel
from scraper.extract.discussion.author_names import read_signing_word
from scraper.extract.discussion.related_cards import RelatedCards, are_priced
from scraper.html.dom.xpath import Element, depth_of, text_of
from scraper.words.matcher import WordPattern

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
_TIE = 0.9
_MAX_REMARK = 1_000
"""Characters of a page's only comment on a post."""

_DIGITS = re.compile(r"\d+")
_POST_NAME = WordPattern(
    r"post(?!er)|comment|message|reply|answer|question|review|note|(?:^|[\s_#@-])(?:msg|email|mail|thread|topic|thing|"
    r"discussion|{posts.class})"
)
"""Shapes whose names suggest posts."""
_REPLY_NAME = re.compile(
    r"comment|repl(?:y|ies)|answer|review|question|message|note|msg|mail|@Comment|@Answer", re.IGNORECASE
)
_PART_NAME = re.compile("question|answer")
_POST_TYPES = frozenset(
    {"@Question", "@Answer", "@Comment", "@UserComments", "@DiscussionForumPosting", "@SocialMediaPosting", "@Review"}
)
"""Shapes declared as posts; a single element of them is enough."""
_POST_TAG = re.compile(r"[a-z]+-post")
"""Custom element of an opening post."""
_TYPED_POST = "@Post"
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


@dataclass
class _Shape:
    """Elements that share a tag and a class, an id without numbers, or a type, with the labels nearest to each."""

    name: str
    members: dict[Element, list[AuthorDateLabel]] = field(default_factory=dict)

    @cached_property
    def is_single(self) -> bool:
        """Return True if a single element may be a post."""
        return self.name in _POST_TYPES or self.name == _TYPED_POST or _POST_TAG.fullmatch(self.name) is not None

    @cached_property
    def is_reply(self) -> bool:
        """Return True if the name is one of answers, comments and the like."""
        return self.is_single or _REPLY_NAME.search(self.name) is not None

    @cached_property
    def is_post(self) -> bool:
        """Return True if the name suggests posts."""
        return _POST_NAME.search(self.name) is not None


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
    shapes = _distinct(_group_by_shape(labels))
    cards = RelatedCards(url)
    found: dict[Element, PostContainer] = {}
    used: set[Element] = set()
    lengths: dict[Element, int] = {}
    for number in range(_MAX_ROUNDS):
        candidates = []
        seen: set[tuple[Element, ...]] = set()
        for shape in shapes:
            candidate = _judge(shape, used, found, lengths, cards, is_first=number == 0)
            if candidate is not None:
                members = tuple(one.element for one in candidate.containers)
                if members not in seen:
                    seen.add(members)
                    candidates.append(candidate)
        if not candidates:
            break
        best = max(candidates, key=lambda one: one.value)
        typed = next((one for one in candidates if one.shape.name == _TYPED_POST), None)
        is_typed = typed is not None and _prevails(typed, best, candidates)
        best = typed if typed is not None and is_typed else best
        # Of shapes that hold nearly the same, the outermost comes first.
        best = min(
            (one for one in candidates if one.value >= _TIE * best.value and _covers(one, best)),
            key=lambda one: (is_typed and one is not best, depth_of(one.containers[0].element)),
        )
        for container in best.containers:
            found[container.element] = container
            used.update(label.element for label in (container.author, container.date) if label is not None)
            used.update(container.stamps)
        # A date may have parts, such as a long and a short form.
        used.update(label.element for label in labels if label.is_date and label.element.getparent() in used)
    elements = labels[0].element.getroottree().getroot().iter() if found else ()
    return [found[element] for element in elements if element in found]


def _prevails(typed: _Candidate, best: _Candidate, candidates: Sequence[_Candidate]) -> bool:
    """Return True if declared posts hold most of the text and no shape contains them all."""
    elements = typed.elements
    return typed.value >= _MIN_TYPED * best.value and not any(
        elements <= one.elements for one in candidates if one.shape.name[0] != "@"
    )


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


def _distinct(shapes: Iterable[_Shape]) -> list[_Shape]:
    """Return the shapes that can be posts, and of those with the same elements and kind of name only the first."""
    distinct: dict[tuple[object, ...], _Shape] = {}
    for shape in shapes:
        is_comment = "comment" in shape.name.lower()
        if len(shape.members) > 1 or shape.is_single or is_comment:
            kind = (shape.is_single, shape.is_reply, shape.is_post, is_comment)
            distinct.setdefault((kind, *shape.members), shape)
    return list(distinct.values())


def _tokens(element: Element) -> list[str]:
    """Return the shapes of an element."""
    tag: str = element.tag
    names = [f"{tag}.{_DIGITS.sub('', name)}" for name in (element.get("class") or "")[:300].split()[:_MAX_TOKENS]]
    identity = element.get("id")
    if identity and any(map(str.isdigit, identity)):
        names.append(f"{tag}#{_DIGITS.sub('', identity)[:40]}")
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


def _judge(
    shape: _Shape,
    used: set[Element],
    found: Mapping[Element, PostContainer],
    lengths: dict[Element, int],
    cards: RelatedCards,
    *,
    is_first: bool,
) -> _Candidate | None:
    """Return the posts of a shape, or None if its elements are not posts."""
    is_single, is_reply, is_post = shape.is_single, shape.is_reply, shape.is_post
    is_remark = not is_single and not is_first and _is_one_remark(shape, found)
    least = 1 if is_single or is_remark else 2
    if len(shape.members) < least or not (is_first or is_reply):
        return None
    members = {
        element: [label for label in labels if label.element not in used] if used else labels
        for element, labels in shape.members.items()
        if element not in found
    }
    members = {element: labels for element, labels in members.items() if labels}
    if len(members) < least or not _may_be_posts(members.values(), least, is_post=is_post):
        return None
    author_key, date_key = _best_keys(members.values())
    if author_key is None or (date_key is None and not (is_post and is_reply and is_first)):
        return None
    containers, both, wrappers = [], 0, 0
    for element, labels in members.items():
        authors = _of_kind(labels, author_key, is_date=False)
        dates = _of_kind(labels, date_key, is_date=True)
        if _is_wrapper(authors, dates) or _holds_several(element, labels):
            wrappers += 1
            continue
        both += bool(authors and dates)
        if authors or dates:
            same = [label for label in labels if label.is_date and dates and label.text == dates[0].text]
            stamps = [label.element for label in same]
            author, date = (authors[0] if authors else None), (dates[0] if dates else None)
            if date is not None and date.moment is None:
                date = next((label for label in same if label.moment is not None), date)
            name = _type_of(element) if shape.name == _TYPED_POST else shape.name
            containers.append(PostContainer(element, author, date, name, stamps))
    if len(containers) < least or wrappers > _MAX_WRAPPERS * len(members):
        return None
    names = {one.author.text for one in containers if one.author}
    elements = [one.element for one in containers]
    if date_key is None and (
        len(containers) <= _MIN_NAMES or len(names) < _MIN_NAMES or cards.are_teasers(elements) or are_priced(elements)
    ):
        return None
    if both < max(least, _MIN_GOOD * len(members)) and not (
        is_post and sum(one.author is not None for one in containers) >= _MIN_NAMED * len(members)
    ):
        return None
    if not is_first and (not _may_follow(shape, found) or _are_parts(containers, found)):
        return None
    if not is_reply and cards.are_beside(elements, may_be_all=is_post):
        return None
    counted = [one.element for one in containers if date_key is None or (one.author and one.date)]
    if any(element not in lengths for element in counted):
        own = _own_lengths(shape.members)
        lengths.update((element, own[element]) for element in counted if element not in lengths)
    value = float(sum(min(lengths[element], _FULL) for element in counted))
    if value < _MIN_CHARACTERS * len(containers) or (not is_reply and cards.are_teasers(elements)):
        return None
    return _Candidate(shape, containers, value * (1.5 if is_post else 1.0))


def _may_be_posts(members: Collection[Sequence[AuthorDateLabel]], least: int, *, is_post: bool) -> bool:
    """Return False if too few elements have an author, or an author and a date, to be posts."""
    kinds = [{label.is_date for label in labels} for labels in members]
    if sum(len(kind) == 2 for kind in kinds) >= max(least, _MIN_GOOD * len(members)):
        return True
    return sum(False in kind for kind in kinds) >= _MIN_NAMED * len(members) and is_post


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


def _is_wrapper(authors: Sequence[AuthorDateLabel], dates: Sequence[AuthorDateLabel]) -> bool:
    """Return True if an element has the labels of several posts."""
    names, times = {label.text for label in authors}, {label.text for label in dates}
    return len(times) > 1 and (len(names) > 1 or len(times) > 3)


def _holds_several(container: Element, labels: Sequence[AuthorDateLabel]) -> bool:
    """Return True if an element holds a question and its answer, by the words or classes of two authors' labels."""
    authors = [label for label in labels if not label.is_date]
    signed: dict[str, str] = {}
    for label in authors if len({label.text for label in authors}) > 1 else ():
        if word := read_signing_word(label.element.text) or _read_part(container, label.element):
            signed.setdefault(word, label.text)
    return len(signed) > 1 and len(set(signed.values())) > 1


def _read_part(container: Element, label: Element) -> str:
    """Return "question" or "answer", the part of the container that holds a label, or ""."""
    for around in (label, *takewhile(lambda one: one is not container, label.iterancestors())):
        words = set(_PART_NAME.findall((around.get("class") or "").lower()))
        if words:
            return words.pop() if len(words) == 1 else ""
    return ""


def _may_follow(shape: _Shape, found: Mapping[Element, PostContainer]) -> bool:
    """Return True if posts of a shape may be next to the posts found before, or are comments in them."""
    if not _are_inside(shape.members, found):
        return True
    return "comment" in shape.name.lower() and not any("comment" in one.shape.lower() for one in found.values())


def _are_parts(containers: Sequence[PostContainer], found: Mapping[Element, PostContainer]) -> bool:
    """Return True if elements inside of posts are parts of these posts, not comments on them."""
    outer = [next((found[one] for one in part.element.iterancestors() if one in found), None) for part in containers]
    if not any(outer):
        return False
    complete = sum(one.author is not None and one.date is not None for one in containers)
    authors = [one.author.text if one is not None and one.author else "" for one in outer]
    own = [one.author.text if one.author else None for one in containers]
    return complete < _MIN_GOOD * len(containers) or (len(containers) > 1 and authors == own)


def _is_one_remark(shape: _Shape, found: Mapping[Element, PostContainer]) -> bool:
    """Return True if a shape has one element, and this is a short comment of one author inside of a post."""
    if len(shape.members) != 1 or "comment" not in shape.name.lower() or not _are_inside(shape.members, found):
        return False
    (element, labels), *_ = shape.members.items()
    texts = {(label.is_date, label.text) for label in labels}
    return len(texts) == 2 and len(text_of(element)) <= _MAX_REMARK


def _are_inside(elements: Iterable[Element], others: Container[Element]) -> bool:
    """Return True if one of the elements is inside of another one."""
    return any(around in others for element in elements for around in element.iterancestors())


def _own_lengths(members: Collection[Element]) -> dict[Element, int]:
    """Return the characters of each element without those of the other elements inside it."""
    whole = {element: len(text_of(element)) for element in members}
    own = dict(whole)
    for element in members:
        around = next((one for one in element.iterancestors() if one in whole), None)
        if around is not None:
            own[around] -= whole[element]
    return own
