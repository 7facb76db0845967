"""How pages of one series ended: what two alike did not do in their quiet, a third is not waited for.

A third of what a page of a batch takes is waiting for parts that may come after a pause (170 of 500 ms), and
pages of one host are often one program with other data. So a page is compared with those before it, by all
its code, its build, and what it has asked for. One that did more after it had been calm is never hurried, nor
are those like it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness_rules import MAX_PAUSE_S, MIN_PAUSE_S, DomSample, QuietTimers, calm_s

CALM_S = 0.04
"""From here on a page is watched for doing more."""
KNOWN_QUIET_S = 0.08
"""How long one is waited for whose like did nothing more: twice as long as those were calm at first, since no
two pages take the same time."""
ENOUGH_ALIKE = 2
WATCHED_AGAIN = 8
"""One of so many is waited for in full all the same."""
MOST_KINDS = 64


@dataclass(frozen=True, slots=True)
class PageSignature:
    """Pages are alike that have the same code and build, and have asked as much of the same places."""

    likeness: str
    requests: int
    data_shapes: frozenset[str]


@dataclass(slots=True)
class _Seen:
    ended_calmly: int = 0
    hurried: int = 0
    restless: bool = False
    height: int = 0
    """Of the tallest that showed no more to who scrolls."""


class PagePatterns:
    """What is known of the pages of one series."""

    def __init__(self) -> None:
        self._seen: dict[PageSignature, _Seen] = {}

    def known_quiet(self, kind: PageSignature) -> bool:
        """Whether a page of this kind need not be waited for in full."""
        seen = self._seen.get(kind)
        if seen is None or seen.restless or seen.ended_calmly < ENOUGH_ALIKE:
            return False
        seen.hurried = (seen.hurried + 1) % WATCHED_AGAIN
        return seen.hurried > 0

    def ended_calmly(self, kind: PageSignature) -> None:
        """One was waited for in full, and did nothing more."""
        if kind in self._seen or len(self._seen) < MOST_KINDS:
            self._seen.setdefault(kind, _Seen()).ended_calmly += 1

    def nothing_below(self, kind: PageSignature, height: int) -> None:
        """One so tall showed no more to who scrolled to its end."""
        if kind in self._seen:
            self._seen[kind].height = max(height, self._seen[kind].height)

    def height(self, kind: PageSignature) -> int:
        """The greatest of those; 0 where none is known."""
        seen = self._seen.get(kind)
        return 0 if seen is None else seen.height

    def did_more(self, kind: PageSignature) -> None:
        """One did more after it had been calm."""
        if kind in self._seen or len(self._seen) < MOST_KINDS:
            self._seen.setdefault(kind, _Seen()).restless = True


class PageProgress:
    """One page on its way to its end."""

    def __init__(self, habits: PagePatterns) -> None:
        self._habits = habits
        self._kind: PageSignature | None = None
        self._contents = 0
        self.hurried = False
        """Whether its like are known to do nothing more."""
        self.pause_s = MAX_PAUSE_S
        """Until the next look at the latest: one is taken when the page becomes calm."""

    def follow(self, look: DomSample, traffic: NetworkActivity, clock: QuietTimers) -> QuietTimers:
        """Take in a look; the clock, with a shorter quiet where its like are known to do nothing more."""
        kind = self._kind
        if kind is not None and (traffic.requests != kind.requests or look.contents != self._contents):
            self.did_more()
            self._kind, self.hurried = None, False
        if self._kind is None:
            self._watch(look, traffic, calm_s(look, traffic, clock))
        if not self.hurried:
            return clock
        return replace(clock, quiet_with_data_s=min(KNOWN_QUIET_S, clock.quiet_with_data_s))

    @property
    def known_height(self) -> int:
        """Up to which its like are known to show no more to who scrolls: a list that goes on is longer."""
        return self._habits.height(self._kind) if self._kind is not None and self.hurried else 0

    def nothing_below(self, height: int) -> None:
        """Who scrolled to its end was shown no more."""
        if self._kind is not None:
            self._habits.nothing_below(self._kind, height)

    def did_more(self) -> None:
        """It did more after it had been calm, or showed more to who scrolls."""
        if self._kind is not None:
            self._habits.did_more(self._kind)

    def end(self) -> None:
        """It counts as done."""
        if self._kind is not None and not self.hurried:
            self._habits.ended_calmly(self._kind)

    def _watch(self, look: DomSample, traffic: NetworkActivity, calm: float) -> None:
        self.pause_s = max(MIN_PAUSE_S, CALM_S - calm) if calm else MAX_PAUSE_S
        if calm >= CALM_S and look.likeness:
            self.pause_s, self._contents = MAX_PAUSE_S, look.contents
            self._kind = PageSignature(look.likeness, traffic.requests, frozenset(traffic.data_shapes))
            self.hurried = self._habits.known_quiet(self._kind)
