"""Find the authors and dates of the posts in a page, and read the names of authors of pages and posts."""

import copy
import re
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain, compress, islice
from typing import Any, cast

from lxml import etree

from scraper.facts.metadata import written_dates
from scraper.facts.metadata.written_dates import DATE_ROLES, DATE_TAGS, NAMES, DateKind
from scraper.html.dom.parsing import Element, classes_of, remove, text_of
from scraper.text import date_parsing
from scraper.text.sanitize import clean_line
from scraper.words.matcher import WordPattern, Words

_MAX_LABELS = 100_000
"""Maximum number of labels. A thread of 10,000 posts has four per post."""

_MAX_CLASSES = 120
_MAX_URL = 200
"""Characters at the end of a URL that are searched for the profile of a user."""
_MAX_PARTS = 12
_MIN_AUTHORS = 2

# Patterns without `IGNORECASE` are for text in lower case: a search takes a fraction of the time.
_AUTHOR_CLASS = WordPattern(r"author(?!i[sz]|ity)|by-?line|writer|[\s_-]{byline.class}", re.NOFLAG)
_USER_CLASS = WordPattern("|".join(NAMES["user_class"]), re.NOFLAG)
_NOT_AUTHOR, _USER_URL = (WordPattern("|".join(NAMES[name]), re.NOFLAG) for name in ("not_author_class", "user_url"))
_AUTHOR_ATTRIBUTES: dict[str, str] = NAMES["author_attributes"]
"""Attributes with the name of an author, and their ranks among the kinds of labels; some have only the account name."""
_QUOTE_CLASS = re.compile(NAMES["quote_class"], re.IGNORECASE)
_QUOTE_TAGS = frozenset({"div", "aside", "table", "fieldset", "section"})
_AUTHOR_ROLES = frozenset({"author", "creator"})
_STATING_TAGS = frozenset({"article", "div", "li"})
_STRONG_NAMES = ("postbody", "postmsg", "postleft", "posttext", "blockpost")
"""Classes of boards that write the name of an author in bold, without a class, in lower case."""
_DECLARING = {name: etree.XPath(f"descendant-or-self::*/@{name}") for name in ("itemprop", "rel", *_AUTHOR_ATTRIBUTES)}
"""Values of each attribute that may declare an author."""


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


@lru_cache(maxsize=4_096)
def _is_quote_class(name: str) -> bool:
    # Names such as js-quote-selection mark what a script works on: often the whole thread.
    return any(_QUOTE_CLASS.search(part) for part in name[:_MAX_CLASSES].split() if not part.startswith("js-"))


@lru_cache(maxsize=4_096)
def _has_class(pattern: WordPattern, classes: str) -> bool:
    """Return True if a value of `class` has a name of authors, and no name of other things."""
    padded = f" {classes[:_MAX_CLASSES].lower()} "
    return pattern.search(padded) is not None and _NOT_AUTHOR.search(padded) is None


def find_labels(body: Element, classes: str, attributes: Set[str]) -> list[AuthorDateLabel]:
    """Return the names and dates in document order, or nothing if the page has one name only.

    `classes` are the values of `class` in the page, one per line, and `attributes` the names of those that occur.
    """
    elements, lowered = _Elements(body, attributes), classes.lower()
    authors: dict[Element, AuthorDateLabel] = {}
    for element, kind in elements.find_authors(with_strong=any(name in lowered for name in _STRONG_NAMES)):
        author = _read_author(element, kind)
        if author is not None:
            authors[element] = author
    if len(authors) < _MIN_AUTHORS:
        return []
    labels: list[AuthorDateLabel] = []
    for element, is_dated in elements.find_dates(authors):
        if element in authors:
            labels.append(authors[element])
        date = written_dates.read_date(element, is_dated=is_dated)
        if date is not None and date.kind is DateKind.PUBLISHED:
            labels.append(AuthorDateLabel(element, _label_key(element), date.text, is_date=True, moment=date.moment))
        if len(labels) >= _MAX_LABELS:
            break
    return labels


