"""Generate texts of invented words with the word frequencies of a natural language, and queries for them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

_WORDS = 60_000
_LETTERS = "etaoinshrdlucmfwypvbgk"


class SyntheticTexts:
    """Invented language of 60,000 words whose frequencies follow Zipf's law; determined by the seed."""

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
        """Continue with other texts of the same language."""
        self._numbers = np.random.default_rng(seed)
        self._chosen = random.Random(seed)

    def text(self, words: int) -> str:
        """Return a text of this many words."""
        ranks = np.searchsorted(self._limits, self._numbers.random(words))
        return " ".join([self.words[rank] for rank in np.minimum(ranks, _WORDS - 1).tolist()])

    def page(self, characters: int) -> str:
        """Return a text of about this many characters."""
        return self.text(characters // 6)[:characters]

    def queries(self, count: int) -> Iterator[str]:
        """Yield queries of one to three words, as frequent as in the texts, function words included."""
        for _ in range(count):
            yield self.text(self._chosen.choice((1, 2, 3)))
