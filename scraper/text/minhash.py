"""Find texts that are nearly equal among thousands, by sketches of their runs of words."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SKETCH_SIZE = 64
"""Numbers of a sketch. The similarity of two texts is estimated with a standard error of about .06 (Broder 1997)."""
_RUN_WORDS = 5
"""Words of a run. Runs of five words are rarely equal by chance."""
_LOOKUP_SIZE = 12
"""Numbers of a sketch by which similar texts are looked up: two texts with a similarity of .85 share at least one."""
_EXCERPT_SHARE = 0.5
"""Share of a text; an excerpt is shorter."""
_COMMON = 2
"""Sources with a run that is not an excerpt, but common to the pages of a site."""
_MIN_COMPARED = 8
"""Runs from which the share of excerpts is estimated."""
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")


def split_words(text: str, *, ignore_numbers: bool = False) -> list[str]:
    """Return the words of a text in lower case; with `ignore_numbers` all numbers are equal."""
    text = text.lower()
    return _WORD.findall(_DIGITS.sub("0", text) if ignore_numbers else text)


@dataclass(frozen=True, slots=True)
class Sketch:
    """The smallest hashes of the runs of words of a text (bottom-k sketch, Broder 1997)."""

    numbers: tuple[int, ...] = ()
    """At most 64 hashes, ascending."""
    run_count: int = 0
    """Number of different runs of the text."""

    @classmethod
    def of(cls, words: Sequence[str]) -> Sketch:
        """Return the sketch of a text."""
        count = max(1, len(words) - _RUN_WORDS + 1) if words else 0
        runs = {zlib.crc32(" ".join(words[at : at + _RUN_WORDS]).encode()) for at in range(count)}
        return cls(tuple(sorted(runs)[:SKETCH_SIZE]), len(runs))

    def similarity(self, other: Sketch) -> float:
        """Return the estimated Jaccard similarity of the runs of two texts, from 0 to 1."""
        one, two = set(self.numbers), set(other.numbers)
        if not one or not two:
            return 0.0
        if max(self.run_count, other.run_count) <= SKETCH_SIZE:
            return len(one & two) / len(one | two)
        smallest = sorted(one | two)[:SKETCH_SIZE]
        return sum(number in one and number in two for number in smallest) / len(smallest)

    @property
    def limit(self) -> float:
        """Hash up to which the sketch has all runs of the text."""
        return self.numbers[-1] if self.run_count > SKETCH_SIZE else math.inf

    def containment(self, other: Sketch) -> float:
        """Return the estimated share of the runs of this text that another text has, from 0 to 1."""
        limit = min(self.limit, other.limit)
        own = [number for number in self.numbers if number <= limit]
        return len(set(own).intersection(other.numbers)) / len(own) if own else 0.0

    def excerpt_share(self, sources: Iterable[Sketch]) -> float:
        """Return the estimated share of the runs of this text that are excerpts of other texts, from 0 to 1.

        A source of which this text has half or more is not a source, but a text of the same form. Runs that several
        sources have are not excerpts either. The result is 0 if too few runs can be compared.
        """
        longer = [source for source in sources if source.containment(self) < _EXCERPT_SHARE]
        limit = max((source.limit for source in longer), default=0)
        counts = Counter(number for source in longer for number in source.numbers)
        own = [number for number in self.numbers if number <= limit and counts[number] < _COMMON]
        return sum(counts[number] for number in own) / len(own) if len(own) >= _MIN_COMPARED else 0.0


class SketchIndex:
    """Index of sketches by name."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._sketches: dict[str, Sketch] = {}
        self._names: defaultdict[int, list[str]] = defaultdict(list)

    def add(self, name: str, sketch: Sketch) -> None:
        """Add the sketch of one text."""
        self._sketches[name] = sketch
        for number in sketch.numbers[:_LOOKUP_SIZE]:
            self._names[number].append(name)

    def find_nearest(self, sketch: Sketch) -> tuple[str, float]:
        """Return the name of the most similar text and its similarity, or an empty text and 0."""
        names = {name: None for number in sketch.numbers[:_LOOKUP_SIZE] for name in self._names.get(number, ())}
        found = [(sketch.similarity(self._sketches[name]), name) for name in names]
        similarity, name = max(found, key=lambda one: one[0], default=(0.0, ""))
        return name, similarity