class _Elements:
    """Elements of a page that may be labels. Each test runs once for each distinct value, not for each element."""

    def __init__(self, body: Element, attributes: Set[str]) -> None:
        self._all = list(body.iter())
        self._declared = {
            name: [(value.getparent(), str(value)) for value in cast("list[Any]", select(body))]
            for name, select in _DECLARING.items()
            if name in attributes
        }
        self._texts = [element.text for element in self._all]
        self._classes = [element.get("class") for element in self._all]

    def _with(self, values: Sequence[str | None], accept: Callable[[str], bool]) -> Iterator[Element]:
        accepted = set(filter(accept, filter(None, set(values))))
        return compress(self._all, map(accepted.__contains__, values)) if accepted else iter(())

    def find_authors(self, *, with_strong: bool) -> Iterator[tuple[Element, str]]:
        """Yield the elements that may name an author, each with the kind of its declaration."""
        found = dict.fromkeys(self._with(self._texts, may_sign_post), "3")
        links = [(element, element.get("href") or "") for element in self._all[0].iter("a")]
        to_users = set(filter(_leads_to_user, {href for _, href in links if href}))
        found |= {element: "" for element, href in links if href in to_users}
        found |= dict.fromkeys(self._with(self._classes, partial(_has_class, _USER_CLASS)), "")
        for name, declared in self._declared.items():
            are_names = name in _AUTHOR_ATTRIBUTES
            found |= dict.fromkeys((element for element, value in declared if are_names or value in _AUTHOR_ROLES), "")
        if with_strong:
            found |= dict.fromkeys((one for one in self._all if one.tag == "strong"), "")
        return ((element, kind) for element, other in found.items() if (kind := _author_kind(element) or other))

    def find_dates(self, authors: Collection[Element]) -> Iterator[tuple[Element, bool]]:
        """Yield the elements of authors and those that may hold a date, and if they declare one, in document order."""
        dated = {element for element, role in self._declared.get("itemprop", ()) if role in DATE_ROLES}
        dated.update(self._all[0].iter(*DATE_TAGS), self._with(self._classes, written_dates.names_date))
        tails = [element.tail for element in self._all]
        found = {*authors, *dated, *self._with(self._texts, written_dates.may_hold_date)}
        found.update(cast("Element", element.getparent()) for element in self._with(tails, written_dates.may_hold_date))
        return ((element, element in dated) for element in filter(found.__contains__, self._all))


def _leads_to_user(url: str) -> bool:
    return _USER_URL.search(url[-_MAX_URL:].lower()) is not None


def _author_kind(element: Element) -> str:
    """Return how an element declares the author of a post, or "". The surest kind is the first in sorted order."""
    tag: str = element.tag
    if ("-" in tag or tag in _STATING_TAGS) and any(map(element.get, _AUTHOR_ATTRIBUTES)):
        return "+"
    if _is_declared(element):
        return "0"
    classes = element.get("class") or ""
    is_named = bool(classes) and _has_class(_USER_CLASS, classes)
    may_be_link = is_named or not _NOT_AUTHOR.search(f" {classes[:_MAX_CLASSES].lower()} ")
    if tag == "a" and may_be_link and _leads_to_user(element.get("href") or ""):
        return "1"
    if is_named:
        return "2"
    around = element.getparent()
    return "3" if tag == "strong" and around is not None and around.tag == "dt" else ""


def declares_author(element: Element) -> bool:
    """Return True if markup or a class declares the author of a page."""
    classes = element.get("class")
    return _is_declared(element) or (classes is not None and _has_class(_AUTHOR_CLASS, classes))


def _is_declared(element: Element) -> bool:
    return element.get("itemprop") in _AUTHOR_ROLES or element.get("rel") == "author"


def _read_author(element: Element, kind: str) -> AuthorDateLabel | None:
    if kind == "+":
        for attribute, rank in _AUTHOR_ATTRIBUTES.items():
            if name := clean_user(element.get(attribute) or ""):
                return AuthorDateLabel(element, (rank, attribute), name, is_date=False)
    if len(element) > _MAX_PARTS:
        return None
    names = [] if kind == "3" and element.tag != "strong" else read_names(element, clean_user)
    name = names[0] if names else read_signed_name(element)
    return AuthorDateLabel(element, (kind, *_label_key(element)), name, is_date=False) if name else None


