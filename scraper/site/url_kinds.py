"""Group the URLs of a site into kinds by their shape, and estimate the value of each kind from its visited pages."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scraper.site.url_patterns import url_shape

EXPECTED = 0.85
"""Value from 0 to 1 of a kind without visited pages."""
CLOSE_BELOW = 0.12
"""Value from 0 to 1. A kind with less is closed: its URLs are not visited unless it is rewarded."""
MIN_TRIES = 5
"""Pages of a kind that are read before it may be closed."""
_MEMORY, _LISTED_MEMORY = 0.3, 0.05
"""Minimum weight of the latest page in the moving averages. Sitemaps mix good and dead URLs, so they need a longer
memory."""
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
_LISTED = "listed "
MAX_WORDS = 8
"""Different words at one path position; more of them are replaced by one placeholder."""


@dataclass(slots=True)
class CrawlCandidate:
    """A URL that the crawl may visit."""

    key: str
    url: str
    depth: int
    """Number of links from the start page."""
    place: str
    """Position of the link as in `Outlink`, or `listed` if only a sitemap or feed names the URL."""
    texts: list[str] = field(default_factory=list)
    """Texts of the links to it."""
    parent_relevance: float = 0.0
    barren: int = 0
    """Number of ancestor pages since the last good one; such pages lack both content and links to a kind with good
    pages."""
    chain: int = 0
    """Consecutive ancestor pages of the same kind."""
    kind: str = ""
    """Name of its `UrlKind`."""
    worth: float = 0.0
    """Value from `CrawlPriority.rate`."""
    language_weight: float = 1.0
    """Factor for a URL that names another language."""
    retries: int = 0
    is_listed: bool = False
    """True if a sitemap or feed names it, whether pages link to it or not."""
    is_done: bool = False
    """True if it was chosen or excluded."""
    is_taken: bool = False
    """True if it was visited."""
    parent: CrawlCandidate | None = None
    """Page that linked to it first."""


@dataclass(slots=True)
class UrlKind:
    """URLs of one shape, and the average values of their visited pages."""

    name: str
    content: float = EXPECTED
    """Moving average of the value of its pages' texts, from 0 to 1."""
    lead: float = EXPECTED
    """Moving average of the value of the kinds to which its pages link, from 0 to 1."""
    relevance: float = 0.0
    """Moving average of its pages' match with the question, from 0 to 1."""
    tries: int = 0
    in_flight: int = 0
    """Pages that are being visited."""
    found: int = 0
    found_within: int = 0
    """Number of found URLs, and of those first found on pages of this kind."""
    loans: int = 0
    """Number of lists that were rated by the expected value of this kind before any of its pages was read."""
    is_closed: bool = False
    waiting: list[tuple[float, int, int, CrawlCandidate]] = field(default_factory=list)
    """Heap of candidates, highest value first."""

    @property
    def promise(self) -> float:
        """Expected value of its next page, from 0 to 1."""
        return max(self.content, self.lead)

    @property
    def is_listed(self) -> bool:
        """True for URLs that only sitemaps and feeds name."""
        return self.name.startswith(_LISTED)

    @property
    def is_proven(self) -> bool:
        """True if at least two pages were read and their average value is at least .5."""
        return self.tries >= 2 and self.content >= 0.5

    @property
    def self_fed_share(self) -> float:
        """Share of its URLs that were first found on its own pages, as in a maze or an endless list."""
        return self.found_within / self.found if self.found and self.tries >= MIN_TRIES else 0.0

    def judge(self, content: float, lead: float, relevance: float) -> None:
        """Update the averages with one page; close the kind if its value becomes too low."""
        share = max(_LISTED_MEMORY if self.is_listed else _MEMORY, 1 / (self.tries + 2))
        self.tries += 1
        self.content += share * (content - self.content)
        self.lead += share * (lead - self.lead)
        self.relevance += _MEMORY * (relevance - self.relevance)
        self.is_closed = self.is_closed or (self.tries >= MIN_TRIES and self.promise < CLOSE_BELOW)

    def end_visit(self) -> None:
        """Decrease the number of pages that are being visited."""
        self.in_flight = max(0, self.in_flight - 1)

    def reward(self, worth: float) -> None:
        """Increase the lead after a page that was linked from this kind; this may reopen a closed kind."""
        self.lead += max(0.0, _MEMORY * (worth - self.lead))
        self.is_closed = self.is_closed and self.promise < CLOSE_BELOW

    def best(self) -> CrawlCandidate | None:
        """Return the waiting candidate with the highest value, or None."""
        while self.waiting:
            rank, _, _, candidate = self.waiting[0]
            if not candidate.is_done and candidate.kind == self.name and candidate.worth == -rank:
                return candidate
            heapq.heappop(self.waiting)
        return None

    def absorb(self, other: UrlKind) -> None:
        """Add the counts of another kind, and average the values by the number of visits."""
        if total := self.tries + other.tries:
            for name in ("content", "lead", "relevance"):
                mean = (getattr(self, name) * self.tries + getattr(other, name) * other.tries) / total
                setattr(self, name, mean)
        self.tries, self.loans = total, self.loans + other.loans
        self.in_flight, self.found = self.in_flight + other.in_flight, self.found + other.found
        self.found_within += other.found_within
        self.is_closed = self.is_closed and other.is_closed


