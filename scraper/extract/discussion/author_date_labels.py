"""Find the labels of posts in a page: author names and dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache

from scraper.extract.discussion.post_dates import find_post_date
from scraper.extract.dom.xpath import Element, element_selector, text_of
from scraper.extract.metadata import date_parsing
from scraper.extract.text.sanitize import clean_line

MAX_NAME = 60
MAX_LABELS = 100_000
"""Maximum number of labels. A thread of 10,000 posts has four per post."""

_MAX_LABEL = 120
_MIN_AUTHORS = 2

AUTHOR_CLASS = re.compile(
    r"(?:author|user-?name|user|profile-?link)(?:$|[\s_-])|(?:^|[\s_-])(?:poster|nick(?:name)?|commenter|"
    r"byline|fn|name|creator|"
    r"person|reviewer|member|sender|from|submitter|owner|writer|display-?name|cite|autor|auteur|verfasser|"
    r"hide-from-print)"
    r"(?:$|[\s_-])",
    re.MULTILINE,
)
_NOT_AUTHOR = re.compile(
    r"avatar|(?:^|[\s_-])(?:bio|image|img|photo|rank|title|role|badge|stats?|posts?-?count|count|"
    r"(?<!text-)info|details-?list|signature|"
    r"sig|mention|menu|nav|login|reputation|flair|group|location|joined|extras?|banner|icon|actions?|controls?|online|"
    r"offline|status|is-author|by-author|byuser|comment-author-\w+|quote\w*|reply-?to|last-?post\w*|edit\w*)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_GATE = re.compile(AUTHOR_CLASS.pattern + "|post(?:body|msg|left|text)|blockpost", re.MULTILINE)
_AVATAR = re.compile("avatar|status", re.IGNORECASE)
_USER_URL = re.compile(
    r"(?:^|/)(?:u|users?|members?|profiles?|people|person|forum/users?|account|contributors?)/[^/?#]|"
    r"/@[\w.-]+/?$|/~[\w.-]+/?$|"
    r"memberlist\.php\?.*u=|member\.php|profile\.php|action=profile|viewprofile|[?&]user=|user\?id=|/user[-_]|"
    r"^mailto:",
    re.IGNORECASE,
)
_AUTHOR_ATTRIBUTES = {
    "data-author": "+",
    "author": "+",
    "data-author-name": "+",
    "data-username": "3",
    "data-user-name": "3",
}
"""Attributes with the name of an author, and their ranks among the kinds of labels; some have only the account name."""
_BEFORE_NAME = re.compile(
    r"^(?:(?:re)?posted|written|submitted|asked|answered|reviewed|commented|started|created|sent)?\s*"
    r"(?:by|from|von|par|por|di|door|av|af|przez|автор|作者|投稿者|author|user|reviewer|autor|auteur)\s*[:：]?\s+|^@",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"\s*(?:,|:|\bsays?\b|\bsaid\b|\bwrote\b|\bwrites\b|\bcommented\b|\breplied\b|\basked\b|\banswered\b|"
    r"\bsagt\b|\bschrieb\b|"
    r"\ba dit\b|\bdice\b|\bdijo\b|»|•|·|(?<!\w)\(?(?:OP|author|verified \w+)\)?$)\s*:?\s*$|\s+(?:says|said|wrote|"
    r"says on):?\s.*$",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"^(?:\W*|reply|quote|share|report|edit|delete|like|permalink|link|parent|message|messages|posts?|profile|user|"
    r"member|guest post|follow|view profile|more|top|author|send message|contact|website|log ?in|sign ?up|register|"
    r"name|new|re|advert\w*|sponsored.*|#\d\S*|op|mod|moderator|comment|comments|next|prev|previous|home|"
    r"members?|https?:.*|\d{4}-\d\d-\d\d.*)$",
    re.IGNORECASE,
)
DATE_TAGS = frozenset({"time", "relative-time", "time-ago", "local-time", "faceplate-timeago", "abbr"})
_DATE_CLASS = re.compile(
    r"date|(?:^|[\s_-])(?:time|age|ago|when|posted|published|timeago|timestamp|datetime|moment\w*|"
    r"created\w*|post-?time|"
    r"postinfo|permalink|relativetime|reltime|meta|metadata|tagline|comment-meta)(?:$|[\s_-])|time(?:$|[\s_-])",
    re.IGNORECASE,
)
_OTHER_DATE = re.compile(
    r"\b(?:join(?:ed)?|regist\w+|member since|since|edited|edit|updated?|modified|last (?:visit|seen|edit|"
    r"post|active|reply|"
    r"modif\w+)|founded|dabei seit|beitritt|mitglied seit|registriert|inscri\w+|depuis|ingresó|desde|"
    r"регистрация|с нами|dołączył\w*|"
    r"geregistreerd|lid sinds|bearbeitet|geändert|zuletzt|modifié|editado|изменено|редакт\w+)\b",
    re.IGNORECASE,
)
_DATE_ATTRIBUTES = (
    "datetime",
    "content",
    "title",
    "data-time",
    "data-timestamp",
    "data-date",
    "data-tippy-content",
    "ts",
)
_SKIPPED = frozenset("nav option select textarea button code script style".split())
_QUOTE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:bb-?code-?)?(?:block)?quot(?:e|ed|es)(?:$|[\s_-])|quoteheader|bbcode_quote", re.IGNORECASE
)
_USER_LINKS = element_selector(
    ".//a[contains(@href,'user') or contains(@href,'/u/') or contains(@href,'member') "
    "or contains(@href,'profile') or contains(@href,'/@') or contains(@href,'mailto:')]"
)


@dataclass(frozen=True, slots=True)
class AuthorDateLabel:
    """A name or a date in a page."""

    element: Element
    key: tuple[str, ...]
    """Key that labels of one template share: tag and classes of the element and its parent.

    Keys of authors begin with a rank; the most certain one sorts first.
    """
    text: str
    is_date: bool
    moment: datetime | None = None


def may_have_posts(body: Element, classes: str | None) -> bool:
    """Return False if no class or link hints at authors; takes a fraction of the time of `find_labels`."""
    return classes is None or _GATE.search(classes.lower()) is not None or len(_USER_LINKS(body)) > 1


def is_quote(element: Element) -> bool:
    """Return True for an element that holds a quotation of another post."""
    if element.tag == "blockquote":
        return True
    name = element.get("class")
    return (
        bool(name) and element.tag in ("div", "aside", "table", "fieldset", "section") and _is_quote_class(name or "")
    )


@cache
def _is_quote_class(name: str) -> bool:
    # Names such as js-quote-selection mark what a script works on: often the whole thread.
    return any(_QUOTE_CLASS.search(part) for part in name[:_MAX_LABEL].split() if not part.startswith("js-"))


def find_labels(body: Element) -> list[AuthorDateLabel]:
    """Return the names and dates outside of quotations in document order, or nothing if the page has one name only."""
    flags: dict[str, tuple[bool, bool]] = {}
    visited: list[tuple[Element, str, bool, AuthorDateLabel | None]] = []
    stack = [body]
    authors = 0
    while stack and authors < MAX_LABELS:
        element = stack.pop()
        tag: str = element.tag
        if tag in _SKIPPED or (tag != "body" and is_quote(element)):
            continue
        name = element.get("class") or ""
        known = flags.get(name)
        if known is None:
            known = flags[name] = _analyze_class(name[:_MAX_LABEL].lower())
        author = _read_author(element, tag, name, is_author=known[0])
        authors += author is not None
        visited.append((element, tag, known[1], author))
        stack.extend(reversed(element))
    if authors < _MIN_AUTHORS:
        return []
    labels: list[AuthorDateLabel] = []
    for element, tag, is_dated, author in visited:
        if author is not None:
            labels.append(author)
        if len(labels) < MAX_LABELS and (date := _read_date(element, tag, is_dated=is_dated)):
            labels.append(date)
    return labels


def _analyze_class(name: str) -> tuple[bool, bool]:
    """Return two flags: the class value names an author; it names a date."""
    if not name:
        return False, False
    authors, others, dates = zip(*map(_analyze_name, name.split() or [""]), strict=True)
    return any(authors) and not any(others), any(dates)


@lru_cache(maxsize=20_000)
def _analyze_name(name: str) -> tuple[bool, bool, bool]:
    """Return three flags: a single name means an author, something beside an author, a date; pages share most names."""
    patterns = (AUTHOR_CLASS, _NOT_AUTHOR, _DATE_CLASS)
    author, other, date = (pattern.search(name) is not None for pattern in patterns)
    return author, other, date


def _read_author(element: Element, tag: str, name: str, *, is_author: bool) -> AuthorDateLabel | None:
    if "-" in tag or tag in ("article", "div", "li"):
        for attribute, rank in _AUTHOR_ATTRIBUTES.items():
            stated = element.get(attribute)
            if stated and (text := clean_name(stated)):
                return AuthorDateLabel(element, (rank, attribute), text, is_date=False)
    role = element.get("itemprop")
    kind = ""
    if role in ("author", "creator") or element.get("rel") == "author":
        kind = "0"
    elif tag == "a" and _USER_URL.search((element.get("href") or "")[-200:]):
        if _NOT_AUTHOR.search(name[:_MAX_LABEL].lower()) and not is_author:
            return None
        kind = "1"
    elif is_author or (element.get("data-hovercard-type") == "user" and text_of(element).strip()):
        kind = "2"
    elif tag == "strong" and (around := element.getparent()) is not None and around.tag == "dt":
        kind = "3"
    if not kind or len(element) > 12:
        return None
    text = _read_name(element)
    return AuthorDateLabel(element, (kind, *label_key(element)), text, is_date=False) if text else None


def _read_name(element: Element) -> str:
    """Return the name that an element displays, from its innermost name if it has several parts."""
    inner = next((part for part in element.iter() if part.get("itemprop") == "name"), None)
    if inner is not None:
        return clean_name(inner.get("content") or text_of(inner))
    if not len(element):
        return clean_name(element.text or "")
    whole = text_of(element)
    if len(whole) > 6 * _MAX_LABEL or (element.tag == "a" and _shows_avatar(element)):
        return ""
    for part in element.iter("a", "strong", "b", "cite"):
        if part is not element and not _shows_avatar(part) and (text := clean_name(text_of(part))):
            return text
    return clean_name(whole)


def _shows_avatar(element: Element) -> bool:
    """Return True for a link with a picture or initial in place of the name."""
    parts = element.iter("span", "div", "i", "a")
    return len(text_of(element).strip()) < 24 and any(_AVATAR.search(part.get("class") or "") for part in parts)


def clean_name(text: str) -> str:
    """Return a name without the words around it, or an empty text if it is no name."""
    line = clean_line(text, 2 * _MAX_LABEL)
    line = _AFTER_NAME.sub("", _BEFORE_NAME.sub("", line)).strip(" ,;:|·•-–—")
    if line and (date := find_post_date(line)):
        line = line.replace(date[0], "").strip(" ,;:|·•-–—()@")
    if not line or len(line) > MAX_NAME or _NO_NAME.match(line) or len(line.split()) > 8:
        return ""
    return line


def _read_date(element: Element, tag: str, *, is_dated: bool) -> AuthorDateLabel | None:
    is_time = tag in DATE_TAGS
    stated = moment = None
    if is_time or is_dated or element.get("itemprop") in ("datePublished", "dateCreated"):
        for attribute in _DATE_ATTRIBUTES:
            value = element.get(attribute)
            if value and len(value) < _MAX_LABEL and (moment := _parse_stated(value)):
                stated = value
                break
    hinted = is_time or is_dated
    pieces: list[tuple[Element | None, str | None]] = [(None, element.text)]
    if len(element) < 12:
        pieces += [(child, child.tail) for child in element]
    for child, piece in pieces:
        if not piece or len(piece) > 3 * _MAX_LABEL:
            continue
        text = " ".join(piece.split())
        if text and len(text) <= _MAX_LABEL and (found := find_post_date(text, is_hinted=hinted)):
            if not hinted and len(text) > len(found[0]) + 40:
                continue
            inner = text_of(child)[-40:] if child is not None and len(child) < 3 else ""
            if _is_other_date(element, text) or _OTHER_DATE.search(inner):
                return None
            written = found[0]
            if len(element) and len(whole := " ".join(text_of(element).split())) <= MAX_NAME:
                longer = find_post_date(whole, is_hinted=hinted)
                written = longer[0] if longer and longer[0].startswith(written) else written
            return AuthorDateLabel(element, label_key(element), written, is_date=True, moment=moment or found[1])
    if stated and not _is_other_date(element, ""):
        whole = text_of(element) if len(element) < 6 else ""
        written = " ".join(whole.split())
        date = find_post_date(written, is_hinted=True) if len(written) < _MAX_LABEL else None
        return AuthorDateLabel(element, label_key(element), date[0] if date else stated, is_date=True, moment=moment)
    return None


def _parse_stated(value: str) -> datetime | None:
    """Return the time in an attribute. Some contain seconds since 1970 after the date."""
    first = value.split()
    return date_parsing.parse_date(value) or (date_parsing.parse_date(first[0]) if len(first) == 2 else None)


def _is_other_date(element: Element, text: str) -> bool:
    """Return True for the date of a membership or an edit."""
    before = element.getprevious()
    around = element.getparent()
    texts = [text, element.get("class") or "", element.get("title") or ""]
    if before is not None:
        texts.append((before.tail or "")[-40:])
        if not (before.tail or "").strip() and len(before) < 3:
            texts += [part.get("title") or part.get("aria-label") or "" for part in before.iter()]
            texts.append(
                text_of(before)[-40:] if before.tag in ("dt", "span", "b", "strong", "em", "label", "i") else ""
            )
    elif around is not None:
        texts.append((around.text or "")[-40:])
        texts.append(around.get("class") or "")
    return any(part and _OTHER_DATE.search(part) for part in texts)


_DIGITS = re.compile(r"\d+")


def label_key(element: Element) -> tuple[str, ...]:
    """Return tag and classes of an element and its parent, without numbers."""
    around = element.getparent()
    outer = "" if around is None else f"{around.tag} {_first_class(around)}"
    return (element.tag, _first_class(element), outer)


def _first_class(element: Element) -> str:
    names = (element.get("class") or "").split()
    return _DIGITS.sub("", names[0]) if names else ""
