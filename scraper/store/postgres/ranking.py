"""BM25 ranking of the newest matching pages, in bounded time for any words.

PostgreSQL's index returns all matching pages at once and without counts. Therefore the newest pages are searched
first, block by block, until enough have matched. Word counts are stored in a column of their own. docs/store.md
describes the alternatives that were tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cachetools import TTLCache

from scraper.store.postgres.lexemes import BLOCK_LEVELS, COUNTED_WORDS, fingerprint, make_owner_mark, make_window_mark
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.tsquery import TsQuery, make_word_condition
from scraper.store.sqlite.ranking import BM25_B, BM25_K1, COUNT_LIMIT, RANKED_LIMIT
from scraper.text.terms import inverse_document_frequency

SMALLEST_WINDOW = 1 << BLOCK_LEVELS[0]
"""Pages searched first if nothing is known about the words."""
SURE_MATCHES = 8
"""Matches. Fewer are not enough to estimate the frequency of a word."""
_MARGIN = 1.3
"""Factor by which a window exceeds its estimate, so that no second step is needed for the last few pages."""
_MAX_GROWTH = 4
"""Factor of the pages already searched that limits the next step."""
_PARTS = 4
"""Divisor of a window. Blocks are at most this part of it, because up to one block is read beyond its end."""
_MARKS = 64
"""Marks in one condition: a hundred million pages have too many blocks to list."""


@dataclass(frozen=True, slots=True)
class ScanWindow:
    """Page numbers from `low` to below `high`."""

    low: int
    high: int
    conditions: tuple[str, ...]
    """Condition for the index: one `tsquery`, or none for all pages."""


def make_window(high: int, pages: float) -> ScanWindow:
    """Return a window of at least `pages` numbers below `high`, or of all that exist.

    It may contain higher numbers of the newest block.
    """
    part = max([level for level in BLOCK_LEVELS if _PARTS << level <= pages], default=BLOCK_LEVELS[0])
    low = max(0, int(high - pages) >> part << part)
    at = -(-high >> BLOCK_LEVELS[0]) << BLOCK_LEVELS[0]
    marks: list[str] = []
    while at > low:
        level = max(level for level in BLOCK_LEVELS if not at % (1 << level) and at - (1 << level) >= low)
        at -= 1 << level
        marks.append(f"'{make_window_mark(level, at >> level)}'")
        if len(marks) > _MARKS:
            return ScanWindow(0, high, ())
    return ScanWindow(low, high, (" | ".join(marks),))


ScanShares = tuple[float, float]
"""Expected share of the pages with all words that every hit contains, and the share of the rarest of these words."""


def estimate_shares(word_shares: Iterable[float]) -> ScanShares | None:
    """Return the shares of pages that match, or None if no word's share is known.

    The words are taken as independent. More pages than contain the rarest word cannot match.
    """
    known = list(word_shares)
    return (math.prod(known), min(known)) if known else None


def estimate_first_size(enough: int, shares: ScanShares | None) -> float:
    """Return how many of the newest pages to search first.

    The size is limited so that not more pages match than are ranked, even if the words always occur together.
    """
    if shares is None:
        return SMALLEST_WINDOW
    expected, largest = shares
    return min(_MARGIN * enough / expected, RANKED_LIMIT / largest)


def estimate_next_size(enough: int, match_count: int, scanned: int, shares: ScanShares | None) -> float:
    """Return how many more pages to search, from the matches found so far.

    The size is limited, since matches so far say little if the newest pages belong to other principals.
    """
    farthest = _MAX_GROWTH * scanned
    if match_count >= SURE_MATCHES:
        return min(_MARGIN * (enough - match_count) * scanned / match_count, farthest)
    return max(farthest, RANKED_LIMIT / shares[1]) if shares else farthest


_CACHED_S = 600.0
"""Seconds for which the counts of a large cache are reused."""
_CACHED_WORDS = 20_000
_COUNTED_IN = (SMALLEST_WINDOW, 32 * SMALLEST_WINDOW, math.inf)
"""Sizes, in pages, of the windows of newest pages in which words are counted; larger ones for rare words."""


class DocumentFrequencies:
    """Cached numbers of pages per word; counting takes as long as searching."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._cached: TTLCache[str, float] = TTLCache(_CACHED_WORDS, _CACHED_S, timer=time.monotonic)

    async def fetch(
        self, connection: Connection, words: Sequence[str], newest: int, *, is_large: bool
    ) -> dict[str, float]:
        """Return the number of pages of each word; counts of a small cache are not reused: they change fast."""
        if not is_large:
            self._cached.clear()
        known = {word: count for word in words if (count := self._cached.get(word)) is not None}
        counts = await _count_words(connection, [word for word in words if word not in known], newest)
        self._cached.update(counts)
        return known | counts


