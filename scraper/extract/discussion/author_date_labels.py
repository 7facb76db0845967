"""Find the labels of posts in a page: author names and dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from itertools import compress, islice
from typing import Any, cast

from lxml import etree

from scraper.extract.discussion.author_names import MAX_NAME, clean_name, may_be_signed, read_name, read_signed_name
from scraper.extract.discussion.post_dates import find_post_date, may_hold_date
from scraper.html.dom.xpath import Element, classes_of, text_of
from scraper.text import date_parsing
from scraper.words.matcher import WordPattern

_MAX_LABELS = 100_000
"""Maximum number of labels. A thread of 10,000 posts has four per post."""

_MAX_LABEL = 120
_MAX_URL = 200
"""Characters at the end of a URL that are searched for the profile of a user."""

_MIN_AUTHORS = 2
_OPENING_TYPES = frozenset({"DiscussionForumPosting", "Question", "SocialMediaPosting"})
"""Types of posts that may have no reply, so that the page has one author."""
_MAX_TYPED_LEVELS = 6

# Patterns without `IGNORECASE` are for text in lower case: a search takes a fraction of the time.
_AUTHOR_CLASS = WordPattern(
    r"(?:author|user-?name|user|profile-?link)[\n_-]|[\n_-](?:poster|nick(?:name)?|commenter|byline|fn|name|creator|"
    r"person|reviewer|member|sender|from|submitter|owner|writer|display-?name|cite|{byline.class}|hide-from-print)[\n_-]",
    re.NOFLAG,
)
"""A class in a list with a line break before and after each class, like `_DATE_CLASS`."""
_NOT_AUTHOR = re.compile(
    r"avatar|(?:^|[\s_-])(?:bio|image|img|photo|rank|title|role|badge|stats?|posts?-?count|count|"
    r"(?<!text-)info|details-?list|signature|"
    r"sig|mention|menu|nav|login|reputation|flair|group|location|joined|extras?|banner|icon|actions?|controls?|online|"
    r"offline|status|is-author|by-author|byuser|comment-author-\w+|quote\w*|reply-?to|last-?post\w*|edit\w*)"
    r"(?:$|[\s_-])"
)
_USER_URL = re.compile(
    r"[\n/?&;=.](?:(?<=[\n/])(?:u|users?|members?|profiles?|people|person|account|contributors?)/[^/?#\n]|"
    r"(?<=/)(?:[@~][\w.-]+/?$|user[-_]|space-uid-\d)|(?<=[\n/])user\?id=|(?<=[?&])user=|(?<=\n)mailto:|"
    r"memberlist\.php\?.*u=|(?<=member\.)php|(?<=profile\.)php|action=profile|viewprofile|"
    r"mod=space&(?:amp;)?uid=)",
    re.MULTILINE,
)
"""Profile of a user, in lines of URLs in lower case. It begins with one of some signs, which makes a search fast."""
_AUTHOR_ATTRIBUTES = {
    "data-author": "+",
    "author": "+",
    "data-author-name": "+",
    "data-username": "3",
    "data-user-name": "3",
}
"""Attributes with the name of an author, and their ranks among the kinds of labels; some have only the account name."""
_STATING_ATTRIBUTES = frozenset({"rel", *_AUTHOR_ATTRIBUTES})
DATE_TAGS = frozenset({"time", "relative-time", "time-ago", "local-time", "faceplate-timeago", "abbr"})
_DATE_CLASS = re.compile(
    r"date|[\n_-](?:time|age|ago|when|posted|published|timeago|timestamp|datetime|moment\w*|"
    r"created\w*|post-?time|"
    r"postinfo|permalink|relativetime|reltime|meta|metadata|tagline|comment-meta)[\n_-]|time[\n_-]"
)
_OTHER_DATE = WordPattern(r"\b(?:{date_labels.joined}|{date_labels.joined_in_posts}|{date_labels.edited})\b", re.NOFLAG)
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
_QUOTE_TAGS = frozenset({"div", "aside", "table", "fieldset", "section"})
_AUTHOR_ROLES = frozenset({"author", "creator"})
_STATING_TAGS = frozenset({"article", "div", "li"})
_STRONG_NAMES = re.compile("post(?:body|msg|left|text)|blockpost")
"""Classes of boards that write the name of an author in bold, without a class, in lower case."""
_DATE_ROLES = frozenset({"datePublished", "dateCreated"})
_ROLES = etree.XPath(
    f"descendant-or-self::*/@itemprop[{' or '.join(f'.={role!r}' for role in sorted(_AUTHOR_ROLES | _DATE_ROLES))}]"
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


def is_quote(element: Element) -> bool:
    """Return True for an element that holds a quotation of another post."""
    if element.tag not in _QUOTE_TAGS:
        return element.tag == "blockquote"
    name = element.get("class")
    return bool(name) and _is_quote_class(name or "")


@cache
def _is_quote_class(name: str) -> bool:
    # Names such as js-quote-selection mark what a script works on: often the whole thread.
    return any(_QUOTE_CLASS.search(part) for part in name[:_MAX_LABEL].split() if not part.startswith("js-"))


def find_labels(body: Element, classes: str, tags: Collection[str]) -> list[AuthorDateLabel]:
    """Return the names and dates outside of quotations in document order, or nothing if the page has one name only.

    The author of a declared question or opening post may be the only one.

    `classes` are the values of `class` in the page, one per line, and `tags` its tags.
    """
    elements = _LabelElements(body, classes, tags)
    outside = {body: False}
    authors: dict[Element, AuthorDateLabel] = {}
    for element in elements.find_authors(with_strong=_STRONG_NAMES.search(classes.lower()) is not None):
        author = _read_author(element, is_author=element.get("class") in elements.author_classes)
        if author is not None and not _is_outside(element, outside):
            authors[element] = author
    if len(authors) < _MIN_AUTHORS and not any(map(_is_in_declared_post, authors)):
        return []
    labels: list[AuthorDateLabel] = []
    for element in elements.find_dates(authors):
        author = authors.get(element)
        if author is not None:
            labels.append(author)
        date = _read_date(element, is_dated=element.tag in DATE_TAGS or element.get("class") in elements.date_classes)
        if date is not None and not _is_outside(element, outside):
            labels.append(date)
        if len(labels) >= _MAX_LABELS:
            break
    return labels


def _is_in_declared_post(author: Element) -> bool:
    """Return True if markup declares the author of a post that opens a discussion."""
    typed = (one.get("itemtype") or "" for one in islice(author.iterancestors(), _MAX_TYPED_LEVELS))
    kind = next(filter(None, typed), "") if author.get("itemprop") in _AUTHOR_ROLES else ""
    return kind.rpartition("/")[2] in _OPENING_TYPES


class _LabelElements:
    """Elements of a page that may be labels. Each test runs once for each distinct value, not for each element."""

    def __init__(self, body: Element, classes: str, tags: Collection[str]) -> None:
        """Use these values of `class`, one per line, and tags of the page."""
        self._body = body
        self._tags = tags
        self._listed = "\n\n".join(["", *set(classes.lower().split()), ""])
        self._roles = {value.getparent(): str(value) for value in cast("list[Any]", _ROLES(body))}

    @cached_property
    def _all(self) -> list[Element]:
        """All elements in document order."""
        return list(self._body.iter())

    @cached_property
    def _texts(self) -> list[str | None]:
        """Text of each element before its first child."""
        return [element.text for element in self._all]

    @cached_property
    def _classes(self) -> list[str | None]:
        """Value of `class` of each element."""
        return [element.get("class") for element in self._all]

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Class names of each distinct value of `class`."""
        return {value: value[:_MAX_LABEL].lower().split() for value in set(self._classes) if value}

    @cached_property
    def author_classes(self) -> set[str]:
        """Values of `class` with a name of authors, and no name of other things."""
        names = {name for name in self._match(_AUTHOR_CLASS) if not _NOT_AUTHOR.search(name)}
        return {value for value in self._with_any(names) if not any(map(_NOT_AUTHOR.search, self._names[value]))}

    @cached_property
    def date_classes(self) -> set[str]:
        """Values of `class` with a name of dates."""
        return self._with_any(self._match(_DATE_CLASS))

    def _match(self, pattern: re.Pattern[str] | WordPattern) -> set[str]:
        """Return the class names that match. One search of all takes less time than many."""
        listed = self._listed
        ends = (match.end() - 1 for match in pattern.finditer(listed))
        return {listed[listed.rfind("\n", 0, end) + 1 : listed.find("\n", end)] for end in ends}

    def _with_any(self, names: set[str]) -> set[str]:
        """Return the values of `class` with any of these names. Without names, no element is examined."""
        return {value for value, own in self._names.items() if not names.isdisjoint(own)} if names else set()

    def find_authors(self, *, with_strong: bool) -> set[Element]:
        """Return the elements that `_read_author` may accept."""
        found = {element for element, role in self._roles.items() if role in _AUTHOR_ROLES}
        if self.author_classes:
            found.update(compress(self._all, map(self.author_classes.__contains__, self._classes)))
        found.update(_find_author_links(self._body))
        stating_tags = _STATING_TAGS.union(tag for tag in self._tags if "-" in tag)
        for element in self._body.iter(*stating_tags):
            if not _STATING_ATTRIBUTES.isdisjoint(element.keys()) and (
                element.get("rel") == "author" or any(map(element.get, _AUTHOR_ATTRIBUTES))
            ):
                found.add(element)
        if with_strong:
            found.update(self._body.iter("strong"))
        signed = set(filter(may_be_signed, set(self._texts)))
        found.update(compress(self._all, map(signed.__contains__, self._texts)) if signed else ())
        return found

    def find_dates(self, authors: Mapping[Element, AuthorDateLabel]) -> list[Element]:
        """Return the elements of authors and those that may hold a date, in document order."""
        elements = self._all
        texts, tails = self._texts, [element.tail for element in elements]
        dated = set(filter(may_hold_date, {*texts, *tails}))
        found = {*authors, *(element for element, role in self._roles.items() if role in _DATE_ROLES)}
        found.update(compress(elements, map(dated.__contains__, texts)))
        found.update(element.getparent() for element in compress(elements, map(dated.__contains__, tails)))
        found.update(compress(elements, map(self.date_classes.__contains__, self._classes)))
        found.update(self._body.iter(*DATE_TAGS))
        return [element for element in elements if element in found]


