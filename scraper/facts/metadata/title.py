"""Determine the title of a page from its headings and its head."""

import html
import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile, islice
from urllib.parse import unquote, urlsplit

from lxml import etree

from scraper.html.dom.parsing import Element, pad_names, text_of
from scraper.html.page.page_tree import PageTree
from scraper.text.likeness import dice
from scraper.text.sanitize import clean_line
from scraper.text.terms import split_words
from scraper.words.matcher import WordPattern

_MIN_TITLE, _MAX_TITLE = 3, 300
"""Characters of a title in the head that names a page, and of any title; the rest is cut off."""

_KICKER_CLASS = WordPattern(r"[\s_-]{headings.kicker_class}[\s_-]", re.NOFLAG)
"""Classes of the topic above a headline or before a lead."""

MIN_AGREEMENT = 0.4
"""Word F1. A heading with at least this agreement with the head's title is the title."""

_MIN_REST_AGREEMENT = 0.75
"""Word F1. A heading below the site's name is the title if it agrees this much with the rest of the head title."""

_MIN_URL_AGREEMENT, _MIN_TITLE_WORDS = 0.4, 2
"""Minimum word F1 of a heading and the longest part of the URL's path, and minimum words of a heading that replaces
the name of the site. Of 2,172 pages, ten and three have such a heading, and it is the title on all of them."""

_MAX_SITE_WORDS = 4
_SEPARATOR = re.compile(r"\s+[|\-–—»·:]\s+|\s*｜\s*")
_BEHIND_SITE = re.compile(r"\s*[|\-–—»·_]\s*")
_BEFORE_SITE = re.compile(r"\s*[|\-–—»·_:]\s*\Z")
_ANCHORS = frozenset("¶§#🔗") | frozenset(map(chr, range(0xE000, 0xF900)))
"""Text of a heading's link to itself at either end, including icons."""

_BEFORE_TOPIC = WordPattern(r"\A.{1,80}?\s[•|-]\s{posts.view_topic}\s-\s")
"""Text that old forums write before the title of a thread: their name and the function of the page."""

_NEW_LINES = ("br", "div", "p", "li")
_ESCAPED = re.compile(r"&(?:amp|quot|apos|lt|gt|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});", re.IGNORECASE)
_MAX_HEADINGS, _MAX_SUBHEADINGS, _MAX_LINKS = 5, 10, 10


def read(page: PageTree, metas: Mapping[str, str], site: str | None) -> str | None:
    """Return the heading that agrees with the title in the head, else that title without the site's name.

    `metas` are the contents of the metas by name, `site` is the name of the site. Return None if there is no title.
    """
    is_front, root = _is_front_page(page.url), page.body.getroottree().getroot()
    headings = list(filter(None, map(_read_heading, islice(root.iter("h1"), _MAX_HEADINGS))))
    head_title = _read_head_title(page, metas, site, () if is_front else headings)
    if headings and head_title:
        best = max(headings, key=lambda heading: agreement(heading, head_title))
        if agreement(best, head_title) >= MIN_AGREEMENT:
            # Text before it in another element is a label: `Title:` on a paper.
            label_gone = head_title if best.endswith(f":{head_title}") else best
            return label_gone if is_front else _find_below_site_name(page.body, label_gone, head_title, site)
    first = _SEPARATOR.split(head_title, maxsplit=1)[0].lower()
    same = next((heading for heading in headings if heading.lower() == first), None)
    if same and not is_front and first != (site or "").lower():
        return same
    if not is_front and (heading := _find_own_heading(headings, head_title, page.url, site)):
        return heading
    return _strip_site(head_title, site, is_front=is_front) or (headings[0] if headings else None)


def _find_own_heading(headings: Sequence[str], head_title: str, url: str, site: str | None) -> str | None:
    """Return the heading of a page whose title in the head is the same on many pages of the site."""
    try:
        address = urlsplit(url)
    except ValueError:
        return None
    part = max(unquote(address.path).split("/"), key=len)
    names = {(site or "").lower(), *(address.hostname or "").split(".")}
    if head_title.lower() in names or 0 < len(head_title) < _MIN_TITLE:
        return next((heading for heading in headings if len(heading.split()) >= _MIN_TITLE_WORDS), None)
    best = max(headings, key=lambda heading: agreement(heading, part), default="")
    return best if agreement(best, part) >= _MIN_URL_AGREEMENT and not agreement(head_title, part) else None


