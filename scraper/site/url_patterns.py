"""Find the pattern, the words and the language of a URL, and rank the pages of a map by their words."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import parse_qsl, unquote

import ada_url

from scraper.site.model import SitePage
from scraper.text.terms import CAMEL_CASE, DIGITS, ENGLISH_STOP_WORDS, inverse_document_frequency, split_terms, stem
from scraper.urls import CACHED_URLS
from scraper.values.text import read_table

_SATURATION = 0.6
"""Parameter like k1 of BM25: a second occurrence of a word increases the score only a little."""
_LENGTH_PENALTY = 0.02
"""Loss per word of the URL. Of two pages with the same words, the one with the shorter URL is more specific."""
_PLACES = {"body": 0, "paging": 0, "nav": 0, "": 1, "side": 2, "footer": 3}
_HEX_ID = re.compile(r"(?=.*\d)[0-9a-f-]{8,}", re.IGNORECASE)
_DATE = re.compile(r"(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?")
_SLUG = re.compile(r"(?![^\W\d_]+[-_]\d+\Z)[^\W\d_]+(?:[-_][^\W_]+)+")
"""Words, but not a word with a number, such as `page-2`: pages of a list are another pattern than titles."""
_SLUG_CHARS = 40
"""Characters. Longer path segments always count as slugs."""
_MAX_SEGMENTS = 14
_MAX_REPEATS = 4
"""Occurrences of one word in a path; more of them mean that a wrong relative link made the path."""
_MIN_WORD = 3
"""Letters. Shorter segments and numbers may repeat, as in calendars: `/1/1/1/`."""

_MAX_WORDS = 8
"""Different words at one path position; more of them are replaced by one placeholder."""
_LANGUAGES = frozenset(read_table(__package__, "urls.toml")["languages"].split())
_LANGUAGE_PARAMETERS = frozenset({"lang", "hl", "locale", "language"})


@lru_cache(CACHED_URLS)
def url_shape(key: str) -> str:
    """Return the pattern of a page key: `/post/{n}?page` for `example.org/post/7?page=2`.

    Placeholders are {date}, {n} for numbers, {id} for hexadecimal ids and {slug}; of parameters only the names remain.
    """
    head, _, query = key.partition("?")
    names = sorted({name for name, _ in parse_qsl(query, keep_blank_values=True)})
    path = "/".join(map(_segment_shape, head.split("/")[1:]))
    return f"/{path}" + (f"?{'&'.join(names)}" if names else "")


def is_looping(key: str) -> bool:
    """Return True if the path repeats itself, as after relative links without first slash, or has over 14 segments."""
    segments = [segment for segment in key.partition("?")[0].split("/")[1:] if segment]
    if len(segments) > _MAX_SEGMENTS:
        return True
    # One word may occur twice in a row (`/docs/docs/`); a longer run never does.
    for size, times in ((1, 3), (2, 2), (3, 2), (4, 2)):
        for at in range(len(segments) - times * size + 1):
            run = segments[at : at + size]
            if segments[at : at + times * size] == times * run and any(map(_is_word, run)):
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
    return DIGITS.sub("{n}", segment)


def is_number(segment: str) -> bool:
    """Return True if a path segment is a number or an id."""
    return _segment_shape(segment) in ("{n}", "{id}")


def find_section(key: str) -> str:
    """Return the first folder of a URL; pages with parameters are in the folder of their path."""
    path, mark, _ = key.partition("?")
    parts = path.split("/")
    return parts[1] + mark if len(parts) > 2 or mark else ""


def find_language(url: str) -> str:
    """Return the language code in the first two folders, first host label or a parameter of a URL, or ""."""
    parsed = ada_url.URL(url)
    values = (value for name, value in parse_qsl(parsed.search.removeprefix("?")) if name in _LANGUAGE_PARAMETERS)
    for part in (*parsed.pathname.split("/")[1:3], parsed.hostname.split(".")[0], *values):
        code, mark, region = part.lower().replace("_", "-").partition("-")
        is_region = region in ("hans", "hant") or (len(region) == 2 and region.isascii() and region.isalpha())
        if code in _LANGUAGES and (is_region or not mark):
            return code
    return ""


def split_stems(text: str) -> Iterable[str]:
    """Return the stems of the words of a text, except stop words."""
    return (stem(term) for term in split_terms(text) if term not in ENGLISH_STOP_WORDS.all)


def url_words(url: str) -> str:
    """Return the path and the query of a URL as text: unquoted, with camel case split into words."""
    parsed = ada_url.URL(url)
    return CAMEL_CASE.sub(" ", unquote(f"{parsed.pathname} {parsed.search}"))


def rank_pages(pages: Sequence[SitePage], question: str | None) -> list[tuple[SitePage, float]]:
    """Return the pages with their scores from 0 to 1, best first.

    Without a question, linked pages come before those of sitemaps, in the order of the site. All scores are then 0.
    With a question, a page scores by the question's words in its URL and title or link text. Rare words count more, by
    BM25's inverse document frequency.
    """
    if not question:
        order = sorted(range(len(pages)), key=lambda at: _rank_source(pages[at]))
        return [(pages[at], 0.0) for at in order]
    terms = list(dict.fromkeys(split_stems(question)))
    rows = [(set(split_stems(url_words(page.url))), set(split_stems(page.title))) for page in pages]
    counts = Counter(term for address, title in rows for term in address | title)
    rarity = {term: inverse_document_frequency(counts[term], len(rows)) for term in terms}
    whole = sum(rarity.values()) or 1.0
    scores = []
    for address, title in rows:
        weights = {term: (term in address) + (term in title) for term in terms}
        score = sum(rarity[term] * weight / (weight + _SATURATION) for term, weight in weights.items())
        covered = sum(rarity[term] for term, weight in weights.items() if weight)
        score *= math.sqrt(covered / whole)
        scores.append(score * (1 + _SATURATION) / whole / (1 + _LENGTH_PENALTY * len(address)))
    order = sorted(range(len(pages)), key=lambda at: (-scores[at], len(rows[at][0]), _rank_source(pages[at]), at))
    return [(pages[at], min(1.0, scores[at])) for at in order]


def _rank_source(page: SitePage) -> tuple[int, int]:
    if page.source == "start":
        return -1, 0
    return int(page.source == "list"), _PLACES.get(page.place, 1)


class PathWords:
    """Words at each position of the paths of a site, of which many are one placeholder.

    A position has equal folders before it and an equal number of segments after it.
    """

    def __init__(self) -> None:
        """Start without words."""
        self._words: dict[str, set[str]] = {}
        self.variable_count = 0

    def add(self, shape: str) -> str:
        """Count the words of a shape from `url_shape`; return it as `generalize` does."""
        return self.generalize(shape, is_new=True)

    def generalize(self, shape: str, *, is_new: bool = False) -> str:
        """Return a shape with `{w}` at positions with many words; `is_new` counts its own words."""
        path, mark, query = shape.partition("?")
        parts = path.split("/")
        for at in range(1, len(parts)):
            if not parts[at] or parts[at].startswith("{"):
                continue
            words = self._words.setdefault(_position(parts, at), set())
            if is_new and len(words) <= _MAX_WORDS and parts[at] not in words:
                words.add(parts[at])
                self.variable_count += len(words) > _MAX_WORDS
            if len(words) > _MAX_WORDS:
                parts[at] = "{w}"
        return "/".join(parts) + mark + query


def _position(parts: list[str], at: int) -> str:
    return f"{'/'.join(parts[:at])}#{len(parts) - at}"