def _find_author_links(body: Element) -> Iterator[Element]:
    """Return the links to profiles of users, and those that are declared as links to authors."""
    links = [(link, _end_of_url(link)) for link in body.iter("a")]
    lines = "\n".join(["", *{url for _, url in links}, ""])
    starts = (match.start() + 1 for match in _USER_URL.finditer(lines))
    of_users = {lines[lines.rfind("\n", 0, start) + 1 : lines.find("\n", start)] for start in starts}
    return (link for link, url in links if url in of_users or link.get("rel") == "author" or _shows_user_card(link))


def _end_of_url(link: Element) -> str:
    """Return the end of the URL of a link in lower case, in one line."""
    return " ".join((link.get("href") or "")[-_MAX_URL:].lower().split())


def _shows_user_card(link: Element) -> bool:
    """Return True if a link shows a card with the user when the pointer is over it."""
    return link.get("data-hovercard-type") == "user" or (link.get("data-hovercard-url") or "").startswith("/users/")


def _is_outside(element: Element, known: dict[Element, bool]) -> bool:
    """Return True if an element is a quotation, a control or navigation, or inside of one."""
    climbed = []
    around: Element | None = element
    while around is not None and around not in known:
        climbed.append(around)
        around = around.getparent()
    outside = around is not None and known[around]
    for one in reversed(climbed):
        outside = outside or one.tag in _SKIPPED or is_quote(one)
        known[one] = outside
    return outside


