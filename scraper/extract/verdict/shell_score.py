"""Detect pages whose content is missing because scripts load it later.

Such shells have menus, a footer and teasers, so no word limit detects them. They contain little running text. The
words of title and description are missing on the page, the landmark for the content is empty, and long texts are in
the data of the scripts. A logistic score over ten such measures separates them; `benchmarks.train_verdict` fits it and
reports its out-of-fold accuracy.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from scraper.html.dom.xpath import Element, attribute_selector, element_selector, text_of
from scraper.html.page.page_tree import PageHead
from scraper.text.terms import count_words, split_words

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

_WEIGHTS = (14.0, -2.25, 0.66, -5.22, 0.565, -1.46, 1.43, -0.465, 0.112, -0.058, -0.178)
"""Weights of a logistic regression, in the order of `FEATURES`, fitted by `benchmarks.train_verdict`."""

_SHELL_THRESHOLD = 0.5
"""Logarithm of the odds. A page with more is a shell.

Out of fold, of pages with scripts, 3.6 % of 1,425 complete ones would be rendered unnecessarily and 14 % of 939 shells
would not be rendered; with words alone 1.3 and 74 %.
"""

_DEFAULT_LANDMARK = 4.0
"""Logarithm for pages without a landmark, as for 54 words: neither empty nor full."""

_MAX_DATA = 400_000
_MAX_STRINGS = 60
_MIN_STRING = 160
"""Characters of a string in data that may be prose."""

_MAX_STRING = 20_000
"""Characters at the end of a string that are read."""
_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{_MIN_STRING},}}+)("?)')
"""Unclosed strings match too, so that they are scanned once and not from each quotation mark."""

_TAG = re.compile(r"<[^<>]*>")
_SAMPLE = slice(20, 60)
"""Letters of a string that are searched on the page; its beginning may be cut or decorated."""

_MIN_LETTERS = 80
_WITH_ROLE, _WITH_ID = attribute_selector("role"), attribute_selector("id")
_LANDMARK_IDS = frozenset("content main app root __next __nuxt".split())
_LINKS = element_selector(".//a")
_PICTURES = element_selector(".//img")


def is_shell(head: PageHead, body: Element, text: str) -> bool:
    """Return True if the content of a page is still missing. `body` is without navigation and side matter."""
    return score(measure(head, body, text)) > _SHELL_THRESHOLD


def score(values: Iterable[float]) -> float:
    """Return the logarithm of the odds that a page with these measures is a shell."""
    return sum(weight * value for weight, value in zip(_WEIGHTS, values, strict=True))


def measure(head: PageHead, body: Element, text: str) -> tuple[float, ...]:
    """Return the measures of a page in the order of `FEATURES`. `text` is all text of `body`."""
    words = count_words(text)
    running = max(0, words - count_words(" ".join(text_of(link) for link in _LINKS(body))))
    visible = text.lower()
    visible_words = split_words(visible)
    known = frozenset(visible_words)
    described = split_words(_read_description(head))
    hidden_letters, visible_letters = _count_prose_in_data(head, "".join(visible_words))
    return (
        1.0,
        math.log1p(words),
        math.log1p(running),
        running / (1 + words),
        math.log1p(len(described)),
        _found_share(described, known, visible),
        _found_share(sorted(set(split_words(head.title))), known, visible),
        _score_landmarks(body),
        math.log1p(hidden_letters),
        math.log1p(visible_letters),
        math.log1p(len(_PICTURES(body))),
    )


def _read_description(head: PageHead) -> str:
    metas = dict(reversed(head.metas))
    return metas.get("og:description") or metas.get("description") or ""


def _found_share(words: list[str], known: frozenset[str], visible: str) -> float:
    """Return the share of the words that are visible. Words of scripts without spaces may be inside other words."""
    found = sum(word in known or (not word.isascii() and word in visible) for word in words)
    return found / max(1, len(words))


def _score_landmarks(body: Element) -> float:
    words = [count_words(text_of(landmark)) for landmark in _landmarks(body) if landmark is not body]
    return math.log1p(max(words)) if words else _DEFAULT_LANDMARK


def _landmarks(body: Element) -> Iterator[Element]:
    """Yield landmarks by tag and by attribute. One expression for all takes twelve times as long."""
    yield from body.iter("main", "article")
    yield from (element for element in _WITH_ROLE(body) if element.get("role") == "main")
    yield from (element for element in _WITH_ID(body) if element.get("id") in _LANDMARK_IDS)


def _count_prose_in_data(head: PageHead, visible: str) -> tuple[int, int]:
    """Return the number of letters in long texts of the page's data: of hidden texts, and of visible ones."""
    hidden_letters = visible_letters = 0
    for text in _find_long_strings(head):
        letters = "".join(split_words(_TAG.sub("", text)))
        if len(letters) < _MIN_LETTERS:
            continue
        if letters[_SAMPLE] in visible:
            visible_letters += len(letters)
        else:
            hidden_letters += len(letters)
    return hidden_letters, visible_letters


def _find_long_strings(head: PageHead) -> list[str]:
    data = (script.text[:_MAX_DATA] for script in head.scripts if "json" in script.type)
    strings = (string for part in data for string in _STRING.finditer(part) if string[2])
    texts = (_decode(string[1][-_MAX_STRING:]) for string in strings)
    return list(islice((text for text in texts if " " in text.strip() or not text.isascii()), _MAX_STRINGS))


def _decode(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
