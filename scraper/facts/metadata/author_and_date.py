"""Find the author and the publication date that are displayed near the headline of a page."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from scraper.html.dom.xpath import Element, attribute_selector, text_of
from scraper.text import date_parsing
from scraper.text.sanitize import clean_line, collapse_whitespace
from scraper.words.matcher import WordPattern, Words

BYLINE_PREFIX = WordPattern(
    r"^(?:(?:(?:{byline.written})?\s*by|{byline.by}|{byline.by_in_articles}|{byline.author}|{byline.author_of_articles})"
    r"\s*[:：]?\s+|{byline.label}\s?[:：/]\s*)"
)
"""Words such as "by" before the name of the author, in many languages."""
_MAX_BYLINE = 120
_MAX_NAME = 60
_MAX_WORDS = 6
_MAX_LINKS = 20
"""Links per author element; author elements may be nested."""

_AUTHOR_CLASS = WordPattern(r"author(?!i[sz]|ity)|byline|by-line|writer|\b{byline.class}")
_AUTHOR_BOX_PART = re.compile("bio|avatar|image|photo|descr|social|role|title|date|time")
"""Classes of the parts of an author box that are not the name."""
_DATE_WORD = "|".join(f"{{{name}}}" for name in date_parsing.MONTHS_AND_DAYS)
_NAME_END = WordPattern(
    rf"[\s,]+(?:{_DATE_WORD})\.?,?\s+\d.*$|"
    r"\s+(?:[|•·–—/-]|\b{byline.after_name}\b).*$|"
    r"\s*[,(|•·]\s*(?:\w+\.?\s+)?\d.*$|\s*\d.*$"
)
_REPORTER = WordPattern(r"\s+{byline.reporter}$")
_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_NAME_PARTICLES = Words("byline.particle")


def find_author_names(near: Sequence[Element]) -> Iterator[str]:
    """Yield possible names of the author: first from elements marked as author, then from texts such as "By ..."."""
    for element in near:
        if _has_author_class(element) and (name := _read_linked_names(element) or _extract_name(text_of(element))):
            yield name
    for element in near:
        words = collapse_whitespace(element.text or "")
        match = BYLINE_PREFIX.match(f"{words} ") if 1 < len(words) < _MAX_BYLINE else None
        if match:
            name = _extract_name(words[match.end() :]) if match.end() < len(words) else _read_next_element(element)
            if name:
                yield name


def _has_author_class(element: Element) -> bool:
    if element.get("rel") == "author" or element.get("itemprop") == "author":
        return True
    classes = (element.get("class") or "").lower()
    return _AUTHOR_CLASS.search(classes) is not None and not _AUTHOR_BOX_PART.search(classes)


def _read_linked_names(element: Element) -> str | None:
    """Return the names of an element that are links; None if there are none or more than three."""
    names = [_extract_name(text_of(link)) for link in islice(element.iter("a"), _MAX_LINKS)]
    found = list(dict.fromkeys(name for name in names if name))
    return ", ".join(found) if 0 < len(found) <= 3 else None


def _read_next_element(element: Element) -> str | None:
    """Return the name in the element after a bare `By`."""
    following = element[0] if len(element) else element.getnext()
    return _extract_name(text_of(following)) if following is not None else None


def _extract_name(text: str) -> str | None:
    """Return the name at the beginning of a short text, or None."""
    if len(text) > 6 * _MAX_BYLINE:
        return None
    name = BYLINE_PREFIX.sub("", f"{clean_line(text, _MAX_BYLINE)} ").strip()
    name = _REPORTER.sub("", _NAME_END.sub("", name).strip(" ,;:|•·-–—"))
    words = _WORD.findall(name)
    if not 1 <= len(words) <= _MAX_WORDS or len(name) > _MAX_NAME:
        return None
    cased = [word for word in words if word.lower() not in _NAME_PARTICLES.all]
    return name if cased and not any(word[0].islower() for word in cased) else None


_MAX_DATE_TEXT = 90
_DATE_CLASS = re.compile("date|publish|posted|time|byline|meta|info|author|entry|dek|kicker|stamp")
_CHANGE_WORD = WordPattern(r"{date_labels.changed}")
_MEMBER_WORD = WordPattern(r"\b(?:{date_labels.joined}|{date_labels.joined_in_articles})\b")
"""Words before the date since when a person has been a member of a forum."""
_PUBLICATION_WORD = WordPattern(r"{date_labels.published}|first\b")
_YEAR = re.compile(r"(?<!\d)(?:(?:19|20)\d{2}|25[5-9]\d)(?!\d)|[٠-٩۰-۹०-९০-৯]{4}")
"""Years, also of the Thai calendar and in digits of other scripts."""
_TIME_TAGS = frozenset({"time", "relative-time", "time-ago", "local-time"})


def find_visible_date(near: Sequence[Element]) -> datetime | None:
    """Return the first publication date, else the first modification date, else None; ignore dates of memberships."""
    changed: datetime | None = None
    for element in near:
        moment = _read_date(element)
        if moment is None or _is_labeled(element, _MEMBER_WORD):
            continue
        if not _is_modification_date(element):
            return moment
        changed = changed or moment
    return changed


def _read_date(element: Element) -> datetime | None:
    names = f"{element.get('class') or ''} {element.get('itemprop') or ''}".lower()
    named = element.tag in _TIME_TAGS or _DATE_CLASS.search(names) is not None
    for attribute in ("datetime", "title") if named else ():
        stated = element.get(attribute)
        if stated and len(stated) < _MAX_DATE_TEXT and (moment := date_parsing.parse_date(stated)):
            return moment
    text = text_of(element) if named else element.text or ""
    if len(text) > 4 * _MAX_DATE_TEXT:
        return None
    text = collapse_whitespace(text)
    if len(text) > _MAX_DATE_TEXT or not _YEAR.search(text):
        return None
    published = _PUBLICATION_WORD.search(text)
    own = date_parsing.find_date(text[published.end() :]) if published else None
    return own or date_parsing.find_date(text)


def _is_modification_date(element: Element) -> bool:
    if _PUBLICATION_WORD.search(text_of(element)[:_MAX_DATE_TEXT]):
        return False
    return _is_labeled(element, _CHANGE_WORD)


def _is_labeled(element: Element, words: WordPattern) -> bool:
    """Return True if one of the words is in an element, before it, or in its class name or that of its parent."""
    around = element.getparent()
    before = element.getprevious()
    texts = [element.get("class"), element.get("itemprop"), (element.text or "")[:_MAX_DATE_TEXT]]
    if around is not None:
        texts += [around.get("class"), (around.text or "")[-_MAX_DATE_TEXT:]]
    if before is not None:
        label = text_of(before)
        # A text with a date of its own labels that date.
        texts += [before.tail, label if len(label) < _MAX_DATE_TEXT and not _YEAR.search(label) else ""]
    return any(part and words.search(part) for part in texts)


_MAX_ELEMENTS = 20_000
"""Elements of a page that are searched for the headline."""
_ELEMENTS_BEFORE, _ELEMENTS_AFTER = 40, 90
"""Elements before and after the headline. Bylines and dates are above or below it."""

_SIDE_TAGS = frozenset({"nav", "footer", "aside", "blockquote"})
_WITH_ITEMPROP = attribute_selector("itemprop")


def find_near_headline(body: Element) -> list[Element]:
    """Return the elements near the headline in document order, or [] without a headline.

    Elements in navigation, footers, asides and quotations are left out.
    """
    headline = _find_headline(body)
    if headline is None:
        return []
    every = islice(body.iter("*"), _MAX_ELEMENTS)
    before: deque[Element] = deque(maxlen=_ELEMENTS_BEFORE)
    for one in every:
        if one is headline:
            return _exclude_side_matter([*before, one, *islice(every, _ELEMENTS_AFTER - 1)])
        before.append(one)
    return []


def first_elements(body: Element) -> list[Element]:
    """Return the first elements of a page, for pages without a headline; navigation and side matter are left out."""
    return _exclude_side_matter(list(islice(body.iter("*"), _ELEMENTS_BEFORE + _ELEMENTS_AFTER)))


def _exclude_side_matter(near: list[Element]) -> list[Element]:
    parents = {element.getparent(): element for element in near}  # most elements share a parent
    outside = {
        parent for parent, one in parents.items() if _SIDE_TAGS.isdisjoint(around.tag for around in one.iterancestors())
    }
    return [element for element in near if element.getparent() in outside]


def _find_headline(body: Element) -> Element | None:
    for element in _WITH_ITEMPROP(body):
        if element.get("itemprop") == "headline" and element.tag in ("h1", "h2"):
            return element
    return next((heading for heading in body.iter("h1") if text_of(heading).strip()), None)
