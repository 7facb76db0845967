"""Find values next to their label: in table rows, lists, lines or neighboring elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from scraper.html.dom.xpath import Element, text_of

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
_MARK = re.compile(r"[:#：]")
_HOLDERS = frozenset({"td", "th", "dt", "div", "span", "strong", "b", "p", "label"})


class LabeledValueFinder:
    """Find the values that a page shows with any of several labels."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        """Compile the labels: by name, a regular expression of the label in all languages."""
        self._alone = {
            name: re.compile(rf"\s*(?:{label})\.?\s*[:#：–-]?\s*", re.IGNORECASE) for name, label in labels.items()
        }
        self._inline = {
            name: re.compile(rf"\s*(?:{label})\.?\s*[:#：]\s*(\S.{{0,{_MAX_VALUE}}})", re.IGNORECASE)
            for name, label in labels.items()
        }

    def find(self, body: Element) -> dict[str, str]:
        """Return the first value of each label by its name; names without a value are missing."""
        found: dict[str, str] = {}
        for number, element in enumerate(body.iter(*_TAGS)):
            if number == _MAX_ELEMENTS or len(found) == len(self._alone):
                break
            words = (element.text or "").strip()
            if 1 < len(words) <= _MAX_LABELED:
                for name in self._alone:
                    if name not in found and (value := self._value(element, words, name)):
                        found[name] = value
        return found

    def _value(self, element: Element, words: str, name: str) -> str | None:
        inline = self._inline[name].fullmatch(words) if _MARK.search(words) else None
        if inline:
            value = inline.group(1).strip(_EDGES)
        elif len(words) <= _MAX_LABEL and self._alone[name].fullmatch(words):
            value = next((text for text in _beside(element) if text), "")
        else:
            return None
        return value if 0 < len(value) < _MAX_VALUE else None


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
