"""Counts the lists and headings of an OpenDocument text as its office shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scraper.extract.documents.numerals import numeral
from scraper.extract.documents.odf.styles import ListLevel

_LARGEST = 100_000


@dataclass(slots=True)
class Counter:
    """How far one list has been counted, level by level."""

    levels: Mapping[int, ListLevel]
    _counts: dict[int, int] = field(default_factory=dict)

    def level(self, at: int) -> ListLevel:
        """How a level is labelled; a list that says so of one level alone means all."""
        alone = next(iter(self.levels.values()), ListLevel()) if len(self.levels) == 1 else ListLevel()
        return self.levels.get(at, alone)

    def count(self, at: int, start: int | None = None) -> int:
        """Count one on at a level; deeper levels begin anew."""
        for above in range(1, at):
            # A level that was skipped counts as begun: after 2.1.1 comes 2.2.
            if 1 in self._counts:
                self._counts.setdefault(above, self.level(above).start)
        first = self.level(at).start
        following = self._counts.get(at, first - 1) + 1 if start is None else start
        self._counts[at] = min(following, _LARGEST)
        for deeper in [level for level in self._counts if level > at]:
            del self._counts[deeper]
        return self._counts[at]

    def begin(self, at: int) -> None:
        """Begin a level anew, and those below."""
        for deeper in [level for level in self._counts if level >= at]:
            del self._counts[deeper]

    def label(self, at: int) -> str:
        """The label of what was counted last at a level; empty where none is shown."""
        level = self.level(at)
        if not level.numeral:
            return ""
        above = range(max(1, at - level.shown + 1), at + 1)
        numbers = []
        for one in above:
            known = self.levels.get(one, ListLevel("decimal"))
            if known.numeral:
                numbers.append(numeral(self._counts.get(one, known.start), known.numeral))
        return f"{level.before}{'.'.join(numbers)}{level.after}".strip()
