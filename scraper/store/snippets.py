"""Find the snippet of a page that fits a query best, with the matching words in [brackets]."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from scraper.model import PageHit, Reading
from scraper.store.query import CacheQuery, QueryTerm
from scraper.store.tokenization import SIGNS, fold, fold_aligned, is_unspaced

SNIPPET_CHARS = 240
"""Characters: two or three lines, enough to judge a hit, short enough for a list of ten."""
_SCANNED_CHARS = 400_000
_MATCHES_LIMIT = 100
_SIGNED = re.compile(r"(?<=[a-z])(?:\+\+|#)$")
_GAP = re.compile(rf"(?:(?![{SIGNS}])[\W_])+")
_LIGATURES = {"ss": "ß", "ae": "æ", "oe": "œ", "th": "þ", "fi": "ﬁ", "fl": "ﬂ"}
_SIGNS_BETWEEN = "[\u0591-\u05c7\u0640\u064b-\u0652\u0670\u0300-\u036f]*"


@dataclass(frozen=True, slots=True)
class Snippet:
    """Part of a page's Markdown; `start` is the offset of the paragraph that contains it."""

    text: str
    start: int


def find_best_snippet(markdown: str, terms: tuple[QueryTerm, ...]) -> Snippet:
    """Return the window with the most distinct terms, then the most matches; without any, the start of the page."""
    text = markdown[:_SCANNED_CHARS]
    found = _find_matches(fold_aligned(text), terms)
    if not found:
        return Snippet(" ".join(text[:SNIPPET_CHARS].split()), 0)
    first, last = _find_densest(found)
    low, high = found[first][0], found[last][1]
    paragraph_start = text.rfind("\n\n", 0, low) + 2 if "\n\n" in text[:low] else 0
    paragraph_end = text.find("\n\n", high)
    bounds = (paragraph_start, len(text) if paragraph_end < 0 else paragraph_end)
    low, high = widen_to_words(text, low, high, length=SNIPPET_CHARS, bounds=bounds, before=3)
    inside = [(start, end) for start, end, _ in found[first : last + 1]]
    pieces, at = ["…" if low else ""], low
    for start, end in inside:
        pieces += [text[at:start], "[", text[start:end], "]"]
        at = end
    marked = "".join((*pieces, text[at:high], "…" if high < len(text) else ""))
    return Snippet(" ".join(marked.split()), paragraph_start)


def _find_matches(text: str, terms: tuple[QueryTerm, ...]) -> list[tuple[int, int, int]]:
    """Return matches (start, end, number of the term) in order, without overlaps."""
    found: list[tuple[int, int, int]] = []
    for number, term in enumerate(terms):
        places = list(itertools.islice(_find_term(text, term), _MATCHES_LIMIT))
        if not places and not text.isascii() and term.text:
            matches = itertools.islice(_make_tolerant_pattern(term).finditer(text), _MATCHES_LIMIT)
            places = [match.span() for match in matches if match.end() > match.start()]
        found += ((start, end, number) for start, end in places)
    found.sort(key=lambda place: (place[0], -place[1]))
    disjoint: list[tuple[int, int, int]] = []
    for place in found:
        if not disjoint or place[0] >= disjoint[-1][1]:
            disjoint.append(place)
    return disjoint


def _find_term(text: str, term: QueryTerm) -> Iterator[tuple[int, int]]:
    first, pattern = _make_pattern(term)
    at = text.find(first) if first else -1
    while at >= 0:
        # Searching for the plain word first takes a quarter of the time of the pattern alone.
        match = pattern.match(text, at)
        if match is not None:
            yield at, match.end()
        at = text.find(first, at + 1 if match is None else match.end())


def _make_tolerant_pattern(term: QueryTerm) -> re.Pattern[str]:
    """Return a pattern that also allows ligatures, and vowel points between the letters."""
    words = filter(None, _GAP.split(fold(term.text)))
    pattern = r"[\W_]+".join(_SIGNS_BETWEEN.join(re.escape(letter) for letter in word) for word in words)
    for disjoint, together in _LIGATURES.items():
        pattern = pattern.replace(_SIGNS_BETWEEN.join(disjoint), f"(?:{_SIGNS_BETWEEN.join(disjoint)}|{together})")
    return re.compile(rf"(?<!\w){pattern}{'' if term.prefix else rf'{_SIGNS_BETWEEN}(?!{chr(92)}w)'}")


def _make_pattern(term: QueryTerm) -> tuple[str, re.Pattern[str]]:
    """Return the first word of a term and a pattern of all its words; separators may differ."""
    text = fold_aligned(term.text).strip()
    sign = _SIGNED.search(text)
    words = [word for word in _GAP.split(text[: sign.start()] if sign else text) if word]
    pattern = r"[\W_]+".join(map(re.escape, words))
    if not words:
        return "", re.compile(pattern)
    if sign:
        return words[0], re.compile(rf"(?<!\w){pattern}{re.escape(sign.group())}(?!\w)")
    before = "" if is_unspaced(words[0][:1]) else r"(?<![^\W_])"
    after = "" if term.prefix or is_unspaced(words[-1][-1:]) else rf"(?![^\W_]|[{SIGNS}])"
    return words[0], re.compile(f"{before}{pattern}{after}")


def _find_densest(matches: list[tuple[int, int, int]]) -> tuple[int, int]:
    best, best_value = (0, 0), (0, 0)
    inside: dict[int, int] = {}
    first = 0
    for last, (_, end, number) in enumerate(matches):
        inside[number] = inside.get(number, 0) + 1
        while first < last and end - matches[first][0] > SNIPPET_CHARS:
            left = matches[first][2]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        value = (len(inside), last - first)
        if value > best_value:
            best, best_value = (first, last), value
    return best


def widen_to_words(
    text: str, low: int, high: int, *, length: int, bounds: tuple[int, int], before: int
) -> tuple[int, int]:
    """Extend a range to `length` characters at spaces, within `bounds`; 1/`before` of the addition precedes it."""
    missing = max(0, length - (high - low))
    start = max(bounds[0], low - missing // before)
    stop = min(bounds[1], high + missing - (low - start))
    if start > bounds[0]:
        space = text.find(" ", start, low)
        start = space + 1 if space >= 0 else start
    if stop < bounds[1]:
        space = text.rfind(" ", high, stop)
        stop = space if space >= 0 else stop
    return start, stop


FIRST_RANKED = 4
"""Pages ranked at first for each requested hit, since a URL may be stored more than once."""


def make_hit(reading: Reading, query: CacheQuery, score: float) -> PageHit:
    """Return a search hit with the snippet of the page that fits the query best."""
    snippet = find_best_snippet(reading.document.markdown or reading.document.text, query.terms)
    return PageHit(
        url=reading.url,
        title=reading.document.title or "",
        snippet=snippet.text,
        start=snippet.start,
        retrieved_at=reading.retrieved_at.timestamp(),
        score=score,
    )