async def _count_words(connection: Connection, words: Sequence[str], newest: int) -> dict[str, float]:
    """Return the number of pages of each word, estimated from the newest pages."""
    counts: dict[str, float] = {}
    uncertain = list(words)
    for pages in _COUNTED_IN:
        if not uncertain:
            break
        window = make_window(newest + 1, min(pages, newest + 1))
        found = dict(zip(uncertain, await _count_in_window(connection, uncertain, window), strict=True))
        counts |= {word: count * newest / (window.high - window.low) for word, count in found.items()}
        uncertain = [word for word, count in found.items() if count < SURE_MATCHES and window.low > 0]
    return counts


async def _count_in_window(connection: Connection, words: Sequence[str], window: ScanWindow) -> list[int]:
    make_conditions = "".join(f" AND vector @@ ${1 + at}::text::tsquery" for at in range(len(window.conditions)))
    first = 1 + len(window.conditions)
    # One count per word: the database would not know the length of a list and would plan each time again.
    each = [
        f"(SELECT count(*) FROM words WHERE vector @@ ${first + at}::text::tsquery{make_conditions})"
        for at in range(len(words))
    ]
    row = await connection.fetchrow(f"SELECT {', '.join(each)}", *window.conditions, *map(make_word_condition, words))
    assert row is not None
    return [int(count) for count in row.values()]


LARGE, ENOUGH_MATCHES, ENOUGH_CHECKED_MATCHES = 50_000, 500, 100
"""In a cache of `LARGE` pages, ranking stops after this many matches, fewer if positions must be read. docs/store.md
has the cost of more, and how many of the first hits change."""
CHECKED_LIMIT, CHECK_LIMIT_S = 1_500, 1.0
"""Pages whose word positions are read in one step, and seconds during which further steps begin. A page takes 30
microseconds, ten times that from the disk. In a million pages, a phrase of frequent words took too long."""
_SAMPLE = 200
"""Newest pages from which the mean length is computed."""
_OTHERS_LIMIT = 32
"""Other owners that are checked for pages; with more, some are assumed to have pages."""


@dataclass(frozen=True, slots=True)
class PostgresHit:
    """Number and score of a page that matches."""

    number: int
    score: float
    is_long: bool


