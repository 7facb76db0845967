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
    authors = [label for label in before if not label.is_date and _class_key(label) == author_key]
    dates = [label for label in before if label.is_date and _class_key(label) == date_key]
    if len(authors) != 1 or len(dates) != 1:
        return None
    first = replies[0]
    if first.author and first.date and (authors[0].text, dates[0].text) == (first.author.text, first.date.text):
        return None  # the header of the page, which names the author of the first post
    around = list(takewhile(lambda one: one not in known and one.tag != "body", authors[0].element.iterancestors()))
    is_named = not any(map(_is_article, around)) and any(
        _TOPIC_NAME.search(f"{one.get('class')} {one.get('id')}") for one in around
    )
    if not is_named or around[-1] not in dates[0].element.iterancestors():
        return None
    return PostContainer(around[-1], authors[0], dates[0], replies[0].shape, [dates[0].element])


def _class_key(label: AuthorDateLabel) -> tuple[str, ...]:
    """Return the tag and class of a label; without a class, also those of its parent."""
    key = label.key if label.is_date else label.key[1:]
    return key if len(key) > 1 and not key[1] else key[:2]


def _is_article(element: Element) -> bool:
    """Return True for an article with a headline and a paragraph."""
    return element.tag == "article" and all(next(element.iter(tag), None) is not None for tag in ("h1", "p"))
