"""Rank the pages of a site map for a question by the words of their URLs, titles and link texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

import ada_url

from scraper.site.model import SitePage
from scraper.text.terms import ENGLISH_STOP_WORDS, inverse_document_frequency, split_terms, stem

_SATURATION = 0.6
"""Parameter like k1 of BM25: a second occurrence of a word increases the score only a little."""
_LENGTH_PENALTY = 0.02
"""Loss per word of the URL. Of two pages with the same words, the one with the shorter URL is more specific."""
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PLACES = {"body": 0, "paging": 0, "nav": 0, "": 1, "side": 2, "footer": 3}


def rank_pages(pages: Sequence[SitePage], question: str | None) -> list[tuple[SitePage, float]]:
    """Return the pages with their scores from 0 to 1, best first.

    Without a question, linked pages come before those of sitemaps, in the order of the site. All scores are then 0.
    With a question, a page scores by the question's words in its URL and title or link text. Rare words count more, by
    BM25's inverse document frequency.

    Args:
        pages: Pages in the order in which they were found.
        question: Words to look for; None for the order of the site.
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


def split_stems(text: str) -> Iterable[str]:
    """Return the stems of the words of a text, except stop words."""
    return (stem(term) for term in split_terms(text) if term not in ENGLISH_STOP_WORDS.all)


def url_words(url: str) -> str:
    """Return the path and the query of a URL as text: unquoted, with camel case split into words."""
    parsed = ada_url.URL(url)
    return _CAMEL_CASE.sub(" ", unquote(f"{parsed.pathname} {parsed.search}"))
