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
from scraper.store.postgres.document_frequencies import DocumentFrequencies
from scraper.store.postgres.lexemes import PROFILE_WORDS, fingerprint, owner_mark
from scraper.store.postgres.scan_windows import (
    SMALLEST,
    ScanShares,
    ScanWindow,
    back,
    first_size,
    next_size,
    shares,
)
from scraper.store.postgres.schema import Connection

LARGE, ENOUGH, ENOUGH_CHECKED = 50_000, 500, 100
"""In a cache of so many pages so few of the newest that match are worth weighing: see docs/store.md for what
more cost, and how many of the first hits were others with less. Of pages that must be looked into, fewer."""
CHECKED, CHECKING_S = 1_500, 1.0
"""Pages whose words' places are read in one step, 30 microseconds each, ten times that from the disk; and how
long another step is begun. In a million pages a phrase of frequent words took longer than anybody waits."""
SAMPLE = 200
"""Pages whose mean length stands for all."""
OTHERS_ASKED = 32
"""Other owners who are looked for; with so many, some of them have pages."""


@dataclass(frozen=True, slots=True)
class PostgresHit:
    """A page that matches."""

    number: int
    score: float
    is_long: bool


@dataclass(frozen=True, slots=True)
class RankedSearch:
    """What is looked for, in whose pages."""

    conditions: tuple[str, ...]
    """Each a `tsquery`."""
    ranked: tuple[str, ...]
    needed: frozenset[str]
    """Words that every hit holds."""
    owners: tuple[int, ...]
    counts_places: bool = False
    """Whether PostgreSQL must look into each page that the index names."""

    def within(self, window: ScanWindow, *, are_all: bool) -> list[str]:
        """Everything that hits of a window meet; the words come first, as they are on the fewest pages.

        `are_all`: nobody else has pages, and the index need not look whose they are.
        """
        marks = " | ".join(f"'{owner_mark(owner)}'" for owner in self.owners)
        return [*self.conditions, *window.conditions, *([] if are_all else [marks])]


async def hits(
    connection: Connection, search: RankedSearch, limit: int, counts: DocumentFrequencies
) -> list[PostgresHit]:
    """The best `limit` pages, best first."""
    extent = await _extent(connection, search.owners)
    newest, own = extent.newest, extent.own
    is_large = newest >= LARGE
    few = ENOUGH_CHECKED if search.counts_places else ENOUGH
    enough = few if is_large else WEIGHED
    asked = search.ranked if is_large or len(search.ranked) > 1 else ()
    known = await counts.of(connection, asked, newest, is_large=is_large)
    weights = [_weight(known[word], newest) if len(search.ranked) > 1 else 1.0 for word in search.ranked]
    words = [part for pair in zip(map(fingerprint, search.ranked), weights, strict=True) for part in pair]
    likely = shares(max(known[word], 1.0) / newest for word in search.needed if word in known)
    most = _most_pages(search, likely)
    window = back(own + 1, min(first_size(enough, likely), most))
    until = time.monotonic() + (CHECKING_S if search.counts_places else math.inf)
    found: list[PostgresHit] = []
    seen = 0
    while True:
        conditions = search.within(window, are_all=extent.is_sole)
        statement = _statement(len(search.ranked), len(conditions))
        rows = await connection.fetch(
            statement, window.high, WEIGHED - seen, limit, extent.usual, *words, *conditions
        )
        found += [PostgresHit(row["id"], row["score"], row["is_long"]) for row in rows]
        seen += rows[0]["matching"] if rows else 0
        if window.low <= 0 or seen >= enough or time.monotonic() >= until:
            break
        window = back(window.low, min(next_size(enough, seen, own + 1 - window.low, likely), most))
    found.sort(key=lambda hit: (-hit.score, -hit.number))
    return found[:limit]


@dataclass(frozen=True, slots=True)
class _Extent:
    """How the table stands for a search."""

    newest: int
    """The newest page's number."""
    own: int
    """That of the newest of these owners."""
    usual: float
    """Words of a page."""
    is_sole: bool
    """Whether nobody else is known to have pages; somebody may put his first at this moment."""


async def _extent(connection: Connection, owners: Sequence[int]) -> _Extent:
    row = await connection.fetchrow(_EXTENT, list(owners))
    assert row is not None
    return _Extent(int(row[0]), int(row[2]), max(1.0, float(row[1])), bool(row[3]))


# Its bounds stand in it as they are: not knowing them, the database would plan it anew for each search.
_EXTENT = f"""
    SELECT coalesce(max(id), 0), coalesce(avg(length), 1)::float8,
        (SELECT coalesce(max(own.id), 0) FROM unnest($1::int[]) AS o (owner) CROSS JOIN LATERAL
            (SELECT id FROM pages WHERE pages.owner = o.owner ORDER BY id DESC LIMIT 1) own),
        (SELECT count(*) < {OTHERS_ASKED} AND NOT coalesce(bool_or(others.has_pages), false) FROM
            (SELECT EXISTS (SELECT 1 FROM pages WHERE pages.owner = owners.id) AS has_pages
            FROM owners WHERE id <> ALL ($1::int[]) LIMIT {OTHERS_ASKED}) others)
    FROM (SELECT id, length FROM words ORDER BY id DESC LIMIT {SAMPLE}) newest
"""


def _most_pages(search: RankedSearch, likely: ScanShares | None) -> float:
    """How many pages may be looked through in one step."""
    if not search.counts_places:
        return math.inf
    return CHECKED / likely.expected if likely else SMALLEST


def _weight(count: float, pages: int) -> float:
    """How telling a word is: BM25's inverse document frequency, never negative."""
    count = min(count, COUNTED)
    return math.log(1 + (max(pages, count) - count + 0.5) / (count + 0.5))


def _statement(words: int, conditions: int) -> str:
    """The best of the newest that match; from $5 on each word's fingerprint and weight, then conditions."""
    places = "".join(f", position(${5 + 2 * at} IN counts) AS p{at}" for at in range(words))
    counts = "".join(
        f", CASE WHEN p{at} > 0 THEN get_byte(counts, p{at} + 2) ELSE unknown END::float8 AS n{at}"
        for at in range(words)
    )
    score = " + ".join(f"${6 + 2 * at}::float8 * n{at} * {K1 + 1} / (n{at} + norm)" for at in range(words))
    norm = f"{K1} * ({1 - B} + {B} * length / $4::float8) AS norm"
    unknown = f"CASE WHEN octet_length(counts) > {4 * PROFILE_WORDS} THEN 1 ELSE 0 END AS unknown"
    matches = " AND ".join(f"vector @@ ${5 + 2 * words + at}::text::tsquery" for at in range(conditions))
    # OFFSET 0: each step is computed once, where the planner would write it out wherever it is used.
    # The newest are chosen by their places alone: to sort whole rows took a third of a frequent word's time.
    # How many they are is counted when their rows are narrow, as each is copied for it.
    return f"""
        SELECT id, is_long, count(*) OVER () AS matching, {score or "0::float8"} AS score FROM (
            SELECT id, is_long, {norm}{counts} FROM (
                SELECT id, is_long, length, counts, {unknown}{places}
                FROM words WHERE ctid = ANY(ARRAY(
                    SELECT ctid FROM words WHERE {matches} AND id < $1 ORDER BY id DESC LIMIT $2
                )) OFFSET 0
            ) placed OFFSET 0
        ) counted ORDER BY score DESC, id DESC LIMIT $3
    """
