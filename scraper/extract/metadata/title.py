"""The title of a page: the heading that agrees with its head, else what the head says without the site."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile, islice
from urllib.parse import urlsplit

from lxml import etree

from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.page.page_tree import PageTree
from scraper.extract.text.sanitize import clean_line

MAX_TITLE = 300

_AGREEMENT = 0.4
"""A heading is the title when it shares this much with what the head says (word F1)."""

_SAME = 0.75
"""And one below the name of the site when it shares this much with the rest of it."""

_MAX_SITE_WORDS = 4
_SEPARATOR = re.compile(r"\s+[|\-–—»·:]\s+|\s*｜\s*")
_BEFORE_SITE = re.compile(r"\s*[|\-–—»·_:]\s*\Z")
_BEHIND_SITE = re.compile(r"\s*[|\-–—»·_]\s*")
_ANCHOR = re.compile(r"[¶§#🔗\ue000-\uf8ff]")
"""The text of a heading's link to itself, at either end; icons among it."""

_ANCHOR_BEHIND = re.compile(r"\s*[¶🔗]\Z")
"""What ends no title, be it a link or not."""

_NEW_LINES = ("br", "div", "p", "li")
_ESCAPED = re.compile(r"&(?:amp|quot|apos|lt|gt|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_MAX_HEADINGS, _MAX_LESSER, _MAX_LINKS = 5, 10, 10


def read(page: PageTree, metas: Mapping[str, str], site: str | None) -> str | None:
    """The heading that agrees with the head; else what the head says, without the site's name."""
    is_front = _is_front(page.url)
    headings = list(filter(None, map(_shown, islice(_every(page.body, "h1"), _MAX_HEADINGS))))
    told = _told(page, metas, site, () if is_front else headings)
    if headings and told:
        best = max(headings, key=lambda heading: _agreement(heading, told))
        if _agreement(best, told) >= _AGREEMENT:
            # What stands before it in an element of its own is a label: `Title:` on a paper.
            label_gone = told if best.endswith(f":{told}") else best
            return label_gone if is_front else _below_site(page.body, label_gone, told, site)
    if not is_front and (first := _first_part(told, site)) in (heading.lower() for heading in headings):
        return next(heading for heading in headings if heading.lower() == first)
    if site and not is_front:  # of a whole site, its name is the title
        told = _without_site_before(told, site)
    return _without_site(told, site) or (headings[0] if headings else None)


def unescape_twice(title: str) -> str:
    """Entities that were escaped twice."""
    return html.unescape(title) if _ESCAPED.search(title) else title


def _told(page: PageTree, metas: Mapping[str, str], site: str | None, headings: Sequence[str]) -> str:
    """What the head says; of `headings` there are none where a card of the whole site is the page's own."""
    card, title, other = (
        unescape_twice(clean_line(text, MAX_TITLE))
        for text in (metas.get("og:title", ""), page.head.title, metas.get("twitter:title", ""))
    )
    if card and title and headings and _is_of_all_pages(card, title, metas.get("og:url", ""), site, headings):
        return title
    return card or title or other


def _first_part(title: str, site: str | None) -> str:
    """The title before its first separator, in lower case; nothing where that is the name of the site."""
    first = _SEPARATOR.split(title, maxsplit=1)[0].lower()
    return "" if first == (site or "").lower() else first


def _is_of_all_pages(card: str, title: str, url: str, site: str | None, headings: Sequence[str]) -> bool:
    """Whether a title for cards is that of the site, the same on each of its pages."""
    if card.lower() == (site or "").lower() or (url and _is_front(url)):
        return True
    first = _SEPARATOR.split(title, maxsplit=1)[0].lower()
    return (
        card.lower() not in title.lower()
        and any(heading.lower() == first for heading in headings)
        and max(_agreement(heading, card) for heading in headings) < _AGREEMENT
    )


def _is_front(url: str) -> bool:
    try:
        return not urlsplit(url).path.strip("/")
    except ValueError:
        return False


def _below_site(body: Element, best: str, told: str, site: str | None) -> str:
    """Where the best heading is the name of the site or the book, one that is the rest of the title."""
    parts = list(_SEPARATOR.finditer(told))
    if not parts:
        return best
    if told[parts[-1].end() :].lower() == best.lower():
        rest = told[: parts[-1].start()]
    elif site and told[: parts[0].start()].lower() == best.lower() == site.lower():
        rest = told[parts[0].end() :]
    else:
        return best
    lesser = map(_shown, islice(_every(body, "h1", "h2"), _MAX_LESSER))
    below = dropwhile(lambda heading: heading != best, lesser)
    return next((heading for heading in below if _agreement(heading, rest) >= _SAME), best)


def _shown(heading: Element) -> str:
    """The text of a heading without the link to itself, which is a sign at one of its ends."""
    shown = clean_line(_lines(heading), MAX_TITLE)
    for link in islice(heading.iter("a"), _MAX_LINKS):
        sign = text_of(link).strip() if len(link) < _MAX_LINKS else ""
        if _ANCHOR.fullmatch(sign):
            shown = shown.removesuffix(sign).rstrip() if shown.endswith(sign) else shown.removeprefix(sign)
    return _ANCHOR_BEHIND.sub("", shown.strip())


def _lines(heading: Element) -> str:
    """The text of a heading, a space where a new line begins."""
    if next(heading.iter(*_NEW_LINES), None) is None:
        return text_of(heading)
    parts = []
    for event, element in etree.iterwalk(heading, events=("start", "end")):
        if element.tag in _NEW_LINES:
            parts.append(" ")
        text = element.text if event == "start" else element.tail if element is not heading else None
        parts.append(text or "")
    return "".join(parts)


def _every(body: Element, *tags: str) -> Iterator[Element]:
    """All elements of some tags in the tree that a body stands in."""
    return body.getroottree().getroot().iter(*tags)


def _without_site_before(title: str, site: str) -> str:
    mark = _BEHIND_SITE.match(title, len(site)) if title.startswith(site) else None
    return title[mark.end() :] if mark else title


def _without_site(title: str, site: str | None) -> str:
    """The title without the site's name behind it, or short words that may be one."""
    if site and title.endswith(site) and (mark := _BEFORE_SITE.search(title[: -len(site)])):
        return title[: mark.start()]
    parts = list(_SEPARATOR.finditer(title))
    if not parts:
        return title
    last = parts[-1]
    tail = title[last.end() :]
    is_site = site is not None and tail.lower() == site.lower()
    is_short = len(tail.split()) <= _MAX_SITE_WORDS and len(tail) < len(title) / 2 and ":" not in last.group()
    return title[: last.start()] if is_site or is_short else title


def _agreement(one: str, other: str) -> float:
    """F1 of their words."""
    mine, theirs = set(_WORD.findall(one.lower())), set(_WORD.findall(other.lower()))
    shared = len(mine & theirs)
    return 2 * shared / (len(mine) + len(theirs)) if shared else 0.0
