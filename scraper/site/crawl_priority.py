"""Choose the next URL of a crawl, by link position, words and the value of similar pages."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from scraper.site.crawl_scope import SiteLanguages
from scraper.site.page_ranking import split_stems, url_words
from scraper.site.url_kind_table import MIN_LEAD, UrlKindTable
from scraper.site.url_kinds import CrawlCandidate, UrlKind
from scraper.text.terms import inverse_document_frequency

_STOP_BELOW = 0.12
"""Value from 0 to 1. The crawl ends if the best URL has less."""
_MAX_LEVELS = 10
"""Levels of links: deeper URLs lose no more value."""
_MIN_VISITS = 20
"""Visits before the crawl may end because all remaining URLs have a low value."""
_LEVEL_LOSS = 0.02
"""Deduction for each link between the start page and the URL."""
_REPEATED, _REPEATED_LOSS = 8, 0.8
"""Different URLs with the same link text, and the factor for links with more: such texts ("Surprise me") are no
titles."""
_BARREN_LOSS = 0.7
"""Factor for each ancestor without content, as in `CrawlCandidate.barren`, of a kind with fewer than three visits."""
_CHAIN_LOSS, _MIN_CHAIN_VALUE = 0.9, 0.55
"""Factor for each consecutive ancestor of the same kind, and the lowest product of these factors."""
_IN_FLIGHT_LOSS = 0.6
"""Factor for each running visit of a kind with fewer than three visits, so that other kinds are tried meanwhile."""
_SHARE_LOSS = 0.2
"""Deduction, multiplied by the share of visits that the kind has had, so that other kinds are tried too. URLs that only
sitemaps name are not traps."""
_SELF_FED_LOSS = 0.4
"""Share of its value that a kind loses if all its URLs were first found on its own pages; fewer cost less."""
_NAVIGATE_EVERY = 4
"""Visits. With a question, every fourth visit is a navigation page, because pages behind it are still unknown."""
_SCANNED = 50
"""Waiting URLs of a kind that are searched for a navigation page."""
_NEAR_LEVELS = 2
"""Links from the start page within which a navigation page counts as near."""


class CrawlPriority:
    """Rank the pending URLs of one crawl."""

    def __init__(self, question: str | None, languages: SiteLanguages, kinds: UrlKindTable) -> None:
        """Rank by a question, or by the value of similar pages if it is None."""
        self.stems = list(dict.fromkeys(split_stems(question or "")))
        self._languages = languages
        self._kinds = kinds
        self._known = 0
        self._term_counts: Counter[str] = Counter()
        """Number of URLs by stem."""
        self._text_counts: Counter[str] = Counter()
        """Number of URLs by link text."""

    def add(self, candidate: CrawlCandidate) -> None:
        """Count the words of a new URL."""
        self._known += 1
        self._text_counts.update(candidate.texts)
        self._term_counts.update(set(self._terms(candidate)))

    def rate(self, candidate: CrawlCandidate) -> float:
        """Return the value of a URL by position, depth, language and match with the question.

        Without a question it is at most 1. With one, each stem counts by BM25's inverse document frequency in all
        known URLs.
        """
        place = candidate.place_value - _LEVEL_LOSS * min(_MAX_LEVELS, candidate.depth)
        if candidate.texts and not self.select_titles(candidate):
            place *= _REPEATED_LOSS
        candidate.language_weight = self._languages.weigh(candidate.key)
        if not self.stems:
            return place * candidate.language_weight
        counts = Counter(self._terms(candidate))
        found = whole = 0.0
        for term in self.stems:
            number = self._term_counts[term]
            rarity = inverse_document_frequency(number, max(1, self._known))
            whole += rarity
            found += rarity * min(1.0, 0.7 + 0.15 * counts[term]) if counts[term] else 0.0
        return (0.15 * place + found / whole + 0.35 * candidate.parent_relevance) * candidate.language_weight

    def select_titles(self, candidate: CrawlCandidate) -> list[str]:
        """Return the texts of links to a URL that are used for few URLs, so that they may be its title."""
        return [text for text in candidate.texts if self._text_counts[text] <= _REPEATED]

    def choose(self, visits: int) -> CrawlCandidate | None:
        """Return the URL with the highest value, or None if all values are low."""
        if self.stems and visits % _NAVIGATE_EVERY == 0 and (near := self._find_nearest_list()) is not None:
            return near
        ranked = [(self._value(kind, one, visits), one) for kind, one in self._kinds.iter_pending()]
        if not ranked:
            return None
        value, candidate = max(ranked, key=lambda one: one[0])
        return candidate if visits <= _MIN_VISITS or value >= _STOP_BELOW * candidate.language_weight else None

    def _value(self, kind: UrlKind, candidate: CrawlCandidate, visits: int) -> float:
        promise = self._kinds.promise(kind)
        if self.stems:
            value = candidate.worth * (0.25 + 0.75 * promise) + 0.25 * kind.relevance
        else:
            share = 0.0 if kind.is_listed else kind.tries / (visits + _MIN_VISITS)
            value = candidate.worth * promise - _SHARE_LOSS * share
        if kind.tries < 3:
            value *= _BARREN_LOSS**candidate.barren * _IN_FLIGHT_LOSS**kind.in_flight
        value *= 1 - _SELF_FED_LOSS * kind.self_fed_share
        return float(value * max(_MIN_CHAIN_VALUE, _CHAIN_LOSS**candidate.chain))

    def _find_nearest_list(self) -> CrawlCandidate | None:
        """Return the linked navigation page that is nearest to the start page."""
        near = [
            one
            for kind in self._kinds.kinds.values()
            if not kind.is_closed and (kind.tries <= 2 or kind.lead >= MIN_LEAD)
            for _, _, _, one in islice(kind.pending, _SCANNED)
            if one.place in ("nav", "paging") and one.depth <= _NEAR_LEVELS and not one.is_done
            if one.kind == kind.name and self._languages.weigh(one.key) == 1.0
        ]
        return min(near, key=lambda one: (one.depth, one.key.count("/"), len(one.key), one.key), default=None)

    def _terms(self, candidate: CrawlCandidate) -> list[str]:
        if not self.stems:
            return []
        return [stem for text in (url_words(candidate.url), *candidate.texts) for stem in split_stems(text)]
