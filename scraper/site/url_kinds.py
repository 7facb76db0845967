"""Waiting URLs of a crawl, and kinds of URLs with the average value of their visited pages."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from scraper.site.url_patterns import find_section

_LINK_WEIGHTS = {"body": 1.0, "paging": 1.0, "listed": 0.95, "nav": 0.9, "side": 0.6, "footer": 0.5}
"""Weight of a link by its position on the page."""
_OTHER_PLACE = 0.7
"""The same for other positions."""
_LISTED_PLACE = "listed"
"""Position of URLs that only sitemaps and feeds name."""
_TEXTS = 6
"""Link texts that are stored for a URL."""
INITIAL_VALUE = 0.85
"""Value from 0 to 1 of a kind without visited pages."""
CLOSE_BELOW = 0.12
"""Value from 0 to 1. A kind with less is closed: its URLs are not visited unless it is rewarded."""
MIN_TRIES = 5
"""Pages of a kind that are read before it may be closed."""
_MEMORY, _LISTED_MEMORY = 0.3, 0.02
"""Minimum weight of the latest page in the moving averages. Sitemaps mix good and dead URLs, so they need a longer
memory."""
LISTED_PREFIX = "listed "
"""Prefix in the name of kinds of URLs that only sitemaps and feeds name."""


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
    is_visited: bool = False
    """True if it was visited."""
    parent: CrawlCandidate | None = None
    """Page that linked to it first."""

    def add_text(self, text: str) -> bool:
        """Add the text of a link; return True if it is new."""
        if not text or text in self.texts or len(self.texts) >= _TEXTS:
            return False
        self.texts.append(text)
        return True

    def add_place(self, place: str) -> bool:
        """Note the position of a further link; return True if it is better.

        A URL that a page links does not remain a listed one.
        """
        if place == _LISTED_PLACE:
            self.is_listed = True
            return False
        if self.place != _LISTED_PLACE and _LINK_WEIGHTS.get(place, 0) <= _LINK_WEIGHTS.get(self.place, 0):
            return False
        self.place = place
        return True

    def iter_section(self) -> Iterator[CrawlCandidate]:
        """Yield the page and its ancestors in a row that are in its section; nothing for a page outside of folders."""
        section = find_section(self.key)
        one: CrawlCandidate | None = self
        while one is not None and section and find_section(one.key) == section:
            yield one
            one = one.parent

    @property
    def section_depth(self) -> int:
        """Number of pages of its section in a row that led to it; 0 outside of folders."""
        return max(0, sum(1 for _ in self.iter_section()) - 1)

    @property
    def place_value(self) -> float:
        """Value of its best position, from 0 to 1."""
        listed = _LINK_WEIGHTS[_LISTED_PLACE] if self.is_listed else 0.0
        return max(_LINK_WEIGHTS.get(self.place, _OTHER_PLACE), listed)


@dataclass(slots=True)
class UrlKind:
    """URLs of one shape, and the average values of their visited pages."""

    name: str
    content: float = INITIAL_VALUE
    """Moving average of the value of its pages' texts, from 0 to 1."""
    lead: float = INITIAL_VALUE
    """Moving average of the value of the kinds to which its pages link, from 0 to 1."""
    relevance: float = 0.0
    """Moving average of its pages' match with the question, from 0 to 1."""
    tries: int = 0
    in_flight: int = 0
    """Pages that are being visited."""
    url_count: int = 0
    own_url_count: int = 0
    """Number of URLs, and of those that were first linked by pages of this kind."""
    loans: int = 0
    """Number of lists that were rated by the expected value of this kind before any of its pages was read."""
    is_closed: bool = False
    pending: list[tuple[float, int, int, CrawlCandidate]] = field(default_factory=list)
    """Heap of candidates, highest value first."""

    @property
    def promise(self) -> float:
        """Expected value of its next page, from 0 to 1."""
        return max(self.content, self.lead)

    @property
    def is_listed(self) -> bool:
        """True for URLs that only sitemaps and feeds name."""
        return self.name.startswith(LISTED_PREFIX)

    @property
    def self_fed_share(self) -> float:
        """Share of its URLs that were first found on its own pages, as in a maze or an endless list."""
        return self.own_url_count / self.url_count if self.url_count and self.tries >= MIN_TRIES else 0.0

    def is_relative_of(self, name: str) -> bool:
        """Return True if its URLs have the path and some of the parameters of another kind, such as fewer filters.

        The page without parameters is another page, not the same page with fewer.
        """
        own = split_parameters(self.name)
        is_same_path = self.name.partition("?")[0] == name.partition("?")[0]
        return is_same_path and bool(own) and own < split_parameters(name)

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
        """Return the pending candidate with the highest value, or None."""
        while self.pending:
            rank, _, _, candidate = self.pending[0]
            if not candidate.is_done and candidate.kind == self.name and candidate.worth == -rank:
                return candidate
            heapq.heappop(self.pending)
        return None

    def absorb(self, other: UrlKind) -> None:
        """Add the counts of another kind, and average the values by the number of visits."""
        if total := self.tries + other.tries:
            for name in ("content", "lead", "relevance"):
                mean = (getattr(self, name) * self.tries + getattr(other, name) * other.tries) / total
                setattr(self, name, mean)
        self.tries, self.loans = total, self.loans + other.loans
        self.in_flight, self.url_count = self.in_flight + other.in_flight, self.url_count + other.url_count
        self.own_url_count += other.own_url_count
        self.is_closed = self.is_closed and other.is_closed


def split_parameters(name: str) -> set[str]:
    """Return the parameters in the name of a kind."""
    return set(name.partition("?")[2].split("&")) - {""}
