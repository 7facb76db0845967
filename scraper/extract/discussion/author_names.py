"""Read and clean the names of authors: remove the words around them, and reject texts that are not names."""

from __future__ import annotations

import copy
import re

from scraper.extract.discussion.post_dates import find_post_date, may_hold_date
from scraper.html.dom.parsing import remove
from scraper.html.dom.xpath import Element, text_of
from scraper.text.sanitize import clean_line
from scraper.words.matcher import WordPattern, Words

MAX_NAME = 60
"""Characters of a name."""
_MAX_LINE = 240
"""Characters of a text that is searched for a name."""
_MAX_AROUND_NAME = 720
"""Characters of an element that may contain a name."""
_MAX_SENDER_LABEL = 20
_MAX_BEGINNING, _MIN_SIGNED_WORDS = 60, 3
"""Characters with the first words of a signed line, and its minimum words."""
_MAX_SENDER_PARTS = 4
"""Elements in the cell with the sender of a mail."""
_AVATAR = re.compile("avatar|status", re.IGNORECASE)
_BEFORE_NAME = WordPattern(
    r"^(?:{byline.posted})?\s*(?:{byline.by}|{byline.by_in_posts}|{byline.author}|{byline.author_of_posts})"
    r"\s*[:：]?\s+|^@"
)
_AFTER_NAME = WordPattern(
    r"\s*(?:,|:|\b{byline.says}\b|»|•|·|(?<!\w)\(?(?:OP|author|verified \w+)\)?$)\s*:?\s*$|"
    r"\s+(?:says|said|wrote|says on):?\s.*$"
)
_NO_NAME = WordPattern(r"^(?:\W*|{byline.no_name}|sponsored.*|#\d\S*|https?:.*|\d{4}-\d\d-\d\d.*)$")


_BY_WORDS = Words("byline.by", "byline.by_in_posts")
_REPLY_WORDS = Words("byline.replied")
"""Words before "by" and a name that need no date, because articles are not signed with them."""
_SIGNED = WordPattern(
    r"\s*(?:[^\W\d_]{4,12}\s+)?(?:{byline.by}|{byline.by_in_posts})\s+([^\W\d_].*?)\s*"
    r"(?:[,|·•–-]|\b{byline.before_date})?\s*"
)
_SENDER_WORDS = Words("byline.sender")
_ADDRESS = re.compile(r"\s*[<(\[][^<>()\[\]]*(?:@|\bat\b)[^<>()\[\]]*[>)\]]\s*")


def may_be_signed(text: str | None) -> bool:
    """Return True for most of the texts from which `read_signed_name` reads a name."""
    if not text or len(text) > _MAX_LINE:
        return False
    words = text[:_MAX_BEGINNING].lower().split(None, 2)
    if len(words) < _MIN_SIGNED_WORDS:
        return _is_sender_label(text)
    return not _BY_WORDS.all.isdisjoint(words[:2]) and (words[0] in _REPLY_WORDS.all or may_hold_date(text))


def read_signing_word(text: str | None) -> str:
    """Return the word before "by" at the beginning of a line such as "Asked by Ann Lee", in lower case, or ""."""
    words = (text or "")[:_MAX_BEGINNING].lower().split(None, 2)
    return words[0] if len(words) == _MIN_SIGNED_WORDS and words[1] in _BY_WORDS.all else ""


def _is_sender_label(text: str) -> bool:
    """Return True for the word before the sender of a mail."""
    return len(text) < _MAX_SENDER_LABEL and text.strip(" \t\r\n\xa0:：").lower() in _SENDER_WORDS.all


def read_signed_name(element: Element) -> str:
    """Return the name in a line such as "Asked by Ann Lee" or "By Ann Lee on May 5, 2024", or after "From:"."""
    text = element.text or ""
    if len(element) or not may_be_signed(text):
        return ""
    return _read_sender(element) if _is_sender_label(text) else _read_signature(text)


def _read_sender(label: Element) -> str:
    """Return the name after a label, in the same line or in the next cell of a list or table."""
    following = label.getnext()
    line = clean_line(label.tail or "", _MAX_LINE).strip(" :：")
    if not line and following is not None and len(following) < _MAX_SENDER_PARTS:
        line = clean_line(text_of(following), _MAX_LINE)
    return clean_name(_ADDRESS.sub("", line) or line)


def _read_signature(text: str) -> str:
    """Return the name in a line that ends with a date or has a word for replies, as all that its element displays."""
    line = clean_line(text, _MAX_LINE)
    date = find_post_date(line)
    if date is None and read_signing_word(line) in _REPLY_WORDS.all and len(line) <= _MAX_BEGINNING:
        return clean_name(line.split(None, 2)[2])
    if date is None or not line.rstrip(" .").endswith(date[0]):
        return ""
    signed = _SIGNED.fullmatch(line[: line.rindex(date[0])])
    return clean_name(signed[1]) if signed else ""


def clean_name(text: str) -> str:
    """Return a name without the words around it, or an empty text if it is not a name."""
    line = clean_line(text, _MAX_LINE)
    line = _AFTER_NAME.sub("", _BEFORE_NAME.sub("", line)).strip(" ,;:|·•-–—")
    if line and (date := find_post_date(line)):
        line = line.replace(date[0], "").strip(" ,;:|·•-–—()@")
    if not line or len(line) > MAX_NAME or _NO_NAME.match(line) or len(line.split()) > 8:
        return ""
    return line


def read_name(element: Element) -> str:
    """Return the name that an element displays, from its innermost name if it has several parts."""
    if not len(element):
        return clean_name((element.get("itemprop") == "name" and element.get("content")) or element.text or "")
    inner = next((part for part in element.iter() if part.get("itemprop") == "name"), None)
    if inner is not None:
        return clean_name(inner.get("content") or text_of(inner))
    whole = text_of(element)
    if len(whole) > _MAX_AROUND_NAME:
        return ""
    if _shows_avatar(element):
        whole = _without_avatar(element)
        if element.tag == "a":
            return clean_name(whole)
    for part in element.iter("a", "strong", "b", "cite"):
        if part is not element and not _shows_avatar(part) and (text := clean_name(text_of(part))):
            return text
    return clean_name(whole)


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
