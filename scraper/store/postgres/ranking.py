"""BM25 over the newest pages that match, in bounded time whatever the words are.

PostgreSQL's index says which pages match, all of them at once and without counts. So it is asked for the
newest pages first, block by block, until there are as many as are worth weighing; how often each word stands
in them is a column of its own. See docs/store.md for what else was tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from scraper.store.fulltext.ranking import COUNTED, K1, WEIGHED, B
from scraper.store.postgres.lexemes import LEVELS, PROFILE_WORDS, fingerprint, window_mark
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.tsquery import either_column

__all__ = ["Counts", "Hit", "Search", "hits"]

LARGE, ENOUGH = 50_000, 150
"""In a cache of so many pages so few of the newest that match are worth weighing: there words' shares change
slowly, and reading the others was two thirds of a search of a million pages."""
SURE = 8
"""Fewer matches than this say only that there are few."""
REMEMBERED_S, REMEMBERED_WORDS = 600.0, 20_000
"""How long, and how many, words' counts are believed in a large cache."""
SAMPLE = 200
"""Pages whose mean length stands for all."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that matches."""

    number: int
    score: float
    url: str
    is_long: bool


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, in whose pages."""

    condition: str
    ranked: tuple[str, ...]
    owners: str
    """A condition for the owner's mark."""


@dataclass(frozen=True, slots=True)
class _Window:
    """Some numbers of pages: from `low` on, below `high`."""

    low: int
    high: int
    blocks: tuple[str, ...]
    """The marks of the blocks that hold them; none for all that is older."""

    def condition(self) -> str:
        return f" & ({' | '.join(_quoted(block) for block in self.blocks)})" if self.blocks else ""


class Counts:
    """On how many pages words stand, as they were counted of late: to count takes half of a search's time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, float]] = {}
        """By word: its count, and when it was made."""

    async def of(
        self, connection: Connection, words: Sequence[str], window: _Window, newest: int
    ) -> list[float]:
        """The words' counts among all pages."""
        now = time.monotonic()
        if newest < LARGE or len(self._known) > REMEMBERED_WORDS:
            self._known.clear()
        unknown = [word for word in words if now - self._known.get(word, _NEVER)[1] > REMEMBERED_S]
        counted = await _counted(connection, unknown, window, newest) if unknown else []
        known = self._known | {word: (count, now) for word, count in zip(unknown, counted, strict=True)}
        self._known = known
        return [known[word][0] for word in words]


_NEVER = (0.0, -math.inf)


async def hits(connection: Connection, search: Search, limit: int, counts: Counts) -> list[Hit]:
    """The best `limit` pages, best first."""
    newest, usual = await _extent(connection)
    window = _window(newest + 1, LEVELS[0])
    weights = await _weights(connection, search.ranked, window, newest, counts)
    statement = _statement(len(weights))
    found: list[Hit] = []
    seen = 0
    while True:
        rows = await connection.fetch(
            statement,
            f"({search.condition}) & {search.owners}{window.condition()}",
            window.high,
            WEIGHED - seen,
            limit,
            usual,
            *(
                value
                for word, weight in zip(search.ranked, weights, strict=True)
                for value in (fingerprint(word), weight)
            ),
        )
        found += [Hit(row["id"], row["score"], row["url"], row["is_long"]) for row in rows]
        seen += rows[0]["matching"] if rows else 0
        looked = newest + 1 - window.low
        if window.low <= 1 or seen >= (ENOUGH if newest >= LARGE else WEIGHED):
            break
        window = _window(window.low, _next_level(seen, looked))
    found.sort(key=lambda hit: (-hit.score, -hit.number))
    return found[:limit]


async def _extent(connection: Connection) -> tuple[int, float]:
    """The newest page's number, and how long pages are."""
    row = await connection.fetchrow(
        "SELECT coalesce(max(id), 0), coalesce(avg(length), 1)::float8 FROM "
        "(SELECT id, length FROM words ORDER BY id DESC LIMIT $1) newest",
        SAMPLE,
    )
    assert row is not None
    return int(row[0]), max(1.0, float(row[1]))