async def rank_pages(
    connection: Connection, query: TsQuery, owners: Sequence[int], limit: int, frequencies: DocumentFrequencies
) -> list[PostgresHit]:
    """Return the best `limit` pages among the newest matches of the owners, best first."""
    # `newest` and `own` are the numbers of the newest page of all and of these owners. `is_sole` is true if no other
    # owner is known to have pages; one may store its first page at this moment.
    extent = await connection.fetchrow(_EXTENT, list(owners))
    assert extent is not None
    newest, mean_length, own, is_sole = extent
    marks = [] if is_sole else [" | ".join(f"'{make_owner_mark(owner)}'" for owner in owners)]
    is_large = newest >= LARGE
    few = ENOUGH_CHECKED_MATCHES if query.counts_positions else ENOUGH_MATCHES
    enough = few if is_large else RANKED_LIMIT
    counted_words = query.ranked if is_large or len(query.ranked) > 1 else ()
    page_counts = await frequencies.fetch(connection, counted_words, newest, is_large=is_large)
    weights = [_compute_weight(page_counts[word], newest) if len(query.ranked) > 1 else 1.0 for word in query.ranked]
    words = [part for pair in zip(map(fingerprint, query.ranked), weights, strict=True) for part in pair]
    shares = estimate_shares(max(page_counts[word], 1.0) / newest for word in query.needed if word in page_counts)
    max_pages = math.inf
    if query.counts_positions:
        max_pages = CHECKED_LIMIT / shares[0] if shares else SMALLEST_WINDOW
    window = make_window(own + 1, min(estimate_first_size(enough, shares), max_pages))
    until = time.monotonic() + (CHECK_LIMIT_S if query.counts_positions else math.inf)
    found: list[PostgresHit] = []
    match_count = 0
    while True:
        # Words come first, since they match the fewest pages.
        conditions = [*query.conditions, *window.conditions, *marks]
        statement = _make_statement(len(query.ranked), len(conditions))
        rows = await connection.fetch(
            statement, window.high, RANKED_LIMIT - match_count, limit, mean_length, *words, *conditions
        )
        found += [PostgresHit(row["id"], row["score"], row["is_long"]) for row in rows]
        match_count += rows[0]["matching"] if rows else 0
        if window.low <= 0 or match_count >= enough or time.monotonic() >= until:
            break
        window = make_window(
            window.low, min(estimate_next_size(enough, match_count, own + 1 - window.low, shares), max_pages)
        )
    found.sort(key=lambda hit: (-hit.score, -hit.number))
    return found[:limit]


# Bounds are literals: with parameters, the database would plan the statement again for each search.
_EXTENT = f"""
    SELECT coalesce(max(id), 0), greatest(coalesce(avg(length), 1), 1)::float8,
        (SELECT coalesce(max(own.id), 0) FROM unnest($1::int[]) AS o (owner) CROSS JOIN LATERAL
            (SELECT id FROM pages WHERE pages.owner = o.owner ORDER BY id DESC LIMIT 1) own),
        (SELECT count(*) < {_OTHERS_LIMIT} AND NOT coalesce(bool_or(others.has_pages), false) FROM
            (SELECT EXISTS (SELECT 1 FROM pages WHERE pages.owner = owners.id) AS has_pages
            FROM owners WHERE id <> ALL ($1::int[]) LIMIT {_OTHERS_LIMIT}) others)
    FROM (SELECT id, length FROM words ORDER BY id DESC LIMIT {_SAMPLE}) newest
"""


def _compute_weight(count: float, pages: int) -> float:
    """Return BM25's inverse document frequency of a word, never negative."""
    count = min(count, COUNT_LIMIT)
    return inverse_document_frequency(count, max(pages, count))


def _make_statement(words: int, conditions: int) -> str:
    """Return the statement that ranks the newest matches.

    Parameters from $5 on are fingerprint and weight of each word, then the conditions.
    """
    places = "".join(f", position(${5 + 2 * at} IN counts) AS p{at}" for at in range(words))
    counts = "".join(
        f", CASE WHEN p{at} > 0 THEN get_byte(counts, p{at} + 2) ELSE unknown END::float8 AS n{at}"
        for at in range(words)
    )
    score = " + ".join(f"${6 + 2 * at}::float8 * n{at} * {BM25_K1 + 1} / (n{at} + norm)" for at in range(words))
    norm = f"{BM25_K1} * ({1 - BM25_B} + {BM25_B} * length / $4::float8) AS norm"
    unknown = f"CASE WHEN octet_length(counts) > {4 * COUNTED_WORDS} THEN 1 ELSE 0 END AS unknown"
    matches = " AND ".join(f"vector @@ ${5 + 2 * words + at}::text::tsquery" for at in range(conditions))
    # OFFSET 0: each step is computed once; otherwise the planner would inline it wherever it is used. The newest are
    # selected by ctid alone: sorting whole rows took a third of a frequent word's time. They are counted when their
    # rows are narrow, since each row is copied for it.
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
