"""Read and clean the names of authors of pages and posts, and reject texts that are not names."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from itertools import islice

from scraper.facts.metadata.written_dates import find_written_date, may_hold_date
from scraper.html.dom.parsing import remove
from scraper.html.dom.xpath import Element, text_of
from scraper.text import date_parsing
from scraper.text.sanitize import clean_line
from scraper.words.matcher import WordPattern, Words

MAX_NAME = 60
"""Characters of a name."""
_MAX_LINE = 240
"""Characters of a text that is searched for a name."""
_MAX_AROUND_NAME = 720
"""Characters of an element that may contain a name."""
_MAX_USER_WORDS, _MAX_PERSON_WORDS = 8, 6
_MAX_PARTS, _MAX_PEOPLE = 20, 3
"""Links in an element that may be names, and people in one element; more are a list of something else."""
_MAX_BEGINNING = 60
"""Characters with the words before a signed name."""
_AVATAR = re.compile("avatar|status", re.IGNORECASE)
_BEFORE_NAME = WordPattern(
    r"^(?:(?:{byline.signed|byline.replied}?\s*{byline.by}|{byline.author})\s*[:：]?\s+|"
    r"(?:{byline.author}|{byline.sender})\s?[:：/]\s*|@)"
)
"""Words such as "by" before the name of an author, in many languages."""
_BEFORE_SIGNATURE = WordPattern(
    r"^(?:(?:(?:{byline.signed|byline.replied}\s)?{byline.by}|{byline.author})(?:\s*[:：]?\s|\s?[:：/])|{byline.sender}\s*(?:[:：]\s|$))"
)
_SENDER_WORDS, _REPLY_WORDS = Words("byline.sender"), Words("byline.replied")
_SIGNING_WORDS = Words("byline.by", "byline.author", "byline.sender")
_COLONS = str.maketrans(":：/", "   ")
_GIVEN_NAME_BY = WordPattern(r"{byline.given_name}\s[^\s,]+(?:,|\Z)", re.NOFLAG)
"""Words for "by" that are also names of people if one word follows: `Di Wang` is not by Wang."""
_AFTER_USER = WordPattern(
    r"\s*(?:,|:|\b{byline.says}\b|»|•|·|(?<!\w)\(?(?:OP|author|verified \w+)\)?$)\s*:?\s*$|"
    r"\s+(?:says|said|wrote|says on):?\s.*$"
)
_NO_NAME = WordPattern(r"^(?:\W*|{byline.no_name}|sponsored.*|#\d\S*|https?:.*|\d{4}-\d\d-\d\d.*)$")
_DATE_WORD = "|".join(f"{{{name}}}" for name in date_parsing.MONTHS_AND_DAYS)
_AFTER_PERSON = WordPattern(
    rf"[\s,]+(?:{_DATE_WORD})\.?,?\s+\d.*$|"
    r"\s+(?:[|•·–—/-]|[<(\[][^<>()\[\]]*(?:@|\sat\s)|\b{byline.after_name}\b).*$|"
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
    if line and (date := find_written_date(line)):
        line = line.replace(date[0], "").strip(f"{_EDGES}()@")
    if len(line) > MAX_NAME or _NO_NAME.match(line) or len(line.split()) > _MAX_USER_WORDS:
        return ""
    return line


def clean_person(text: str) -> str:
    """Return the name of a person or group at the beginning of a byline, or "": its words begin in upper case."""
    if len(text) > _MAX_AROUND_NAME:
        return ""
    name = _AFTER_PERSON.sub("", strip_byline(clean_line(text, _MAX_LINE // 2))).strip(_EDGES)
    words = _WORD.findall(name)
    cased = [word for word in words if word.lower() not in _NAME_PARTICLES.all]
    is_name = cased and len(words) <= _MAX_PERSON_WORDS and len(name) <= MAX_NAME
    return name if is_name and not any(word[0].islower() for word in cased) else ""


def read_names(element: Element, clean: Callable[[str], str]) -> list[str]:
    """Return the names in an element that is marked as author, from its innermost parts that are names.

    `clean` returns the name in a text, or "".
    """
    inner = next((part for part in element.iter() if part.get("itemprop") == "name"), None)
    if inner is not None:
        return list(filter(None, [clean(inner.get("content") or text_of(inner))]))
    whole = text_of(element)
    if len(whole) > _MAX_AROUND_NAME:
        return []
    if _shows_avatar(element):
        whole = _without_avatar(element)
    for tags in (("a",), ("strong", "b", "cite")):
        parts = (part for part in islice(element.iter(*tags), _MAX_PARTS) if part is not element)
        names = dict.fromkeys(clean(text_of(part)) for part in parts if not _shows_avatar(part))
        found = list(filter(None, names))
        if 0 < len(found) <= _MAX_PEOPLE:
            return found
    return list(filter(None, [clean(whole)]))


def _without_avatar(element: Element) -> str:
    """Return the text of an element without the initials that it shows in place of a picture."""
    copied = copy.deepcopy(element)
    copied.tail = None
    for part in list(copied.iter("span", "div", "i")):
        if part is not copied and _AVATAR.search(part.get("class") or ""):
            remove(part)
    return "" if _AVATAR.search(element.get("class") or "") else text_of(copied)


def _shows_avatar(element: Element) -> bool:
    """Return True for a link with a picture or initial in place of the name."""
    parts = element.iter("span", "div", "i", "a")
    return len(text_of(element).strip()) < 24 and any(_AVATAR.search(part.get("class") or "") for part in parts)


def may_sign_post(text: str) -> bool:
    """Return True for most of the texts that sign a post: an article has no such text, or one without a date."""
    words = _beginning(text)
    if len(words) < 2:
        return not _SENDER_WORDS.all.isdisjoint(words)
    return not _SIGNING_WORDS.all.isdisjoint(words[:2]) and (words[0] in _REPLY_WORDS.all or may_hold_date(text))


def _beginning(text: str) -> list[str]:
    """Return the first words of a text that may be signed, else none, and the rest."""
    return text[:_MAX_BEGINNING].lower().translate(_COLONS).split(None, 2) if len(text) <= _MAX_LINE else []


def read_signed_name(element: Element) -> str:
    """Return the person in a line such as "Asked by Ann Lee" or "By Ann Lee on May 5", or behind a label "From:".

    The name may stand in the next element.
    """
    text = element.text or ""
    line = clean_line(text, _MAX_LINE)
    is_signed = not _SIGNING_WORDS.all.isdisjoint(_beginning(text)[:2])
    match = _BEFORE_SIGNATURE.match(f"{line} ") if is_signed else None
    if match is None:
        return ""
    if match.end() < len(line):
        return clean_person(line[match.end() :])
    following = element[0] if len(element) else element.getnext()
    tail = "" if len(element) else (element.tail or "").strip(" :：\n\t")
    return clean_person(tail or ("" if following is None else text_of(following)))