_NO_DIGITS = str.maketrans("", "", "0123456789")


def strip_digits(name: str) -> str:
    """Return a class or id without digits, which often number the posts of a page."""
    return name.translate(_NO_DIGITS)


def _label_key(element: Element) -> tuple[str, ...]:
    """Return tag and classes of an element and its parent, without numbers."""
    around = element.getparent()
    outer = "" if around is None else f"{around.tag} {_first_class(around)}"
    return (element.tag, _first_class(element), outer)


def _first_class(element: Element) -> str:
    names = classes_of(element)
    return strip_digits(names[0]) if names else ""


_MAX_NAME = 60
_MAX_LINE = 240
_MAX_AROUND_NAME = 720
"""Characters of an element that may contain a name."""
_MAX_USER_WORDS, _MAX_PERSON_WORDS = 8, 6
_MAX_NAMED_PARTS, _MAX_PEOPLE = 20, 5
"""Links in an element that may be names, and people in one element; more are a list of something else."""
_MAX_BEGINNING = 60
"""Characters with the words before a signed name."""
_BEFORE_NAME = WordPattern(NAMES["before_name"])
"""Words such as "by" before the name of an author, in many languages."""
_BEFORE_SIGNATURE = WordPattern(NAMES["before_signature"])
_SENDER_WORDS, _REPLY_WORDS = Words("byline.sender"), Words("byline.replied")
_SIGNING_WORDS = Words("byline.by", "byline.author", "byline.sender")
_GIVEN_NAME_BY = WordPattern(r"{byline.given_name}\s[^\s,]+(?:,|\Z)", re.NOFLAG)
"""Words for "by" that are also names of people if one word follows: `Di Wang` is not by Wang."""
_AFTER_USER = WordPattern(NAMES["after_user"])
_NO_NAME = WordPattern(r"^(?:\W*|{byline.no_name}|sponsored.*|#\d\S*|https?:.*|\d{4}-\d\d-\d\d.*)$")
_DATE_WORD = "|".join(f"{{{name}}}" for name in date_parsing.MONTHS_AND_DAYS)
_AFTER_PERSON = WordPattern(
    rf"[\s,]+(?:{{byline.after_name}}\s+)?(?:{_DATE_WORD})\.?,?\s+\d.*$|"
    r"\s+(?:[|•·–—/-]|[<(\[][^<>()\[\]]*(?:@|\sat\s)|\b(?!(?-i:[A-Z][a-z])){byline.after_name}\b).*$|"
    r"\s*[,(|•·]\s*(?:\w+\.?\s+)?\d.*$|\s*\d.*$|\s+{byline.reporter}$"
)
_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_NAME_PARTICLES = Words("byline.particle")
_EDGES = " ,;:|·•-–—"


def strip_byline(text: str) -> str:
    """Return a text without the words for "by" or "author" at its beginning."""
    return text if _GIVEN_NAME_BY.match(text) else _BEFORE_NAME.sub("", f"{text} ").strip()


def clean_user(text: str) -> str:
    """Return the name or nickname of a user without the words around it, or "" if it is not a name."""
    line = _AFTER_USER.sub("", strip_byline(clean_line(text, _MAX_LINE))).strip(_EDGES)
    if line and (date := written_dates.find_written_date(line)):
        line = line.replace(date[0], "").strip(f"{_EDGES}()@")
    if len(line) > _MAX_NAME or _NO_NAME.match(line) or len(line.split()) > _MAX_USER_WORDS:
        return ""
    return line


