"""Find values next to their label: in table rows, lists, lines or neighboring elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scraper.html.dom.xpath import Element, text_of
from scraper.words.matcher import Words

_MAX_ELEMENTS = 30_000
"""Elements of a page that are searched."""
_MAX_LABELED = 90
"""Characters of a label together with its value."""
_MAX_VALUE = 60
"""Characters of a value."""
_MAX_LABEL = 45
"""Characters of a label without a value. Matching longer texts took most of the time."""
_MAX_CLIMB = 3
"""Elements after which the value of a label is searched: the label and its nearest ancestors."""
_TAGS = "th td dt span div p li b strong label h2 h3 h4 h5 h6 a small em".split()
_EDGES = " :#：\u200e\u200f\n\t\r\xa0-–"
_MARK = re.compile(r"([:#：])\s*")
_HOLDERS = frozenset({"td", "th", "dt", "div", "span", "strong", "b", "p", "label"})


class LabeledValueFinder:
    """Find the values that a page shows with any of several labels."""

    def __init__(self, topic: str, names: str) -> None:
        """Name the lists of labels in a topic of `scraper.words`, separated by spaces."""
        self._labels = {name: Words(f"{topic}.{name}") for name in names.split()}

    def find(self, body: Element) -> dict[str, str]:
        """Return the first value of each label by its list; lists without a value are missing."""
        found: dict[str, str] = {}
        for number, element in enumerate(body.iter(*_TAGS)):
            if number == _MAX_ELEMENTS or len(found) == len(self._labels):
                break
            words = (element.text or "").strip()
            if 1 < len(words) <= _MAX_LABELED:
                label, mark, inline = _split(words)
                names = self._find_lists(label, mark) if inline or len(words) <= _MAX_LABEL else []
                value = inline or next(filter(None, _beside(element)), "") if names else ""
                if 0 < len(value) < _MAX_VALUE and "\n" not in value:
                    found = dict.fromkeys(names, value) | found
        return found

    def _find_lists(self, label: str, mark: str) -> list[str]:
        """Return the lists with a label; `#` stands for "no"."""
        labels = {label, f"{label} no"} if mark == "#" else {label}
        return [name for name, words in self._labels.items() if not labels.isdisjoint(words.all)]


def _split(words: str) -> tuple[str, str, str]:
    """Return the label in a text as it is in the lists, the mark behind it, and the value behind the mark."""
    label, mark, value = (*_MARK.split(words, maxsplit=1), "", "")[:3]
    return label.rstrip(_EDGES).removesuffix(".").lower().replace("’", "'"), mark, value.strip(_EDGES)


def _beside(element: Element) -> Iterator[str]:
    """Yield texts that may be the value of a label, nearest first."""
    for child in element:
        yield _text(child)
        yield (child.tail or "").strip(_EDGES)
    around: Element | None = element
    for _ in range(_MAX_CLIMB):
        if around is None or (around.tag not in _HOLDERS and around is not element):
            return
        yield (around.tail or "").strip(_EDGES)
        following = around.getnext()
        if following is not None:
            yield _text(following)
            return
        around = around.getparent()


def _text(element: Element) -> str:
    text = text_of(element)
    return " ".join(text.split()).strip(_EDGES) if len(text) < 20 * _MAX_VALUE else ""
