"""Where the main content of a page stands, by the page's own landmarks; a first judgement."""

from __future__ import annotations

from lxml import etree

from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, having, text_of
from scraper.extract.verdict.block_signatures import CONSENT_BOX

_ALWAYS_OFF = ("nav", "menu", "button", "input")
_ROLES_OFF = frozenset(
    "alertdialog banner complementary contentinfo dialog menu menubar navigation search tablist "
    "toolbar".split()
)
_WITH_ROLE = having("role")
_WITH_ITEMPROP = having("itemprop")
_CONTENT_TAGS = frozenset({"article", "main"})
_TOO_MUCH = 0.5
"""An element with more of the page's text than this is content, whatever it is called."""

_MAIN_SHARE = 0.25
"""A landmark with less of the page's text than this was set on something else."""

_LEADING_SHARE = 0.6
"""An article with less of all articles' text than this is one of a list."""


def prune(body: Element) -> int:
    """Take navigation, side matter, small forms and consent banners out; how much text the last ones held."""
    total = len(text_of(body))
    etree.strip_elements(body, *_ALWAYS_OFF, with_tail=False)
    consent = 0
    for child in list(body):
        if CONSENT_BOX.search(f"{child.get('id') or ''} {child.get('class') or ''}"):
            consent += _length(child)
            if _off(child, total):
                remove(child)
    landmarks = [element for element in _WITH_ROLE(body) if element.get("role") in _ROLES_OFF]
    for element in [*landmarks, *body.iter("aside", "form"), *_outer_parts(body)]:
        if element.getparent() is not None and _off(element, total):
            remove(element)
    return consent


def _outer_parts(body: Element) -> list[Element]:
    """Headers and footers of the page; those of an article belong to it."""
    return [
        part
        for part in body.iter("header", "footer")
        if not any(around.tag in _CONTENT_TAGS for around in part.iterancestors())
    ]


def main_content(body: Element) -> Element:
    """The element that holds the content of a pruned body."""
    total = len(text_of(body))
    mains = [*body.iter("main"), *(element for element in _WITH_ROLE(body) if element.get("role") == "main")]
    if mains:
        main = max(mains, key=_length)
        if _length(main) >= _MAIN_SHARE * total:
            return _leading_article(main, total=_length(main))
    return _leading_article(body, total=total)


def _leading_article(within: Element, *, total: int) -> Element:
    """The one article that a page is about; all that holds it where there are several or none."""
    articles = [article for article in _articles(within) if within in article.iterancestors()]
    lengths = [_length(article) for article in articles]
    longest = max(lengths, default=0)
    if longest and longest >= _LEADING_SHARE * sum(lengths) and longest >= _MAIN_SHARE * total:
        return articles[lengths.index(longest)]
    return within


def _articles(root: Element) -> list[Element]:
    """Articles that stand in no other."""
    bodies = (element for element in _WITH_ITEMPROP(root) if element.get("itemprop") == "articleBody")
    return [
        article
        for article in (*root.iter("article"), *bodies)
        if next(article.iterancestors("article"), None) is None
    ]


def _off(element: Element, total: int) -> bool:
    return _length(element) <= _TOO_MUCH * total


def _length(element: Element) -> int:
    return len(text_of(element))
