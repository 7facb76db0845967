"""On how many pages words stand: what makes them telling, and says how far back to look for them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from scraper.store.postgres.scan_windows import SMALLEST, SURE, ScanWindow, back
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.tsquery import either_column

REMEMBERED_S, REMEMBERED_WORDS = 600.0, 20_000
"""How long, and how many, words' counts are believed in a large cache."""
COUNTED_IN = (SMALLEST, 32 * SMALLEST, math.inf)
"""In so many of the newest pages a word is counted: in more when it is on few of them."""


class DocumentFrequencies:
    """Words' counts as they were made of late: to count them takes as long as to find them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, float]] = {}
        """By word: its count, and when it was made."""

    async def of(
        self, connection: Connection, words: Sequence[str], newest: int, *, is_large: bool
    ) -> dict[str, float]:
        """The words' counts among all pages; those of a small cache change too fast to be remembered."""
        now = time.monotonic()
        if not is_large or len(self._known) > REMEMBERED_WORDS:
            self._known = {}
        known = {word: self._known[word] for word in words if self._is_fresh(word, now)}
        counted = await _counted(connection, [word for word in words if word not in known], newest)
        known |= {word: (count, now) for word, count in counted.items()}
        self._known |= known
        return {word: count for word, (count, _) in known.items()}

    def _is_fresh(self, word: str, now: float) -> bool:
        return word in self._known and now - self._known[word][1] <= REMEMBERED_S


async def _counted(connection: Connection, words: Sequence[str], newest: int) -> dict[str, float]:
    """Each word's pages, going by those among the newest."""
    counted: dict[str, float] = {}
    unsure = list(words)
    for pages in COUNTED_IN:
        if not unsure:
            break
        window = back(newest + 1, min(pages, newest + 1))
        found = dict(zip(unsure, await _found(connection, unsure, window), strict=True))
        counted |= {word: count * newest / (window.high - window.low) for word, count in found.items()}
        unsure = [word for word, count in found.items() if count < SURE and window.low > 0]
    return counted


async def _found(connection: Connection, words: Sequence[str], window: ScanWindow) -> list[int]:
    """On how many pages of a window each word stands."""
    within = "".join(f" AND vector @@ ${1 + at}::text::tsquery" for at in range(len(window.conditions)))
    first = 1 + len(window.conditions)
    # One count for each word: of a list the database would not know how long it is, and plan each time anew.
    each = [
        f"(SELECT count(*) FROM words WHERE vector @@ ${first + at}::text::tsquery{within})"
        for at in range(len(words))
    ]
    row = await connection.fetchrow(
        f"SELECT {', '.join(each)}", *window.conditions, *map(either_column, words)
    )
    assert row is not None
    return [int(count) for count in row.values()]
