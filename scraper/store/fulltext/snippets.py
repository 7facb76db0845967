"""The passage of a page that says most of what was looked for, with the words in [brackets]."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.store.fulltext.query_tree import QueryTerm
from scraper.store.fulltext.tokenization import SIGNS, aligned, folded, is_unspaced

PASSAGE_CHARS = 240
"""Two or three lines: enough to see what a hit is about, in what a list of ten may cost."""
SCANNED_CHARS = 400_000
"""Of a page; beyond lies what nobody skims for."""
MATCHES_LIMIT = 100
_SIGNED = re.compile(r"(?<=[a-z])(?:\+\+|#)$")
_GAP = re.compile(rf"(?:(?![{SIGNS}])[\W_])+")
_LIGATURES = {"ss": "ß", "ae": "æ", "oe": "œ", "th": "þ", "fi": "ﬁ", "fl": "ﬂ"}
_SIGNS_BETWEEN = "[\u0591-\u05c7\u0640\u064b-\u0652\u0670\u0300-\u036f]*"
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a page's Markdown; `start` is where to begin reading there."""

    text: str
    start: int


def best_passage(markdown: str, units: tuple[QueryTerm, ...]) -> Snippet:
    """The window with the most different words, then the most words; the beginning when there is none."""
    text = markdown[:SCANNED_CHARS]
    found = _matches(aligned(text), units)
    if not found:
        return Snippet(_one_line(text[:PASSAGE_CHARS]), 0)
    first, last = _densest(found)
    low, high = _widened(text, found[first][0], found[last][1])
    inside = [(start, end) for start, end, _ in found[first : last + 1]]
    return Snippet(_one_line(_marked(text, low, high, inside)), _paragraph_start(text, low))


def _matches(text: str, units: tuple[QueryTerm, ...]) -> list[tuple[int, int, int]]:
    """Places (start, end, number of the unit) in order, none inside another."""
    found: list[tuple[int, int, int]] = []
    for number, unit in enumerate(units):
        places = list(itertools.islice(_places(text, unit), MATCHES_LIMIT))
        if not places and not text.isascii() and unit.text:
            matches = itertools.islice(_tolerant(unit).finditer(text), MATCHES_LIMIT)
            places = [match.span() for match in matches if match.end() > match.start()]
        found += ((start, end, number) for start, end in places)
    found.sort(key=lambda place: (place[0], -place[1]))
    apart: list[tuple[int, int, int]] = []
    for place in found:
        if not apart or place[0] >= apart[-1][1]:
            apart.append(place)
    return apart


def _places(text: str, unit: QueryTerm) -> Iterator[tuple[int, int]]:
    """Where the unit stands in folded text."""
    first, pattern = _pattern(unit)
    at = text.find(first) if first else -1
    while at >= 0:
        # Looking for the plain word first takes a quarter of the time that the pattern alone would.
        match = pattern.match(text, at)
        if match is not None:
            yield at, match.end()
        at = text.find(first, at + 1 if match is None else match.end())


def _tolerant(unit: QueryTerm) -> re.Pattern[str]:
    """The unit as it may be written too: with ligatures, or points and vowel signs between its letters."""
    words = [word for word in _GAP.split(folded(unit.text)) if word]
    if not words:
        return _NOTHING
    pattern = r"[\W_]+".join(_SIGNS_BETWEEN.join(re.escape(letter) for letter in word) for word in words)
    for apart, together in _LIGATURES.items():
        pattern = pattern.replace(_SIGNS_BETWEEN.join(apart), f"(?:{_SIGNS_BETWEEN.join(apart)}|{together})")
    return re.compile(rf"(?<!\w){pattern}{'' if unit.prefix else rf'{_SIGNS_BETWEEN}(?!{chr(92)}w)'}")


def _pattern(unit: QueryTerm) -> tuple[str, re.Pattern[str]]:
    """The unit's first word, and the whole; what stands between its words does not count."""
    text = aligned(unit.text).strip()
    sign = _SIGNED.search(text)
    words = [word for word in _GAP.split(text[: sign.start()] if sign else text) if word]
    if not words:
        return "", _NOTHING
    pattern = r"[\W_]+".join(re.escape(word) for word in words)
    if sign:
        return words[0], re.compile(rf"(?<!\w){pattern}{re.escape(sign.group())}(?!\w)")
    before = "" if is_unspaced(words[0][:1]) else r"(?<![^\W_])"
    after = "" if unit.prefix or is_unspaced(words[-1][-1:]) else rf"(?![^\W_]|[{SIGNS}])"
    return words[0], re.compile(f"{before}{pattern}{after}")


def _densest(found: list[tuple[int, int, int]]) -> tuple[int, int]:
    """First and last match of the best window."""
    best, best_value = (0, 0), (0, 0)
    inside: dict[int, int] = {}
    first = 0
    for last, (_, end, number) in enumerate(found):
        inside[number] = inside.get(number, 0) + 1
        while first < last and end - found[first][0] > PASSAGE_CHARS:
            left = found[first][2]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        value = (len(inside), last - first)
        if value > best_value:
            best, best_value = (first, last), value
    return best


def _widened(text: str, low: int, high: int) -> tuple[int, int]:
    """As much around as fits, from word to word, within the lines' blocks."""
    room = max(0, PASSAGE_CHARS - (high - low))
    block_start = text.rfind("\n\n", 0, low) + 2 if "\n\n" in text[:low] else 0
    block_end = text.find("\n\n", high)
    block_end = len(text) if block_end < 0 else block_end
    start = max(block_start, low - room // 3)
    stop = min(block_end, high + room - (low - start))
    if start > block_start:
        space = text.find(" ", start, low)
        start = space + 1 if space >= 0 else start
    if stop < block_end:
        space = text.rfind(" ", high, stop)
        stop = space if space >= 0 else stop
    return start, stop


def _marked(text: str, low: int, high: int, places: list[tuple[int, int]]) -> str:
    pieces, at = ["…" if low else ""], low
    for start, end in places:
        pieces += [text[at:start], "[", text[start:end], "]"]
        at = end
    return "".join((*pieces, text[at:high], "…" if high < len(text) else ""))


def _paragraph_start(text: str, low: int) -> int:
    """Where `fetch(start=)` should begin: at the paragraph that holds the passage."""
    blank = text.rfind("\n\n", 0, low)
    return blank + 2 if blank >= 0 else 0


def _one_line(text: str) -> str:
    return " ".join(text.split())