def clean_person(text: str) -> str:
    """Return the name of a person or group at the beginning of a byline, or "": its words begin in upper case."""
    if len(text) > _MAX_AROUND_NAME:
        return ""
    name = _AFTER_PERSON.sub("", strip_byline(clean_line(text, _MAX_LINE // 2))).strip(_EDGES)
    words = _WORD.findall(name)
    cased = [word for word in words if word.lower() not in _NAME_PARTICLES.all]
    people = min(_MAX_PEOPLE, 1 + name.count(","))
    is_name = cased and len(words) <= people * _MAX_PERSON_WORDS and len(name) <= people * _MAX_NAME and ":" not in name
    return name if is_name and not any(word[0].islower() for word in cased) else ""


def read_names(element: Element, clean: Callable[[str], str]) -> list[str]:
    """Return the names in an element that is marked as author, from its innermost parts that are names.

    `clean` returns the name in a text, or "".
    """
    inner = [part for part in element.iter() if part.get("itemprop") == "name"]
    if inner:  # deeper ones may name a company
        parts = (part for part in inner[:_MAX_PEOPLE] if part.getparent() is inner[0].getparent())
        return list(filter(None, dict.fromkeys(clean(part.get("content") or text_of(part)) for part in parts)))
    whole = _join_words(element)
    if len(whole) > _MAX_AROUND_NAME:
        return []
    if _shows_avatar(element):
        whole = _without_avatar(element)
    for tags in (("a",), ("strong", "b", "cite")):
        parts = (part for part in islice(element.iter(*tags), _MAX_NAMED_PARTS) if part is not element)
        names = dict.fromkeys(clean(text_of(part)) for part in parts if not _shows_avatar(part))
        found = list(filter(None, names))
        if 0 < len(found) <= _MAX_PEOPLE:
            return found
    others = () if clean is clean_user else islice(element, _MAX_NAMED_PARTS)  # a role may follow the name of a person
    texts = chain([whole], map(text_of, others))
    return list(islice(filter(None, map(clean, texts)), 1))


def _join_words(element: Element) -> str:
    """Return the text of an element, with a space between a part that ends in lower case and one in upper case."""
    joined = ""
    for text in map(str, element.itertext()):
        joined += f" {text}" if joined[-1:].islower() and text[:1].isupper() else text
    return joined


def _without_avatar(element: Element) -> str:
    copied = copy.deepcopy(element)
    copied.tail = None
    for part in list(copied.iter("span", "div", "i")):
        if part is not copied and _is_avatar(part):
            remove(part)
    return "" if _is_avatar(element) else text_of(copied)


def _is_avatar(element: Element) -> bool:
    name = (element.get("class") or "").lower()
    return "avatar" in name or "status" in name


def _shows_avatar(element: Element) -> bool:
    parts = element.iter("span", "div", "i", "a")
    return len(text_of(element).strip()) < 24 and any(_is_avatar(part) for part in parts)


def may_sign_post(text: str) -> bool:
    """Return True for most of the texts that sign a post: an article has no such text, or one without a date."""
    words = _beginning(text)
    if len(words) < 2:
        return not _SENDER_WORDS.all.isdisjoint(words)
    return not _SIGNING_WORDS.all.isdisjoint(words[:2]) and (
        words[0] in _REPLY_WORDS.all or written_dates.may_hold_date(text)
    )


def _beginning(text: str) -> list[str]:
    """Return the first words of a text that may be signed, and the rest."""
    if len(text) > _MAX_LINE:
        return []
    return text[:_MAX_BEGINNING].lower().replace(":", " ").replace("：", " ").replace("/", " ").split(None, 2)


def read_signed_name(element: Element) -> str:
    """Return the person in a line such as "Asked by Ann Lee" or "By Ann Lee on May 5", or behind a label "From:".

    The name may stand in the next element.
    """
    text = element.text
    if not text or text.isspace() or _SIGNING_WORDS.all.isdisjoint(_beginning(text)[:2]):
        return ""
    line = clean_line(text, _MAX_LINE)
    match = _BEFORE_SIGNATURE.match(f"{line} ")
    if match is None:
        return ""
    if match.end() < len(line):
        return clean_person(line[match.end() :])
    following = element[0] if len(element) else element.getnext()
    tail = "" if len(element) else (element.tail or "").strip(" :：\n\t")
    return clean_person(tail or ("" if following is None else text_of(following)))
