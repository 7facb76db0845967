"""Pages that come with menus, footer and teasers but without the content that their scripts will load.

Such a page has words enough for any limit. What gives it away is that little of it is running text, while its
head announces more: the words of title and description stand nowhere in it, the landmark for the content is
empty, and long texts wait in the data of its scripts. A logistic score over ten such measures tells them
apart; `benchmarks.train_verdict` fits it and says how well it does out of fold.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator

from scraper.extract.dom.xpath import Element, attribute_selector, element_selector, text_of
from scraper.extract.page.page_tree import Head
from scraper.extract.text.terms import count_words

FEATURES = (
    "bias",
    "words",
    "running words",
    "share of running words",
    "words of the description",
    "description found",
    "title found",
    "words in the landmark",
    "texts in data, not shown",
    "texts in data, shown",
    "pictures",
)

WEIGHTS = (14.0, -2.25, 0.66, -5.22, 0.565, -1.46, 1.43, -0.465, 0.112, -0.058, -0.178)

SHELL_THRESHOLD = 0.5
"""Above this score a page is taken as hollow. Out of fold, of pages with scripts: 3.6 % of 1,425 that hold
their content would be rendered for nothing, 14 % of 939 hollow ones not; with words alone 1.3 and 74 %."""

_NO_LANDMARK = 4.0
"""As if it held 54 words: neither empty nor full."""

_MAX_DATA = 400_000
_MAX_STRINGS = 60
_LONG_STRING = 160
"""Characters of a string in data that is prose, if it is any."""

_LONGEST_STRING = 20_000
_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{_LONG_STRING},}}+)("?)')
"""What is not closed is matched too, so that it is gone through once: not from each quotation mark in it."""

_CHARACTER = re.compile(r"[^\\]|\\.")
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w+")
_SAMPLE = slice(20, 60)
"""The letters of a string that are looked for: its beginning may be cut or decorated."""

_MIN_LETTERS = 80
_WITH_ROLE, _WITH_ID = attribute_selector("role"), attribute_selector("id")
_LANDMARK_IDS = frozenset("content main app root __next __nuxt".split())
_LINKS = element_selector(".//a")
_PICTURES = element_selector(".//img")


def is_shell(head: Head, body: Element, text: str) -> bool:
    """Whether the content of a page is still to come; `body` without navigation and side matter."""
    return score(measure(head, body, text)) > SHELL_THRESHOLD


def score(values: Iterable[float]) -> float:
    """The logarithm of the odds that a page with these measures is hollow."""
    return sum(weight * value for weight, value in zip(WEIGHTS, values, strict=True))


def measure(head: Head, body: Element, text: str) -> tuple[float, ...]:
    """What is measured of a page, in the order of `FEATURES`; `text` is all that is in `body`."""
    words = count_words(text)
    running = max(0, words - count_words(" ".join(text_of(link) for link in _LINKS(body))))
    seen = text.lower()
    known = frozenset(_WORD.findall(seen))
    described = _WORD.findall(_description(head).lower())
    hidden, shown = _prose_in_data(head, "".join(_WORD.findall(seen)))
    return (
        1.0,
        math.log1p(words),
        math.log1p(running),
        running / (1 + words),
        math.log1p(len(described)),
        _share(described, known, seen),
        _share(sorted(set(_WORD.findall(head.title.lower()))), known, seen),
        _landmark(body),
        math.log1p(hidden),
        math.log1p(shown),
        math.log1p(len(_PICTURES(body))),
    )


def _description(head: Head) -> str:
    metas = dict(reversed(head.metas))
    return metas.get("og:description") or metas.get("description") or ""


def _share(words: list[str], known: frozenset[str], seen: str) -> float:
    """How many of the words are seen; where words are not set apart, anywhere in the text."""
    if not words:
        return 0.0
    return sum(word in known or (not word.isascii() and word in seen) for word in words) / len(words)


def _landmark(body: Element) -> float:
    words = [count_words(text_of(landmark)) for landmark in _landmarks(body) if landmark is not body]
    return math.log1p(max(words)) if words else _NO_LANDMARK


def _landmarks(body: Element) -> Iterator[Element]:
    """By tag and by attribute: one expression for all takes twelve times as long."""
    yield from body.iter("main", "article")
    yield from (element for element in _WITH_ROLE(body) if element.get("role") == "main")
    yield from (element for element in _WITH_ID(body) if element.get("id") in _LANDMARK_IDS)


def _prose_in_data(head: Head, seen: str) -> tuple[int, int]:
    """Letters of long texts in the page's data, of those that are not shown and of those that are."""
    hidden = shown = 0
    for text in _strings(head):
        letters = "".join(_WORD.findall(_TAG.sub("", text).lower()))
        if len(letters) < _MIN_LETTERS:
            continue
        if letters[_SAMPLE] in seen:
            shown += len(letters)
        else:
            hidden += len(letters)
    return hidden, shown


def _strings(head: Head) -> list[str]:
    found: list[str] = []
    for script in head.scripts:
        if "json" not in script.type or len(found) > _MAX_STRINGS:
            continue
        for written in _written(script.text[:_MAX_DATA]):
            text = _decoded(written)
            if " " in text.strip() or not text.isascii():
                found.append(text)
    return found[:_MAX_STRINGS]


def _written(data: str) -> Iterator[str]:
    """The long strings in JSON; of one that is too long what stands behind a quotation mark in it.

    That is so where JSON holds JSON as a string.
    """
    at = 0
    while (match := _STRING.search(data, at)) is not None:
        at = match.end()
        if not match[2]:
            continue
        text: str | None = match[1]
        if len(match[1]) > _LONGEST_STRING:
            text = _last_part(_CHARACTER.findall(match[1]))
        if text is None:
            at -= 1
        else:
            yield text


def _last_part(characters: list[str]) -> str | None:
    """What a string says if it is not too long, else what stands behind the first mark that leaves few."""
    if len(characters) <= _LONGEST_STRING:
        return "".join(characters)
    start = len(characters) - _LONGEST_STRING
    for place in range(start - 1, len(characters) - _LONG_STRING):
        if characters[place] == '\\"':
            return "".join(characters[place + 1 :])
    return None


def _decoded(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