def _window(high: int, level: int | None) -> _Window:
    """What is older than `high`: a whole block of a level, and what there is of the next; or everything."""
    if level is None:
        return _Window(0, high, ())
    last = (high - 1) >> level
    blocks = tuple(window_mark(level, block) for block in (last, last - 1) if block >= 0)
    return _Window(max(0, last - 1) << level, high, blocks)


def _next_level(seen: int, looked: int) -> int | None:
    """How far back to go: as far as the rest should be, going by what was seen; None for everything.

    One level at a time, or two: where the newest pages are mostly others', what was seen says little. In a
    million pages below 3,000 of another owner 60,000 that match were read to weigh 1,500 of them.
    """
    wanted = (WEIGHED - seen) * looked / seen if seen else looked * 8
    nearest = looked if seen >= SURE else looked * 4
    return _level(min(max(wanted, looked), nearest))


def _level(size: float) -> int | None:
    return next((level for level in LEVELS[1:] if 1 << level >= size), None)


async def _weights(
    connection: Connection, words: Sequence[str], window: _Window, newest: int, counts: Counts
) -> list[float]:
    """How telling each word is: BM25's inverse document frequency, never negative."""
    if len(words) < 2:
        return [1.0] * len(words)
    known = await counts.of(connection, words, window, newest)
    return [_weight(min(count, COUNTED), newest) for count in known]


async def _counted(connection: Connection, words: Sequence[str], window: _Window, newest: int) -> list[float]:
    """Each word's pages, going by those of a window; where there are none, by all."""
    size = newest + 1 - window.low
    counts = await _counts(connection, words, window.condition())
    every = [count * newest / size for count in counts]
    rare = [word for word, count in zip(words, counts, strict=True) if not count]
    if rare and window.low > 1:
        known = iter(await _counts(connection, rare, ""))
        every = [count or next(known) for count in every]
    return every


def _weight(count: float, pages: int) -> float:
    return math.log(1 + (max(pages, count) - count + 0.5) / (count + 0.5))


async def _counts(connection: Connection, words: Sequence[str], condition: str) -> list[int]:
    """On how many pages each word stands, among those of a window."""
    rows = await connection.fetch(
        "SELECT (SELECT count(*) FROM words WHERE vector @@ wanted::tsquery) "
        "FROM unnest($1::text[]) WITH ORDINALITY AS asked (wanted, at) ORDER BY at",
        [f"{either_column(word)}{condition}" for word in words],
    )
    return [int(row[0]) for row in rows]


def _statement(words: int) -> str:
    """The best of the newest matching pages; with a fingerprint and a weight for each word from $6 on."""
    places = "".join(f", position(${6 + 2 * at} IN counts) AS p{at}" for at in range(words))
    counts = "".join(
        f", CASE WHEN p{at} > 0 THEN get_byte(counts, p{at} + 2) ELSE unknown END::float8 AS n{at}"
        for at in range(words)
    )
    score = " + ".join(f"${7 + 2 * at}::float8 * n{at} * {K1 + 1} / (n{at} + norm)" for at in range(words))
    norm = f"{K1} * ({1 - B} + {B} * length / $5::float8) AS norm"
    unknown = f"CASE WHEN octet_length(counts) > {4 * PROFILE_WORDS} THEN 1 ELSE 0 END AS unknown"
    # OFFSET 0: each step is computed once, where the planner would write it out wherever it is used.
    return f"""
        SELECT best.id, best.score, best.matching, best.is_long, pages.url FROM (
            SELECT id, is_long, matching, {score or "0::float8"} AS score FROM (
                SELECT id, is_long, matching, {norm}{counts} FROM (
                    SELECT id, is_long, length, counts, count(*) OVER () AS matching, {unknown}{places}
                    FROM (
                        SELECT id, is_long, length, counts FROM words
                        WHERE vector @@ $1::text::tsquery AND id < $2 ORDER BY id DESC LIMIT $3
                    ) newest OFFSET 0
                ) placed OFFSET 0
            ) counted ORDER BY score DESC, id DESC LIMIT $4
        ) best JOIN pages USING (id) ORDER BY best.score DESC, best.id DESC
    """


def _quoted(mark: str) -> str:
    return f"'{mark}'"
