"""Group the elements that may be posts by their shape: a tag with a class or id, or a type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from scraper.facts.metadata.author_date_labels import AuthorDateLabel, strip_digits
from scraper.html.dom.parsing import Element
from scraper.words.matcher import WordPattern

_MAX_WIDE = 150
"""Labels. An element with more of them contains a thread, and so do its ancestors."""
_MAX_TOKENS = 8
_MAX_ANCESTORS = 60

_POST_NAME = WordPattern(
    r"post(?!er)|comment|message|reply|answer|question|review|note|(?:^|[\s_#@-])(?:msg|email|mail|thread|topic|thing|"
    r"discussion|{posts.class})"
)
_REPLY_NAME = re.compile(
    r"comment|repl(?:y|ies)|answer|review|question|message|note|msg|mail|@Comment|@Answer", re.IGNORECASE
)
_POST_TYPES = frozenset(
    {"@Question", "@Answer", "@Comment", "@UserComments", "@DiscussionForumPosting", "@SocialMediaPosting", "@Review"}
)
"""Shapes declared as posts; a single element of them is enough."""
TYPED_POST = "@Post"
"""Common shape of all elements with one of these types, because a question and its answers have different shapes."""


@dataclass
class Shape:
    """Elements that share a tag and a class, an id without numbers, or a type, with the labels nearest to each."""

    name: str
    members: dict[Element, list[AuthorDateLabel]] = field(default_factory=dict)

    @cached_property
    def is_single(self) -> bool:
        """Return True if a single element may be a post."""
        return (
            self.name in _POST_TYPES
            or self.name == TYPED_POST
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


def group_by_shape(labels: Sequence[AuthorDateLabel]) -> list[Shape]:
    """Return the shapes that can be posts, and of those with the same elements and kind of name only the first."""
    shapes: dict[str, Shape] = {}
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
                        shapes[name] = Shape(name)
                    shapes[name].members.setdefault(around, []).append(label)
            around = around.getparent()
    distinct: dict[tuple[object, ...], Shape] = {}
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
    kind = type_of(element)
    if kind:
        names += (kind, TYPED_POST) if kind in _POST_TYPES else (kind,)
    if "-" in tag:
        names.append(tag)
    if not names and tag in ("li", "article", "tr", "table", "section", "dd", "div"):
        around = element.getparent()
        names.append(f"{'' if around is None else (around.get('class') or around.tag)[:60]}>{tag}")
    return names


def type_of(element: Element) -> str:
    """Return the shape of the schema.org type that an element declares, or an empty string."""
    kind = element.get("itemtype")
    return "@" + kind.rstrip("/").rpartition("/")[2] if kind else ""