def unescape_twice(title: str) -> str:
    """Return the title without entities that were escaped twice."""
    return html.unescape(title) if _ESCAPED.search(title) else title


def _read_head_title(page: PageTree, metas: Mapping[str, str], site: str | None, headings: Sequence[str]) -> str:
    """Return the title of link previews unless all pages of the site share it, else that of the head or of the card."""
    card, title, other = (
        unescape_twice(clean_line(text, _MAX_TITLE))
        for text in (metas.get("og:title", ""), page.head.title, metas.get("twitter:title", ""))
    )
    title = _BEFORE_TOPIC.sub("", title)
    if card and title and headings and _is_site_wide(card, title, metas.get("og:url", ""), site, headings):
        return title
    return card or title or other


def _is_site_wide(card: str, title: str, url: str, site: str | None, headings: Sequence[str]) -> bool:
    """Return True if a card title is the same on each page of the site."""
    if card.lower() == (site or "").lower() or (url and _is_front_page(url)):
        return True
    first = _SEPARATOR.split(title, maxsplit=1)[0].lower()
    return (
        card.lower() not in title.lower()
        and any(heading.lower() == first for heading in headings)
        and max(agreement(heading, card) for heading in headings) < MIN_AGREEMENT
    )


def _is_front_page(url: str) -> bool:
    try:
        return not urlsplit(url).path.strip("/")
    except ValueError:
        return False


def _find_below_site_name(body: Element, best: str, head_title: str, site: str | None) -> str:
    """Return the best heading, or the one below it if the best is the name of the site or book."""
    parts = list(_SEPARATOR.finditer(head_title))
    if not parts:
        return best
    if head_title[parts[-1].end() :].lower() == best.lower():
        rest = head_title[: parts[-1].start()]
    elif site and head_title[: parts[0].start()].lower() == best.lower() == site.lower():
        rest = head_title[parts[0].end() :]
    else:
        return best
    subheadings = map(_read_heading, islice(body.getroottree().getroot().iter("h1", "h2"), _MAX_SUBHEADINGS))
    below = dropwhile(lambda heading: heading != best, subheadings)
    return next((heading for heading in below if agreement(heading, rest) >= _MIN_REST_AGREEMENT), best)


def _read_heading(heading: Element) -> str:
    """Return the text of a heading without its kicker and without its link to itself, a sign at one end."""
    shown = clean_line(_join_heading_lines(heading), _MAX_TITLE)
    first = heading[0] if len(heading) and not (heading.text or "").strip() else None
    if first is not None and _KICKER_CLASS.search(pad_names(first.get("class") or "")):
        kicker = clean_line(text_of(first), _MAX_TITLE)
        shown = shown.removeprefix(kicker).lstrip(" :") or shown
    for link in islice(heading.iter("a"), _MAX_LINKS):
        sign = text_of(link).strip() if len(link) < _MAX_LINKS else ""
        if sign in _ANCHORS:
            shown = shown.removesuffix(sign).rstrip() if shown.endswith(sign) else shown.removeprefix(sign)
    return shown.strip().rstrip("¶🔗").rstrip()


def _join_heading_lines(heading: Element) -> str:
    """Return the text of a heading, with a space where a new line begins."""
    if next(heading.iter(*_NEW_LINES), None) is None:
        return text_of(heading)
    parts = []
    for event, element in etree.iterwalk(heading, events=("start", "end")):
        if element.tag in _NEW_LINES:
            parts.append(" ")
        text = element.text if event == "start" else element.tail if element is not heading else None
        parts.append(text or "")
    return "".join(parts)


def _strip_site(title: str, site: str | None, *, is_front: bool) -> str:
    """Return the title without the site's name at either end, or without short words at the end that may be one."""
    # The title of a front page is the site's name.
    if site and not is_front and title.startswith(site) and (mark := _BEHIND_SITE.match(title, len(site))):
        title = title[mark.end() :]
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


def agreement(one: str, other: str) -> float:
    """Return the F1 score of the words of two texts."""
    return dice(*(set(split_words(text.replace("_", " "))) for text in (one, other)))