def _read_author(element: Element, *, is_author: bool) -> AuthorDateLabel | None:
    tag: str = element.tag
    if "-" in tag or tag in ("article", "div", "li"):
        for attribute, rank in _AUTHOR_ATTRIBUTES.items():
            stated = element.get(attribute)
            if stated and (text := clean_name(stated)):
                return AuthorDateLabel(element, (rank, attribute), text, is_date=False)
    role = element.get("itemprop")
    kind = ""
    if role in _AUTHOR_ROLES or element.get("rel") == "author":
        kind = "0"
    elif tag == "a" and _USER_URL.search(f"\n{_end_of_url(element)}"):
        if _NOT_AUTHOR.search((element.get("class") or "")[:_MAX_LABEL].lower()) and not is_author:
            return None
        kind = "1"
    elif is_author or (_shows_user_card(element) and text_of(element).strip()):
        kind = "2"
    elif tag == "strong" and (around := element.getparent()) is not None and around.tag == "dt":
        kind = "3"
    if len(element) > 12:
        return None
    text = read_name(element) if kind else read_signed_name(element)
    kind = kind or "3"
    return AuthorDateLabel(element, (kind, *_label_key(element)), text, is_date=False) if text else None


def _read_date(element: Element, *, is_dated: bool) -> AuthorDateLabel | None:
    stated = moment = None
    if is_dated or element.get("itemprop") in _DATE_ROLES:
        for attribute in _DATE_ATTRIBUTES:
            value = element.get(attribute)
            if not value and attribute == "title" and len(element) == 1 and element[0].tag == "span":
                value = element[0].get(attribute)
            if value and len(value) < _MAX_LABEL and (moment := _parse_stated(value)):
                stated = value
                break
    pieces: list[tuple[Element | None, str | None]] = [(None, element.text)]
    if len(element) < 12:
        pieces += [(child, child.tail) for child in element]
    for child, piece in pieces:
        if not piece or len(piece) > 3 * _MAX_LABEL:
            continue
        text = " ".join(piece.split())
        if text and len(text) <= _MAX_LABEL and (found := find_post_date(text, is_hinted=is_dated)):
            if not is_dated and len(text) > len(found[0]) + 40:
                continue
            inner = text_of(child)[-40:] if child is not None and len(child) < 3 else ""
            if _is_other_date(element, text) or _OTHER_DATE.search(inner.lower()):
                return None
            written = found[0]
            if len(element) and len(whole := " ".join(text_of(element).split())) <= MAX_NAME:
                longer = find_post_date(whole, is_hinted=is_dated)
                written = longer[0] if longer and longer[0].startswith(written) else written
            moment = moment or found[1] or _parse_stated((element.get("title") or "")[:_MAX_LABEL])
            return AuthorDateLabel(element, _label_key(element), written, is_date=True, moment=moment)
    if stated and not _is_other_date(element, ""):
        whole = text_of(element) if len(element) < 6 else ""
        written = " ".join(whole.split())
        date = find_post_date(written, is_hinted=True) if len(written) < _MAX_LABEL else None
        return AuthorDateLabel(element, _label_key(element), date[0] if date else stated, is_date=True, moment=moment)
    return None


def _parse_stated(value: str) -> datetime | None:
    """Return the time in an attribute. Some contain seconds since 1970 after the date."""
    first, _, rest = value.partition(" ")
    moment = date_parsing.parse_date(first if rest.isdigit() else value)
    return moment or (date_parsing.parse_date(first) if rest and " " not in rest else None)


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
    return any(part and _OTHER_DATE.search(part.lower()) for part in texts)


_DIGITS = re.compile(r"\d+")


def _label_key(element: Element) -> tuple[str, ...]:
    """Return tag and classes of an element and its parent, without numbers."""
    around = element.getparent()
    outer = "" if around is None else f"{around.tag} {_first_class(around)}"
    return (element.tag, _first_class(element), outer)


def _first_class(element: Element) -> str:
    names = classes_of(element)
    return _DIGITS.sub("", names[0]) if names else ""