class KindTable:
    """Kinds of the URLs of one site."""

    def __init__(self) -> None:
        """Start without kinds."""
        self.kinds: dict[str, UrlKind] = {}
        self._listed = UrlKind(_LISTED, _LISTED_EXPECTED, _LISTED_EXPECTED)
        """Averages of all URLs that only sitemaps and feeds name."""
        self._pushed: list[CrawlCandidate] = []
        self._words: dict[str, set[str]] = {}
        self._has_new_variable = False
        self._numbers = itertools.count()

    def push(self, candidate: CrawlCandidate, worth: float) -> None:
        """Add a candidate to its kind, or update its value."""
        if not candidate.kind:
            self._pushed.append(candidate)
        candidate.worth = worth
        candidate.kind = self._name_kind(candidate)
        if self._has_new_variable:
            self._has_new_variable = False
            self._merge()
        self._add(candidate)

    def judge(self, candidate: CrawlCandidate, content: float, lead: float, relevance: float) -> None:
        """Update the values of a candidate's kind, and of the lists that led to it if its page is good."""
        kind = self.get(candidate.kind)
        kind.judge(content, lead, relevance)
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
        kind.found += 1
        if candidate.parent is not None and candidate.parent.kind == candidate.kind:
            kind.found_within += 1
            candidate.chain = candidate.parent.chain + 1

    def get(self, name: str) -> UrlKind:
        """Return a kind, created if necessary.

        A new kind with parameters starts with the lowest value of kinds of the same path with fewer parameters.
        """
        if name not in self.kinds:
            kind = self.kinds[name] = UrlKind(name)
            path, _, query = name.partition("?")
            parameters = set(query.split("&")) if query else set()
            relatives = [
                other
                for other in self.kinds.values()
                if other.tries >= 2
                and set(other.name.partition("?")[2].split("&")) - {""} < parameters
                # The page without parameters is another page, not the same page with fewer.
                and "?" in other.name
                and other.name.partition("?")[0] == path
            ]
            if parameters:
                expected = EXPECTED * _PARAMETER_LOSS ** (len(parameters) - 1)
                kind.content = min([expected, *(other.content for other in relatives)])
                kind.lead = min([expected, *(other.lead for other in relatives)])
                kind.is_closed = any(other.is_closed for other in relatives)
        return self.kinds[name]

    def iter_waiting(self) -> Iterator[tuple[UrlKind, CrawlCandidate]]:
        """Yield each open kind with its best candidate."""
        for kind in self.kinds.values():
            if not kind.is_closed and (candidate := kind.best()) is not None:
                yield kind, candidate

    def count_waiting(self) -> int:
        """Return the number of waiting candidates, including those of closed kinds."""
        return sum(not candidate.is_done for candidate in self._pushed)

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
            kind.waiting = []
            self.kinds.setdefault(kind.name, kind)
            if self.kinds[kind.name] is not kind:
                self.kinds[kind.name].absorb(kind)
        for candidate in self._pushed:
            if not candidate.is_done:
                self._add(candidate)

    def _add(self, candidate: CrawlCandidate) -> None:
        waiting = self.get(candidate.kind).waiting
        heapq.heappush(waiting, (-candidate.worth, candidate.depth, next(self._numbers), candidate))

    def _name_kind(self, candidate: CrawlCandidate) -> str:
        """Return the shape of a candidate's URL, with `{w}` at positions with many words.

        URLs known only from sitemaps and feeds are separate kinds.
        """
        path, mark, query = url_shape(candidate.key).partition("?")
        parts = path.split("/")
        for at in range(1, len(parts)):
            if not parts[at] or parts[at].startswith("{"):
                continue
            words = self._words.setdefault("/".join(parts[:at]) + f"#{len(parts) - at}", set())
            if len(words) <= MAX_WORDS and parts[at] not in words:
                words.add(parts[at])
                self._has_new_variable = self._has_new_variable or len(words) > MAX_WORDS
            if len(words) > MAX_WORDS:
                parts[at] = "{w}"
        name = "/".join(parts) + mark + query
        return f"{_LISTED}{name}" if candidate.place == "listed" else name
