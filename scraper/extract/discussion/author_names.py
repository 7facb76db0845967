"""Read and clean the names of authors: remove the words around them, and reject texts that are no names."""

from __future__ import annotations

import copy
import re

from scraper.extract.discussion.post_dates import find_post_date
from scraper.extract.dom.parsing import remove
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.text.sanitize import clean_line

MAX_NAME = 60
"""Characters of a name."""
_MAX_LINE = 240
"""Characters of a text that is searched for a name."""
_MAX_AROUND_NAME = 720
"""Characters of an element that may contain a name."""
_AVATAR = re.compile("avatar|status", re.IGNORECASE)
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


def clean_name(text: str) -> str:
    """Return a name without the words around it, or an empty text if it is no name."""
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
