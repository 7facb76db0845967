"""Works of other people that a page shows: reviews, comments, answers. Their authors are not the page's."""

from __future__ import annotations

from itertools import islice

from scraper.extract.dom.xpath import Element

PROPERTIES = frozenset(
    "review reviews comment comments itemReviewed acceptedAnswer suggestedAnswer isRelatedTo isSimilarTo "
    "mentions".split()
)
"""Under these stand works of other people."""

LISTED = frozenset("blogPost blogPosts itemListElement".split())
"""Under these too, where there are several: a single one may be the page's own."""

_BESIDE = frozenset({"nav", "aside"})
_OWN = frozenset({"article", "main"})
_MAX_AROUND = 30
_MAX_NAMES = 200
"""Elements around one, and characters of their names, that are looked at."""


def is_of_others(element: Element) -> bool:
    """Whether an element stands in a work of somebody else, by its microdata."""
    names = (one.get("itemprop") for one in islice(element.iterancestors(), _MAX_AROUND))
    return any(name and not PROPERTIES.isdisjoint(name[:_MAX_NAMES].split()) for name in names)


def stands_beside(element: Element) -> bool:
    """Whether an element stands beside the content; the footer of an article is a part of it."""
    in_footer = False
    for around in islice(element.iterancestors(), _MAX_AROUND):
        if around.tag in _BESIDE:
            return True
        if around.tag in _OWN:
            in_footer = False
        elif around.tag == "footer":
            in_footer = True
    return in_footer
