"""Find the opening post of a thread whose replies have another shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from scraper.extract.discussion.author_date_labels import AuthorDateLabel
from scraper.extract.discussion.post_containers import PostContainer
from scraper.html.dom.xpath import Element

_TOPIC_NAME = re.compile("discussion|topic|thread|question|post-?listing", re.IGNORECASE)
"""Class or id around an opening post. Most articles above comments have none of these names."""


def find_opening_post(labels: Sequence[AuthorDateLabel], replies: Sequence[PostContainer]) -> PostContainer | None:
    """Return the opening post above the replies, or None.

    It has one author and one date, with the tags and classes of those of the replies.
    """
    pairs = Counter((_class_key(one.author), _class_key(one.date)) for one in replies if one.author and one.date)
    if not pairs:
        return None
    (author_key, date_key), _ = pairs.most_common(1)[0]
    inside = {one.element for one in replies}
    known: set[Element] = set()
    for element in inside:
        known.update(takewhile(lambda one: one not in known, (element, *element.iterancestors())))
    before = list(takewhile(lambda label: inside.isdisjoint((label.element, *label.element.iterancestors())), labels))
    keys = {False: author_key, True: date_key}
    matching = [label for label in before if _class_key(label) == keys[label.is_date]]
    if sorted(label.is_date for label in matching) != [False, True]:
        return None
    author, date = sorted(matching, key=lambda label: label.is_date)
    first = replies[0]
    if first.author and first.date and (author.text, date.text) == (first.author.text, first.date.text):
        return None  # the header of the page, which names the author of the first post
    around = list(takewhile(lambda one: one not in known and one.tag != "body", author.element.iterancestors()))
    if not _is_topic(around) or around[-1] not in date.element.iterancestors():
        return None
    return PostContainer(around[-1], author, date, first.shape, [date.element])


def _is_topic(around: Sequence[Element]) -> bool:
    """Return True if one of the elements is named as a topic."""
    names = (f"{one.get('class')} {one.get('id')}" for one in around)
    return any(map(_TOPIC_NAME.search, names))


def _class_key(label: AuthorDateLabel) -> tuple[str, ...]:
    """Return the tag and class of a label; without a class, also those of its parent."""
    key = label.key if label.is_date else label.key[1:]
    return key if len(key) > 1 and not key[1] else key[:2]
