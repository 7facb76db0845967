"""Order the waiting URLs of a crawl by place, by words, and by the value of visited pages of the same kind."""

import heapq
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scraper.site.crawl_scope import SiteLanguages
from scraper.site.url_patterns import PathWords, split_stems, url_shape, url_words
from scraper.text.terms import inverse_document_frequency

_LINK_WEIGHTS = {"body": 1.0, "paging": 1.0, "listed": 0.95, "nav": 0.9, "side": 0.6, "footer": 0.5}
"""Weight of a link by its position on the page."""
_OTHER_PLACE = 0.7
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
"""Least weight of the latest page in the moving averages. Sitemaps mix good and dead URLs, so need a longer memory."""
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
    parent_relevance: float = 0.0
    barren: int = 0
    """Ancestor pages since the last good one; such pages lack both content and links to a kind with good pages."""
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
    parent: "CrawlCandidate | None" = None
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

    def absorb(self, other: "UrlKind") -> None:
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


_LISTED_EXPECTED, _LISTED_FLOOR = 0.7, 0.2
"""Expected value of URLs from sitemaps before any of them is read, and the least for a kind with fewer than two."""
_MIN_LEAD = 0.3
"""Value from 0 to 1. Kinds of URLs with less do not count as leading to content."""
_STEP_LOSS = 0.7
"""Factor for each list between a list and a page with content."""
_UNTRIED_LEAD, _MAX_LOANS = 0.6, 3
"""Value of a list that leads to a kind with fewer than two visits, and number of such lists for each kind."""
_MAX_PARENTS = 10
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
                best = max(best, promise if promise >= _MIN_LEAD else 0.0)
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

        A new kind with several parameters starts with a lower value.
        """
        if name not in self.kinds:
            kind = self.kinds[name] = UrlKind(name)
            if parameters := split_parameters(name):
                kind.content = kind.lead = INITIAL_VALUE * _PARAMETER_LOSS ** (len(parameters) - 1)
        return self.kinds[name]

    def iter_left(self) -> Iterator[CrawlCandidate]:
        """Yield the pending candidates, including those of closed kinds."""
        return (one for one in self._pushed if not one.is_done)

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
        """Return the shape of a URL, with `{w}` at positions with many words; URLs that are only listed are apart."""
        name = self.words.add(url_shape(candidate.key))
        return f"{LISTED_PREFIX}{name}" if candidate.place == "listed" else name


_STOP_BELOW = 0.12
"""Value from 0 to 1. The crawl ends if the best URL has less."""
_MAX_LEVELS = 10
"""Levels of links: deeper URLs lose no more value."""
_MIN_VISITS = 20
"""Visits before the crawl may end because all remaining URLs have a low value."""
_LEVEL_LOSS = 0.02
"""Deduction for each link between the start page and the URL."""
_REPEATED, _REPEATED_LOSS = 8, 0.8
"""URLs with the same link text, and the factor for links with more: such texts ("Surprise me") are no titles."""
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
"""Share of its value that a kind loses if all its URLs were first found on its own pages, as in a maze or an endless
list; fewer cost less."""


class CrawlPriority:
    """Rank the pending URLs of one crawl."""

    def __init__(self, question: str | None, languages: SiteLanguages, kinds: UrlKindTable) -> None:
        """Rank by a question, or by the value of similar pages if it is None."""
        self.stems = list(dict.fromkeys(split_stems(question or "")))
        self._languages = languages
        self._kinds = kinds
        self._known = 0
        self._term_counts: Counter[str] = Counter()
        self._text_counts: Counter[str] = Counter()

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
        listed = _LINK_WEIGHTS[_LISTED_PLACE] if candidate.is_listed else 0.0
        place = max(_LINK_WEIGHTS.get(candidate.place, _OTHER_PLACE), listed)
        place -= _LEVEL_LOSS * min(_MAX_LEVELS, candidate.depth)
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
        open_kinds = (kind for kind in self._kinds.kinds.values() if not kind.is_closed)
        ranked = [(self._value(kind, one, visits), one) for kind in open_kinds if (one := kind.best()) is not None]
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
        if kind.url_count and kind.tries >= MIN_TRIES:
            value *= 1 - _SELF_FED_LOSS * kind.own_url_count / kind.url_count
        return float(value * max(_MIN_CHAIN_VALUE, _CHAIN_LOSS**candidate.chain))

    def _terms(self, candidate: CrawlCandidate) -> list[str]:
        if not self.stems:
            return []
        return [stem for text in (url_words(candidate.url), *candidate.texts) for stem in split_stems(text)]
