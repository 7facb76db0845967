"""Shapes that the URLs of one template share, and URL differences that make no difference on a site."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlencode

_NUMBER = re.compile(r"\d+")
_HEX_ID = re.compile(r"(?=.*\d)[0-9a-f-]{8,}", re.IGNORECASE)
_DATE = re.compile(r"(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?")
_SLUG = re.compile(r"[^\W\d_]+(?:[-_][^\W_]+)+")
_SLUG_CHARS = 40
"""Characters from which a segment is a slug, whatever it looks like."""
_MAX_SEGMENTS = 14
_MAX_REPEATS = 4
"""Occurrences of one word in a path from which the path is made by a wrong relative link."""
_MIN_WORD = 3
"""Letters. Shorter segments and numbers repeat in libraries and calendars: `/1/1/1/`."""
_SUFFIXES = (".html", ".htm", ".php", "/print", "/amp", "/print/", "/amp/")

MIN_PAIRS = 2
"""Pairs of equal pages before a difference is believed to make no difference."""
_PAIRS_PER_EXCEPTION = 8
_COMPARED = 3
"""Latest pages with which a page is compared for one rule."""
_MAX_STEPS = 8


def url_shape(key: str) -> str:
    """Return the shape of a page key: `/post/{n}?page` for `example.org/post/7?page=2`."""
    head, _, query = key.partition("?")
    names = sorted({name for name, _ in parse_qsl(query, keep_blank_values=True)})
    path = "/".join(map(_segment_shape, head.split("/")[1:]))
    return f"/{path}" + (f"?{'&'.join(names)}" if names else "")


def path_shape(key: str) -> str:
    """Return the shape of the path of a page key."""
    return url_shape(key.partition("?")[0])


def is_looping(key: str) -> bool:
    """Return True if the path repeats itself, as it does if relative links on a page lack their first slash."""
    segments = [segment for segment in key.partition("?")[0].split("/")[1:] if segment]
    if len(segments) > _MAX_SEGMENTS:
        return True
    for size in (1, 2, 3, 4):
        for at in range(len(segments) - 2 * size + 1):
            run = segments[at : at + size]
            times = 1
            while segments[at + times * size : at + (times + 1) * size] == run:
                times += 1
            # One word may occur twice in a row (`/docs/docs/`); a longer run never does.
            if times >= (3 if size == 1 else 2) and any(map(_is_word, run)):
                return True
    return any(segments.count(segment) >= _MAX_REPEATS for segment in set(segments) if _is_word(segment))


def _is_word(segment: str) -> bool:
    return len(segment) >= _MIN_WORD and not segment.isdigit()


def _segment_shape(segment: str) -> str:
    if _DATE.fullmatch(segment):
        return "{date}"
    if segment.isdigit():
        return "{n}"
    if _HEX_ID.fullmatch(segment):
        return "{id}"
    if len(segment) > _SLUG_CHARS or _SLUG.fullmatch(segment):
        return "{slug}"
    return _NUMBER.sub("{n}", segment)


class UrlRules:
    """Differences between URLs of one path shape that make no difference, learned from pages that were read.

    A rule makes a key shorter: it leaves out a parameter, all parameters, a suffix, a slash or the case. It holds after
    two pairs of keys that it joins had equal texts, unless one pair in eight had different texts.
    """

    def __init__(self) -> None:
        """Start without rules."""
        self._equal: defaultdict[str, int] = defaultdict(int)
        self._different: defaultdict[str, int] = defaultdict(int)
        self._texts: dict[str, str] = {}
        """Text by key."""
        self._pages: defaultdict[tuple[str, str], deque[tuple[str, str]]] = defaultdict(lambda: deque(maxlen=_COMPARED))
        """Keys and texts by rule and shorter key."""

    def learn(self, key: str, text: str) -> bool:
        """Compare a page with those whose keys differ by one rule; return True if a rule holds since then.

        Equal texts have equal names `text`.
        """
        is_new = False
        for rule, shorter in iter_shorter_keys(key):
            known = dict(self._pages[rule, shorter])
            if shorter in self._texts:
                known[shorter] = self._texts[shorter]
            held = self.holds(rule)
            for other, other_text in known.items():
                if other != key:
                    (self._equal if other_text == text else self._different)[rule] += 1
            is_new = is_new or (self.holds(rule) and not held)
            self._pages[rule, shorter].append((key, text))
        self._texts[key] = text
        return is_new

    def holds(self, rule: str) -> bool:
        """Return True if a rule is believed."""
        return self._equal[rule] >= MIN_PAIRS and self._different[rule] * _PAIRS_PER_EXCEPTION <= self._equal[rule]

    def shorten(self, key: str) -> str:
        """Return the key without differences that make no difference."""
        for _ in range(_MAX_STEPS):
            shorter = next((short for rule, short in iter_shorter_keys(key) if self.holds(rule)), None)
            if shorter is None:
                break
            key = shorter
        return key


def iter_shorter_keys(key: str) -> Iterator[tuple[str, str]]:
    """Yield each rule that would shorten a key, and the shorter key."""
    head, mark, query = key.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    names = list(dict.fromkeys(name for name, _ in pairs))
    for name in names:
        left = [pair for pair in pairs if pair[0] != name]
        yield f"?{name}", head + (f"?{urlencode(left, quote_via=quote)}" if left else "")
    if len(names) > 1:
        yield "?*", head
    if head.endswith("/") and head.count("/") > 1:
        yield "/", f"{head[:-1]}{mark}{query}"
    for suffix in _SUFFIXES:
        if head.endswith(suffix):
            yield suffix, f"{head.removesuffix(suffix)}{mark}{query}"
    if head.lower() != head:
        yield "case", f"{head.lower()}{mark}{query}"


_RANDOM = re.compile(r"(?=[^/]*\d)(?=[^/]*[a-z])[0-9a-z()_.-]{10,}", re.IGNORECASE)
_MIN_SHARED = 3
"""Paths that two values of a segment must share, and links with one value on a page."""


class SessionSegments:
    """Positions in the path that hold a session id: each response has its own value there, before equal paths."""

    def __init__(self) -> None:
        """Start without positions."""
        self._positions: set[int] = set()
        self._mixed: set[int] = set()
        """Positions with several values on one page: no session."""
        self._rests: defaultdict[int, dict[str, set[str]]] = defaultdict(dict)

    def learn(self, keys: list[str]) -> bool:
        """Compare the keys of the links of one page with those of earlier pages; return True if a position is new."""
        by_position: defaultdict[int, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for key in keys:
            parts = key.split("/")
            for at, part in enumerate(parts[1:], 1):
                if _RANDOM.fullmatch(part):
                    by_position[at][part].add("/".join((*parts[:at], *parts[at + 1 :])))
        before = len(self._positions)
        for at, values in by_position.items():
            if len(values) > 1:
                self._mixed.add(at)
                self._positions.discard(at)
                continue
            ((value, rests),) = values.items()
            others = (known for other, known in self._rests[at].items() if other != value)
            if at not in self._mixed and any(len(known & rests) >= _MIN_SHARED for known in others):
                self._positions.add(at)
            self._rests[at].setdefault(value, set()).update(rests)
        return len(self._positions) > before

    def remove(self, key: str) -> str:
        """Return the key without session ids."""
        if not self._positions:
            return key
        parts = key.split("/")
        return "/".join(
            part for at, part in enumerate(parts) if at not in self._positions or not _RANDOM.fullmatch(part)
        )
