"""Rows of several engines as one list: reciprocal rank fusion, with a full vote for each index.

Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
Methods" (2009).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scraper.search.canonical_urls import canonical, host_key, is_wrapped
from scraper.search.near_duplicates import ComparableText, is_copy
from scraper.search.query_terms import content_words, title_key, words

if TYPE_CHECKING:
    # The list of tools is made before anything heavy is loaded.
    from scraper.engines.model import EngineResult

RANK_CONSTANT = 60
"""The authors' own; it makes the sum a vote count first, with ranks deciding among equals."""
SECOND_OF_FAMILY = 0.3
"""What a second engine over the same index adds: it repeats a vote, but may rank by its own lights."""


@dataclass(frozen=True, slots=True)
class RankedResult:
    """The rows of one engine, and whose index they come from."""

    engine: str
    family: str
    results: tuple[EngineResult, ...]


@dataclass(frozen=True, slots=True)
class MergedResults:
    """One page, as every engine that found it shows it; best rank first."""

    rows: tuple[tuple[str, EngineResult], ...]
    score: float
    also: tuple[str, ...] = ()

    @property
    def best(self) -> EngineResult:
        """The row that is shown: the best ranked one that leads to the page itself."""
        direct = (row for _, row in self.rows if not is_wrapped(row.url))
        return next(direct, self.rows[0][1])

    @property
    def title(self) -> str:
        """The headline, without the publisher where one is named beside it."""
        return _headline(self.best)

    @property
    def host(self) -> str:
        """Whose page it is, also where the address does not tell."""
        best = self.best
        return host_key(best.source_url if is_wrapped(best.url) and best.source_url else best.url)

    @property
    def engines(self) -> tuple[str, ...]:
        """Who gave it, best rank first."""
        return tuple(dict.fromkeys(engine for engine, _ in self.rows))

    def snippet(self, about: frozenset[str]) -> str:
        """The one that covers most words of the query; of equals the longest."""
        return max(
            (row.snippet for _, row in self.rows), key=lambda text: (len(words(text) & about), len(text))
        )


def fused(lists: Sequence[RankedResult]) -> tuple[MergedResults, ...]:
    """One row a page, best first."""
    families = {ranked.engine: ranked.family for ranked in lists}
    merged = [_merged(rows, families) for rows in _by_page(lists)]
    merged.sort(key=lambda page: (-page.score, page.rows[0][1].rank))
    return tuple(merged)


def without_copies(pages: Sequence[MergedResults], query: str) -> tuple[MergedResults, ...]:
    """The pages, best first, where copies of one text stand in `also` of the best of them."""
    about, asked = frozenset(content_words(query)), words(query)
    kept: list[MergedResults] = []
    texts: list[ComparableText] = []
    for page in pages:
        text = ComparableText.of(page.title, page.snippet(about), page.host, asked)
        original = next((at for at, other in enumerate(texts) if is_copy(text, other)), None)
        if original is None:
            kept.append(page)
            texts.append(text)
        else:
            first = kept[original]
            kept[original] = replace(first, also=(*first.also, page.best.url))
    return tuple(kept)


def _by_page(lists: Sequence[RankedResult]) -> list[list[tuple[str, EngineResult]]]:
    pages: dict[str, list[tuple[str, EngineResult]]] = {}
    # A wrapped address tells nothing; headline and publisher do.
    by_headline = {
        _headline_key(row, row.url): canonical(row.url)
        for ranked in lists
        for row in ranked.results
        if not is_wrapped(row.url)
    }
    spellings: dict[tuple[str, str], str] = {}
    for ranked in lists:
        for row in ranked.results:
            key = canonical(row.url)
            if is_wrapped(row.url):
                headline = _headline_key(row, row.source_url or row.source or row.url)
                key = by_headline.get(headline, headline)
            # Upper and lower case of a path differ on most servers; under one headline they are one page.
            key = spellings.setdefault((key.casefold(), title_key(row.title)), key)
            rows = pages.setdefault(key, [])
            if all(engine != ranked.engine for engine, _ in rows):
                rows.append((ranked.engine, row))
    return list(pages.values())


def _headline_key(row: EngineResult, publisher: str) -> str:
    return f"{host_key(publisher) or publisher} {title_key(_headline(row))}"


def _headline(row: EngineResult) -> str:
    return row.title.removesuffix(f" - {row.source}").rstrip() if row.source else row.title


def _merged(rows: list[tuple[str, EngineResult]], families: Mapping[str, str]) -> MergedResults:
    ordered = sorted(rows, key=lambda pair: pair[1].rank)
    voted: set[str] = set()
    score = 0.0
    for engine, row in ordered:
        weight = SECOND_OF_FAMILY if families[engine] in voted else 1.0
        voted.add(families[engine])
        score += weight / (RANK_CONSTANT + row.rank)
    return MergedResults(tuple(ordered), score)
