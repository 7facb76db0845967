"""Texts made of invented words in the proportions of a natural language, and queries for them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

_WORDS = 60_000
_LETTERS = "etaoinshrdlucmfwypvbgk"


class MadeTexts:
    """A language of 60,000 words whose frequencies follow Zipf's law; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        chosen = random.Random(seed)
        words: dict[str, None] = {}
        while len(words) < _WORDS:
            words["".join(chosen.choices(_LETTERS, k=chosen.randint(3, 11)))] = None
        self.words = list(words)
        self._numbers = np.random.default_rng(seed)
        self._chosen = chosen
        shares = 1 / np.arange(1, _WORDS + 1)
        self._limits = np.cumsum(shares / shares.sum())

    def begin_at(self, seed: int) -> None:
        """Go on with other texts of the same language."""
        self._numbers = np.random.default_rng(seed)
        self._chosen = random.Random(seed)

    def text(self, words: int) -> str:
        """Return a text of this many words."""
        places = np.searchsorted(self._limits, self._numbers.random(words))
        return " ".join([self.words[place] for place in np.minimum(places, _WORDS - 1).tolist()])

    def page(self, characters: int) -> str:
        """Return a text of about this many characters."""
        return self.text(characters // 6)[:characters]

    def queries(self, count: int) -> Iterator[str]:
        """One to three words as often as they are in texts, function words too: what is asked is not rare."""
        for _ in range(count):
            yield self.text(self._chosen.choice((1, 2, 3)))
