"""Where the main content of a page stands, by the page's own landmarks; a first judgement."""

from __future__ import annotations

from lxml import etree

from scraper.extract.markup import remove
from scraper.extract.walls import CONSENT_BOX
from scraper.extract.xpath import Element, elements, text_of

__all__ = ["main_content", "prune"]

_ALWAYS_OFF = ("nav", "menu", "button", "select", "textarea", "option", "input", "dialog")
_LANDMARKS = elements(
    "//@role[. = 'navigation' or . = 'search' or . = 'complementary' or . = 'dialog' or . = 'banner' "
    "or . = 'alertdialog' or . = 'contentinfo' or . = 'menu' or . = 'menubar' or . = 'tablist' "
    "or . = 'toolbar']/.."
)
_CONTENT_TAGS = frozenset({"article", "main"})
_MAINS = elements("//main | //@role[. = 'main']/..")
_ARTICLES = elements(
    "//article[not(ancestor::article)] | //*[@itemprop='articleBody'][not(ancestor::article)]"
)

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
    for element in [*_LANDMARKS(body), *body.iter("aside", "form"), *_outer_parts(body)]:
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
    mains = _MAINS(body)
    if mains:
        main = max(mains, key=_length)
        if _length(main) >= _MAIN_SHARE * total:
            return _leading_article(main, total=_length(main)) or main
    return _leading_article(body, total=total) or body


def _leading_article(within: Element, *, total: int) -> Element | None:
    """The one article that a page is about, or what holds all of its articles."""
    articles = [article for article in _ARTICLES(within) if within in article.iterancestors()]
    if not articles:
        return None
    lengths = [_length(article) for article in articles]
    longest = max(lengths)
    if longest >= _LEADING_SHARE * sum(lengths) and longest >= _MAIN_SHARE * total:
        return articles[lengths.index(longest)]
    return None


def _off(element: Element, total: int) -> bool:
    return _length(element) <= _TOO_MUCH * total


def _length(element: Element) -> int:
    return len(text_of(element))
