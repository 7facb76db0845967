"""Who wrote a page, as its readers see it: elements that are called author, lines that begin with `By`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from scraper.extract.dom.words import squeezed
from scraper.extract.dom.xpath import Element, text_of
from scraper.extract.text.sanitize import line

BY = re.compile(
    r"^(?:(?:(?:words|article|story|review|text|written|posted|published|authored)?\s*by|von|par|por|di|door|av|af|"
    r"автор\w{0,3}|作者|著者|记者|記者|文|author|autore?|autorin|autora|auteure?|forfatter|skribent|بقلم|كتب|מאת|"
    r"โดย|เขียนโดย|लेखक|द्वारा|bởi|tác giả|oleh|penulis|yazan|نویسنده|نوشته|του|συντάκτης|szerző|kirjoittanut)"
    r"\s*[:：]?\s+|"
    r"(?:作者|著者|记者|記者|文|автор|author|autor|auteur|بقلم|כותב|글)\s?[:：/]\s*)",
    re.IGNORECASE,
)
_MAX_TEXT = 120
_MAX_NAME = 60
_MAX_WORDS = 6
_MAX_LINKS = 20
"""In an element that is called author; elements that are may stand in each other."""

_NAMED = re.compile(r"author(?!i[sz]|ity)|byline|by-line|writer|\bautor|auteur|verfasser", re.IGNORECASE)
_BESIDE = re.compile(r"bio|avatar|image|photo|descr|social|role|title|date|time", re.IGNORECASE)
"""What stands beside a name in a box about the author."""
_MONTH_OR_DAY = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?)"
)
DAY = re.compile(rf"{_MONTH_OR_DAY}\.?", re.IGNORECASE)
"""The beginning of a date, where a name was looked for."""

_END = re.compile(
    rf"[\s,]+{_MONTH_OR_DAY}\.?,?\s+\d.*$|"
    r"\s+(?:[|•·–—/-]|(?:on|in|at|am|le|el|updated|published|posted|last|reviewed|contributor|editor)\b).*$|"
    r"\s*[,(|•·]\s*(?:\w+\.?\s+)?\d.*$|\s*\d.*$",
    re.IGNORECASE,
)
_REPORTER = re.compile(r"\s+(?:선임|수석)?기자$|\s+記者$|\s+记者$")
_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_SMALL = frozenset("and und et y e de da di du van von der den del la le bin al el".split())


def seen(near: Sequence[Element]) -> Iterator[str]:
    """What may be the author's name, surest first."""
    for element in near:
        if _is_named(element) and (name := _in_links(element) or _name(text_of(element))):
            yield name
    for element in near:
        words = squeezed(element.text or "")
        match = BY.match(f"{words} ") if 1 < len(words) < _MAX_TEXT else None
        if match:
            name = _name(words[match.end() :]) if match.end() < len(words) else _beside(element)
            if name:
                yield name


def _is_named(element: Element) -> bool:
    if element.get("rel") == "author" or element.get("itemprop") == "author":
        return True
    called = element.get("class")
    return called is not None and _NAMED.search(called) is not None and not _BESIDE.search(called)


def _in_links(element: Element) -> str | None:
    """The names that are links, up to three."""
    names = [_name(text_of(link)) for link in islice(element.iter("a"), _MAX_LINKS)]
    found = list(dict.fromkeys(name for name in names if name))
    return ", ".join(found) if 0 < len(found) <= 3 else None


def _beside(element: Element) -> str | None:
    """The name in the element behind a bare `By`."""
    following = next(iter(element), None)
    if following is None:
        following = element.getnext()
    return _name(text_of(following)) if following is not None else None


def _name(text: str) -> str | None:
    """The name at the beginning of a short text; None where it is none."""
    if len(text) > 6 * _MAX_TEXT:
        return None
    told = BY.sub("", f"{line(text, _MAX_TEXT)} ").strip()
    told = _REPORTER.sub("", _END.sub("", told).strip(" ,;:|•·-–—"))
    words = _WORD.findall(told)
    if not 1 <= len(words) <= _MAX_WORDS or len(told) > _MAX_NAME:
        return None
    cased = [word for word in words if word.lower() not in _SMALL]
    return told if cased and not any(word[0].islower() for word in cased) else None
