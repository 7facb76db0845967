"""Group the URLs of a site into kinds by their shape, and estimate the value of each kind from its visited pages."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator

from scraper.site.url_kinds import (
    CLOSE_BELOW,
    INITIAL_VALUE,
    LISTED_PREFIX,
    MIN_TRIES,
    CrawlCandidate,
    UrlKind,
    split_parameters,
)
from scraper.site.url_patterns import PathWords, url_shape

_LISTED_EXPECTED, _LISTED_FLOOR = 0.7, 0.2
"""Expected value of URLs from sitemaps before any of them is read, and the least for a kind with fewer than two."""
MIN_LEAD = 0.3
"""Value from 0 to 1. Kinds of URLs with less do not count as leading to content, nor replace a frequent kind."""
_STEP_LOSS = 0.7
"""Factor for each list between a list and a page with content."""
_UNTRIED_LEAD, _MAX_LOANS = 0.6, 3
"""Value of a list that leads to a kind with fewer than two visits, and number of such lists for each kind."""
_MAX_PARENTS = 10
"""Ancestors of a good page that are rewarded."""
_PARAMETER_LOSS = 0.9
"""Factor for each parameter after the first of a kind without visited pages."""


class UrlKindTable:
    """Kinds of the URLs of one site."""

    def __init__(self) -> None:
        """Start without kinds."""
        self.kinds: dict[str, UrlKind] = {}
        self._listed = UrlKind(LISTED_PREFIX, _LISTED_EXPECTED, _LISTED_EXPECTED)
        """Averages of all URLs that only sitemaps and feeds name."""
        self._pushed: list[CrawlCandidate] = []
        self.words = PathWords()
        self._variable_count = 0
        self._numbers = itertools.count()

    def push(self, candidate: CrawlCandidate, worth: float) -> None:
        """Add a candidate to its kind, or update its value."""
        if not candidate.kind:
            self._pushed.append(candidate)
        candidate.worth = worth
        candidate.kind = self._name_kind(candidate)
        if self._variable_count != self.words.variable_count:
            self._variable_count = self.words.variable_count
            self._merge()
        self._add(candidate)

    def judge(self, candidate: CrawlCandidate, content: float, lead: float, relevance: float) -> None:
        """Update the values of a candidate's kind, and of the lists that led to it if its page is good."""
        kind = self.get(candidate.kind)
        was_closed = kind.is_closed
        kind.judge(content, lead, relevance)
        if kind.is_closed and not was_closed:
            for other in self.kinds.values():
                other.is_closed = other.is_closed or (other.tries < MIN_TRIES and kind.is_relative_of(other.name))
        if kind.is_listed:
            self._listed.judge(content, lead, relevance)
        self._reward_parents(candidate, content)

    def promise(self, kind: UrlKind) -> float:
        """Return the expected value of the next page of a kind, from 0 to 1.

        A new kind of URLs from sitemaps is worth what such URLs were worth on this site.
        """
        if not kind.is_listed or kind.tries >= MIN_TRIES:
            return kind.promise
        expected = self._listed.promise
        return max(expected, _LISTED_FLOOR) if kind.tries < 2 else min(expected, kind.promise)

    def rate_lead(self, own: str, names: Iterable[str]) -> float:
        """Return the highest value of the kinds to which a page of the kind `own` leads, other than `own`."""
        best = 0.0
        for name in names:
            kind = self.get(name)
            if name == own or kind.is_closed:
                continue
            if kind.tries >= 2:
                promise = max(kind.content, _STEP_LOSS * kind.lead)
                best = max(best, promise if promise >= MIN_LEAD else 0.0)
            elif kind.loans < _MAX_LOANS:
                kind.loans += 1
                best = max(best, _UNTRIED_LEAD)
        return best

    def _reward_parents(self, candidate: CrawlCandidate, worth: float) -> None:
        """Increase the value of the lists that led to a good page; lists of the page's own kind are skipped."""
        parent = candidate.parent
        for _ in range(_MAX_PARENTS):
            if parent is None or worth < CLOSE_BELOW:
                return
            if parent.kind != candidate.kind:
                self.get(parent.kind).reward(worth)
            worth *= _STEP_LOSS
            parent = parent.parent

    def count_found(self, candidate: CrawlCandidate) -> None:
        """Count a new candidate of its kind, and whether it was first found on a page of the same kind."""
        kind = self.get(candidate.kind)
        kind.url_count += 1
        if candidate.parent is not None and candidate.parent.kind == candidate.kind:
            kind.own_url_count += 1
            candidate.chain = candidate.parent.chain + 1

    def get(self, name: str) -> UrlKind:
        """Return a kind, created if necessary.

        A new kind with parameters starts with the lowest value of kinds of the same path with fewer parameters.
        """
        if name not in self.kinds:
            kind = self.kinds[name] = UrlKind(name)
            parameters = split_parameters(name)
            relatives = [other for other in self.kinds.values() if other.tries >= 2 and other.is_relative_of(name)]
            if parameters:
                expected = INITIAL_VALUE * _PARAMETER_LOSS ** (len(parameters) - 1)
                kind.content = min([expected, *(other.content for other in relatives)])
                kind.lead = min([expected, *(other.lead for other in relatives)])
                kind.is_closed = any(other.is_closed for other in relatives)
        return self.kinds[name]

    def iter_pending(self) -> Iterator[tuple[UrlKind, CrawlCandidate]]:
        """Yield each open kind with its best candidate."""
        for kind in self.kinds.values():
            if not kind.is_closed and (candidate := kind.best()) is not None:
                yield kind, candidate

    def iter_all_pending(self) -> Iterator[CrawlCandidate]:
        """Yield the pending candidates of all open kinds."""
        return (one for one in self._pushed if not one.is_done and not self.get(one.kind).is_closed)

    def iter_left(self) -> Iterator[CrawlCandidate]:
        """Yield the pending candidates, including those of closed kinds."""
        return (one for one in self._pushed if not one.is_done)

    def count_pending(self) -> int:
        """Return the number of pending candidates, including those of closed kinds."""
        return sum(1 for _ in self.iter_left())

    def _merge(self) -> None:
        """Merge kinds whose names have become equal."""
        before, self.kinds = self.kinds, {}
        names: dict[str, str] = {}
        for candidate in self._pushed:
            name = self._name_kind(candidate)
            names.setdefault(candidate.kind, name)
            candidate.kind = name
        for kind in before.values():
            kind.name = names.get(kind.name, kind.name)
            kind.pending = []
            self.kinds.setdefault(kind.name, kind)
            if self.kinds[kind.name] is not kind:
                self.kinds[kind.name].absorb(kind)
        for candidate in self._pushed:
            if not candidate.is_done:
                self._add(candidate)

    def _add(self, candidate: CrawlCandidate) -> None:
        pending = self.get(candidate.kind).pending
        heapq.heappush(pending, (-candidate.worth, candidate.depth, next(self._numbers), candidate))

    def _name_kind(self, candidate: CrawlCandidate) -> str:
        """Return the shape of a candidate's URL, with `{w}` at positions with many words.

        URLs known only from sitemaps and feeds are separate kinds.
        """
        name = self.words.add(url_shape(candidate.key))
        return f"{LISTED_PREFIX}{name}" if candidate.place == "listed" else name
