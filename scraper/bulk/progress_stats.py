"""How a job stands, for the line that tells it: pages a second, outcomes, time left. Pure, the time given."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence

from scraper.bulk.frontier import FrontierCounts
from scraper.bulk.model import PageOutcome

WINDOW_S = 60.0
"""The rate is that of the last minute: sites differ, and so do the parts of a list."""


class ProgressStats:
    """Counts of this run."""

    def __init__(self) -> None:
        self.total = 0
        self.done_before = 0
        """Written by earlier runs."""
        self.delivered = 0
        """Pages read by this run, written or about to be."""
        self.outcomes: Counter[str] = Counter()
        self.tried_again = 0
        self.at_least_s: Callable[[], float] = lambda: 0.0
        """What the host with most pages left takes by its gap alone: no number of machines ends sooner."""
        self._recent: deque[tuple[float, int]] = deque()

    @property
    def written_now(self) -> int:
        """Pages written by this run."""
        return self.outcomes.total()

    @property
    def left(self) -> int:
        """Pages that were not read."""
        return self.total - self.done_before - self.delivered

    def begin(self, counts: FrontierCounts, now: float) -> None:
        """Take up how the list stands at the start."""
        self.total, self.done_before = counts.pages, counts.done
        self._recent.append((now, 0))

    def written(self, outcomes: Sequence[PageOutcome], now: float) -> None:
        """Count what was written."""
        self.outcomes.update(outcome.code for outcome in outcomes)
        self._recent.append((now, self.written_now))
        while len(self._recent) > 2 and self._recent[1][0] < now - WINDOW_S:
            self._recent.popleft()

    def rate(self, now: float) -> float:
        """Pages a second, of late."""
        if not self._recent:
            return 0.0
        since, before = self._recent[0]
        return (self.written_now - before) / max(now - since, 0.001)

    def left_s(self, now: float) -> float | None:
        """Seconds until the end at this rate; None when there is none yet."""
        left = self.total - self.done_before - self.written_now
        rate = self.rate(now)
        if not left:
            return 0.0
        return max(left / rate, self.at_least_s()) if rate > 0 else None

    def line(self, now: float) -> str:
        """All of it in a line."""
        done = self.done_before + self.written_now
        failed = self.written_now - self.outcomes["ok"]
        left_s = self.left_s(now)
        parts = [f"{done:,} of {self.total:,} pages", f"{self.rate(now):.1f} a second", f"{failed:,} failed"]
        common = [(code, count) for code, count in self.outcomes.most_common(4) if code != "ok"]
        if common:
            parts[-1] += f" ({', '.join(f'{code} {count:,}' for code, count in common)})"
        if left_s is not None:
            parts.append(f"{_span(left_s)} left")
        return ", ".join(parts)


def _span(seconds: float) -> str:
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
