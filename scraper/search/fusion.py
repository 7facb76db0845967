"""Merge the results of several engines by reciprocal rank fusion, detect near-duplicates, and filter the results.

Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods"
(2009). Each index has one full vote.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self
from urllib.parse import urlsplit

from scraper.engines.model import EngineResult
from scraper.text.likeness import jaccard
from scraper.text.terms import ENGLISH_STOP_WORDS, fold_letters, is_ngram, split_terms, unique_terms
from scraper.urls import host_key, result_key
from scraper.values.text import read_table
from scraper.words.matcher import Words

_RANK_CONSTANT = 60
"""Constant of Cormack, Clarke and Buettcher (2009). It makes the number of votes count before ranks."""
_SECOND_OF_FAMILY = 0.3
"""Weight of a second engine with the same index: it repeats a vote, but may rank differently."""

# Thresholds of near-duplicates. Words of the query are ignored: every result contains them. Measured on 42 pairs of
# one page with different snippets and 3,985 pairs of different pages for one query: the two rules find a third of the
# former and 8 of the latter, three of them rightly. With the words of the query and limits of .4 and .3 they would
# find as many of the former and 54 of the latter, most of them weather pages of one town. Hashes of snippets find a
# fifth: they are too short for it.
_SAME_SNIPPET = 0.5
"""Minimum Jaccard similarity of the snippets of one text."""
_SIMILAR_SNIPPET = 0.4
"""Minimum Jaccard similarity of the snippets of one text if the titles are similar too."""
_SIMILAR_TITLE = 0.5
"""Minimum Jaccard similarity of the titles for `_SIMILAR_SNIPPET`."""
_LONG_TITLE = 25
"""Letters. An equal title of at least this length on another host is the same story; "JavaScript Tutorial" is not."""
_MIN_WORDS = 8
"""Words. Shorter snippets are similar by chance."""
_NEWS_WRAPPERS = tuple(f"https://news.google.com/{path}/" for path in ("articles", "read", "rss/articles", "rss/read"))
_EDITION = re.compile(r"\d+(?:\.\d+)+|(?<![\d.,])(?:19|20)\d\d(?![\d,])")
"""Versions and years: manuals of two versions and reports of two years are otherwise similar."""
_PUBLISHER = re.compile(r"\s+[-–—|·»]\s+[^-–—|·»]{2,60}$")
_OPERATOR = re.compile(
    r"(?:^|(?<=[\s(]))-?(?:site|filetype|intitle|inurl|when|after|before):\S+|(?<=\s)-\S+|\b(?:OR|AND|NOT)\b"
)
_MIN_LETTERS = 3
"""Letters. Shorter words are too common to compare queries."""
_STOP_WORDS = Words("stop_words.query")
"""Stop words of other languages than English, normalized like terms."""


def extract_content_words(query: str) -> tuple[str, ...]:
    """Return the distinct words of a query in order, without operators, short words and stop words."""
    ignored = ENGLISH_STOP_WORDS.all | _STOP_WORDS.all
    words = dict.fromkeys(split_terms(_OPERATOR.sub(" ", query)))
    return tuple(word for word in words if is_ngram(word) or (len(word) >= _MIN_LETTERS and word not in ignored))


def title_key(title: str) -> str:
    """Return the letters and digits of a title, without the publisher at its end."""
    return fold_letters(_PUBLISHER.sub("", title))


def is_google_news_redirect(url: str) -> bool:
    """Return True for a redirect URL of Google News: only a browser can find its target."""
    return url.startswith(_NEWS_WRAPPERS)


@dataclass(frozen=True, slots=True)
class EngineRanking:
    """Results of one engine and the index that it searches."""

    engine: str
    family: str
    """Name of the index, which engines may share."""
    results: tuple[EngineResult, ...]


@dataclass(frozen=True, slots=True)
class MergedResult:
    """A page with the results of all engines that found it, best rank first."""

    rows: tuple[tuple[str, EngineResult], ...]
    """Engine and result."""
    score: float
    also: tuple[str, ...] = ()
    """URLs of near-duplicates."""

    @property
    def best(self) -> EngineResult:
        """The best ranked result with the URL of the page itself; the best ranked of all if none has it."""
        direct = (row for _, row in self.rows if not is_google_news_redirect(row.url))
        return next(direct, self.rows[0][1])

    @property
    def title(self) -> str:
        """Title, without the publisher if the engine names it separately."""
        return _title(self.best)

    @property
    def host(self) -> str:
        """Host of the page, also if the URL is wrapped."""
        best = self.best
        return host_key(best.source_url if is_google_news_redirect(best.url) and best.source_url else best.url)

    @property
    def engines(self) -> tuple[str, ...]:
        """Engines that found it, best rank first."""
        return tuple(dict.fromkeys(engine for engine, _ in self.rows))

    @property
    def facts(self) -> tuple[tuple[str, str | int | float], ...]:
        """Facts of all sources by name; the best ranked source wins."""
        merged: dict[str, str | int | float] = {}
        for _, row in self.rows:
            for name, value in row.facts:
                merged.setdefault(name, value)
        return tuple(merged.items())

    def select_snippet(self, query_words: frozenset[str]) -> str:
        """Return the snippet with most words of the query; the longest of equal ones."""
        return max(
            (row.snippet for _, row in self.rows), key=lambda text: (len(unique_terms(text) & query_words), len(text))
        )


@dataclass(frozen=True, slots=True)
class ComparableText:
    """Features of a result for the detection of near-duplicates."""

    key: str
    """Letters and digits of the title."""
    editions: frozenset[str]
    """Versions and years in the title."""
    title: frozenset[str]
    snippet: frozenset[str]
    host: str

    @classmethod
    def of(cls, title: str, snippet: str, host: str, ignored: frozenset[str] = frozenset()) -> Self:
        """Return the features of a result, without the ignored words."""
        editions = frozenset(_EDITION.findall(title))
        return cls(title_key(title), editions, unique_terms(title) - ignored, unique_terms(snippet) - ignored, host)


def fuse_rankings(rankings: Sequence[EngineRanking]) -> tuple[MergedResult, ...]:
    """Return one result per page, best first, scored by reciprocal rank fusion with one full vote for each index."""
    families = {ranking.engine: ranking.family for ranking in rankings}
    merged = (_score(rows, families) for rows in _group_by_page(rankings))
    return tuple(sorted(merged, key=lambda page: (-page.score, page.rows[0][1].rank)))


def merge_duplicates(pages: Sequence[MergedResult], query: str) -> tuple[MergedResult, ...]:
    """Return the pages, best first, with near-duplicates moved into `also` of the best of them."""
    content_words, query_words = frozenset(extract_content_words(query)), unique_terms(query)
    unique: list[MergedResult] = []
    texts: list[ComparableText] = []
    for page in pages:
        text = ComparableText.of(page.title, page.select_snippet(content_words), page.host, query_words)
        original = next((at for at, other in enumerate(texts) if _is_duplicate(text, other)), None)
        if original is None:
            unique.append(page)
            texts.append(text)
        else:
            first = unique[original]
            unique[original] = replace(first, also=(*first.also, page.best.url))
    return tuple(unique)


def _is_duplicate(one: ComparableText, other: ComparableText) -> bool:
    """Return True if two results are the same text: syndicated news, mirrors or other formats."""
    if one.editions and other.editions and one.editions != other.editions:
        return False
    same_title = one.key == other.key
    if one.host != other.host:
        return (same_title and len(one.key) >= _LONG_TITLE) or _are_similar(one, other)
    # Pages of one site share words; they are one text only with the same title.
    return same_title and _are_similar(one, other)


def _are_similar(one: ComparableText, other: ComparableText) -> bool:
    if min(len(one.snippet), len(other.snippet)) < _MIN_WORDS:
        return False
    similarity = jaccard(one.snippet, other.snippet)
    if similarity >= _SAME_SNIPPET:
        return True
    return similarity >= _SIMILAR_SNIPPET and jaccard(one.title, other.title) >= _SIMILAR_TITLE


def _group_by_page(rankings: Sequence[EngineRanking]) -> list[list[tuple[str, EngineResult]]]:
    pages: dict[str, list[tuple[str, EngineResult]]] = {}
    # A wrapped URL does not identify the page; title and publisher do.
    ranked = [(ranking.engine, row) for ranking in rankings for row in ranking.results]
    by_title = {
        _publisher_key(row, row.url): result_key(row.url) for _, row in ranked if not is_google_news_redirect(row.url)
    }
    spellings: dict[tuple[str, str], str] = {}
    for engine, row in ranked:
        key = row.key or result_key(row.url)
        if is_google_news_redirect(row.url):
            key = _publisher_key(row, row.source_url or row.source or row.url)
            key = by_title.get(key, key)
        # Most servers distinguish the case of a path; with equal titles it is one page.
        key = spellings.setdefault((key.casefold(), title_key(row.title)), key)
        rows = pages.setdefault(key, [])
        if all(other != engine for other, _ in rows):
            rows.append((engine, row))
    return list(pages.values())


def _publisher_key(row: EngineResult, publisher: str) -> str:
    return f"{host_key(publisher) or publisher} {title_key(_title(row))}"


def _title(row: EngineResult) -> str:
    return row.title.removesuffix(f" - {row.source}").rstrip() if row.source else row.title


def _score(rows: list[tuple[str, EngineResult]], families: Mapping[str, str]) -> MergedResult:
    ordered = sorted(rows, key=lambda pair: pair[1].rank)
    voted: set[str] = set()
    score = 0.0
    for engine, row in ordered:
        weight = _SECOND_OF_FAMILY if families[engine] in voted else 1.0
        voted.add(families[engine])
        score += weight / (_RANK_CONSTANT + row.rank)
    return MergedResult(tuple(ordered), score)


MAX_RESULT_AGE = {name: timedelta(days) for name, days in {"day": 1, "week": 7, "month": 31, "year": 366}.items()}
"""Maximum age of a result, by the value of the argument `freshness`."""
_SLACK = timedelta(days=1)
"""Possible error of a date without time and time zone."""


@dataclass(frozen=True, slots=True)
class ResultFilters:
    """Conditions on results. Empty ones accept everything."""

    freshness: str | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    category: str | None = None
    include_text: str | None = None
    exclude_text: str | None = None

    def apply(self, rows: Sequence[MergedResult], now: datetime) -> tuple[tuple[MergedResult, ...], Mapping[str, int]]:
        """Return the results that meet all conditions, and the number that each argument removed."""
        dropped: dict[str, int] = {}
        accepted = tuple(rows)
        for name, test in self._tests(now).items():
            if getattr(self, name):
                before, accepted = len(accepted), tuple(row for row in accepted if test(row))
                if len(accepted) < before:
                    dropped[name] = before - len(accepted)
        return accepted, dropped

    def _tests(self, now: datetime) -> dict[str, Callable[[MergedResult], bool]]:
        """Return the test of each condition; those of empty conditions are not called."""
        return {
            "include_domains": lambda row: any(_is_within(row.host, domain) for domain in self.include_domains),
            "exclude_domains": lambda row: not any(_is_within(row.host, domain) for domain in self.exclude_domains),
            "category": lambda row: (
                # A source with an API found it in the category for which it was queried.
                any(one.facts or one.key for _, one in row.rows)
                or _is_of_category(self.category or "", row.host, row.best.url, row.engines)
            ),
            # Results without a date are accepted, since the engine has filtered them.
            "freshness": lambda row: (
                max((one.date for _, one in row.rows if one.date), default=now)
                >= now - MAX_RESULT_AGE[self.freshness or ""] - _SLACK
            ),
            "include_text": lambda row: _contains(row, self.include_text or ""),
            "exclude_text": lambda row: not _contains(row, self.exclude_text or ""),
        }


def _contains(row: MergedResult, text: str) -> bool:
    normalized = " ".join(text.casefold().split())
    return any(normalized in " ".join(f"{one.title}\n{one.snippet}".casefold().split()) for _, one in row.rows)


_CATEGORIES = {
    category: (frozenset(row["domains"].split()), re.compile("|".join(row["marks"]) or "(?!)", re.IGNORECASE))
    for category, row in read_table(__package__, "site_categories.toml").items()
}
"""Domains of each category, and marks in host and path of other sites."""


def _is_within(host: str, domain: str) -> bool:
    """Return True if a host, as by `host_key`, is the domain or one of its subdomains."""
    domain = host_key(f"https://{domain}/")
    return host == domain or host.endswith("." + domain)


def _is_of_category(category: str, host: str, url: str, engines: tuple[str, ...]) -> bool:
    """Return True if a result of these engines belongs to a category, or if the category is unknown here."""
    if category not in _CATEGORIES:
        return True  # The sources of the category were asked.
    if category == "news" and "googlenews" in engines:
        return True  # Every result of Google News is news.
    known, marks = _CATEGORIES[category]
    labels = host.split(".")
    domains = {".".join(labels[at:]) for at in range(len(labels) - 1)}
    return not domains.isdisjoint(known) or marks.search(f"{host}{urlsplit(url).path}") is not None
