"""Find the main content of a page by landmarks, and remove its navigation, without a classifier."""

from lxml import etree

from scraper.html.dom.parsing import Element, attribute_selector, remove, text_of
from scraper.values.text import read_table
from scraper.words.matcher import WordPattern

_NAMES = read_table(__package__, "names.toml")
_CONSENT_BOX = WordPattern("|".join(_NAMES["consent_box"]))
"""Id or class of the elements that consent managers insert at the top level of a page."""
_REMOVED_TAGS = ("nav", "menu", "button", "input")
_REMOVED_ROLES = frozenset(_NAMES["removed_roles"].split())
_WITH_ROLE = attribute_selector("role")
_MAX_REMOVED_SHARE = 0.5
"""Share. An element with more of the page's text is content, regardless of its name."""
_MIN_MAIN_SHARE = 0.25
"""Share. A landmark with less of the page's text is misplaced."""


def is_consent_box(element: Element) -> bool:
    """Return True if an element at the top level of a page is named as those of consent managers."""
    return _CONSENT_BOX.search(f"{element.get('id') or ''} {element.get('class') or ''}") is not None


def remove_boilerplate(body: Element) -> int:
    """Remove navigation, side matter, forms and consent banners; return the characters of the banners.

    An element with more than `_MAX_REMOVED_SHARE` of the page's text stays.
    """
    total = len(text_of(body))
    etree.strip_elements(body, *_REMOVED_TAGS, with_tail=False)
    consent = 0
    for child in list(body):
        if is_consent_box(child):
            consent += _length(child)
            if _length(child) <= _MAX_REMOVED_SHARE * total:
                remove(child)
    landmarks = [element for element in _WITH_ROLE(body) if element.get("role") in _REMOVED_ROLES]
    # Headers, footers and notes of an article belong to it.
    parts = body.iter("header", "footer", "aside")
    outer = [part for part in parts if next(part.iterancestors("article", "main"), None) is None]
    for element in [*landmarks, *body.iter("form"), *outer]:
        if element.getparent() is not None and _length(element) <= _MAX_REMOVED_SHARE * total:
            remove(element)
    return consent


def find_main_content(body: Element) -> Element:
    """Return the largest `main` landmark of a pruned body, or the body if it has most of the text elsewhere."""
    mains = [*body.iter("main"), *(element for element in _WITH_ROLE(body) if element.get("role") == "main")]
    main = max(mains, key=_length, default=body)
    return main if _length(main) >= _MIN_MAIN_SHARE * _length(body) else body


def _length(element: Element) -> int:
    return len(text_of(element))
