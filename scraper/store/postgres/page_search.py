"""Full-text search of the pages in PostgreSQL, with one hit and its best snippet for each URL.

PostgreSQL's index returns all matching pages at once and without counts. Therefore blocks of pages are searched, the
newest first, until enough pages match; they are ranked like those of SQLite. Word counts are stored in a column of
their own. docs/store.md describes the alternatives that were tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import asyncpg

from scraper.model import PageHit, PageHits
from scraper.store.fulltext.query import CacheQuery, parse_query
from scraper.store.fulltext.query_tree import QueryTerm
from scraper.store.fulltext.snippets import make_hit
from scraper.store.postgres import page_queries
from scraper.store.postgres.lexemes import (
    COUNTED_WORDS,
    LexemeTokenizer,
    fingerprint,
    make_owner_mark,
    make_windows,
    newest_window,
)
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.tsquery import TsQuery, make_tsquery, make_word_condition
from scraper.store.serialization import decompress_reading
from scraper.store.sqlite.ranking import COUNT_LIMIT, compute_score
from scraper.text.terms import inverse_document_frequency

RANKED_LIMIT = 500
"""Newest matches that are ranked. docs/store.md has the cost of more, and how many of the first hits change."""
CHECKED_LIMIT = 1_500
"""Newest pages with the words of a phrase whose positions are read, for each window. A page takes 30 microseconds, ten
times that from the disk."""
_SAMPLE = 200
"""Newest pages from which the mean length is computed."""
_READ_AT_ONCE = 50
"""Pages fetched together to check their text."""


@dataclass(frozen=True, slots=True)
class PageSearchSession:
    """Thread that processes texts, with its tokenizer."""

    thread: Executor
    lexer: LexemeTokenizer


@dataclass(frozen=True, slots=True)
class RankedPage:
    """Number and score of a page that matches."""

    number: int
    score: float
    is_long: bool


async def search_pages(
    connection: Connection,
    *,
    query: str,
    principal: str,
    allowed: frozenset[str],
    limit: int,
    session: PageSearchSession,
) -> PageHits:
    """Return the pages of one principal that match a query, best first, each URL once."""
    loop = asyncio.get_running_loop()
    parsed = parse_query(query)
    tsquery = await loop.run_in_executor(session.thread, make_tsquery, parsed, session.lexer)
    owners = await page_queries.list_valid_owners(connection, principal, allowed)
    ranked = await rank_newest(connection, tsquery, owners) if tsquery.words and owners else []
    found: dict[str, PageHit] = {}
    # As many as requested, or more at once if most of them may not match.
    count = _READ_AT_ONCE if tsquery.has_near else limit
    while ranked and len(found) < limit:
        batch, ranked = ranked[:count], ranked[count:]
        rows = await connection.fetch(
            "SELECT id, url, reading FROM pages WHERE id = ANY($1) AND owner = ANY($2)",
            [page.number for page in batch],
            owners,
        )
        rows_by_id = {row["id"]: row for row in rows}
        hits = await loop.run_in_executor(
            session.thread, _make_hits, batch, rows_by_id, frozenset(found), parsed, tsquery, session.lexer
        )
        for hit in hits:
            found.setdefault(hit.url, hit)
    return PageHits(tuple(found.values())[:limit], parsed.note)


def _make_hits(
    pages: Sequence[RankedPage],
    rows_by_id: Mapping[int, asyncpg.Record],
    known: frozenset[str],
    query: CacheQuery,
    tsquery: TsQuery,
    lexer: LexemeTokenizer,
) -> list[PageHit]:
    """Return hits for pages; skip `known` URLs and pages whose text does not match exactly."""
    readings = {
        page: reading
        for page in pages
        if (row := rows_by_id.get(page.number)) is not None
        and row["url"] not in known
        and (reading := decompress_reading(row["reading"])) is not None
    }
    uncertain = {
        page: reading.document
        for page, reading in readings.items()
        if tsquery.has_near or (tsquery.phrases and page.is_long)
    }
    wrong = uncertain.keys() - lexer.find_matching(uncertain, query.expression)
    hits: dict[str, PageHit] = {}
    for page in [page for page in readings if page not in wrong]:
        url = rows_by_id[page.number]["url"]
        if url not in hits:
            hits[url] = make_hit(readings[page], query, page.score)
    return list(hits.values())


async def rank_newest(connection: Connection, query: TsQuery, owners: Sequence[int]) -> list[RankedPage]:
    """Return the newest matches of the owners, best first."""
    extent = await connection.fetchrow(_EXTENT, list(owners))
    assert extent is not None
    newest, mean_length = extent
    weights = await _fetch_weights(connection, query.ranked, newest)
    statement = SqlStatementBuilder()
    counts = "".join(
        f", get_byte(counts, nullif(position({statement.bind(fingerprint(word), 'bytea')} IN counts), 0) + 2)"
        for word in query.ranked
    )
    matching = statement.match(*query.words, " | ".join(f"'{make_owner_mark(owner)}'" for owner in owners))
    phrases = statement.match(*query.phrases)
    branches = []
    for window in make_windows(newest):
        branch = _NEWEST.format(f"{matching} AND {statement.match(window)}", CHECKED_LIMIT if phrases else RANKED_LIMIT)
        if phrases:
            branch = f"(SELECT place FROM {branch} candidates WHERE {phrases} ORDER BY id DESC LIMIT {RANKED_LIMIT})"
        branches.append(f"(SELECT place FROM {branch} found)")
    # The newest are selected by ctid alone: sorting whole rows took a third of a frequent word's time. A later part of
    # the union is searched only if the earlier ones have too few matches.
    rows = await connection.fetch(
        f"""
        SELECT id, is_long, length, octet_length(counts) > {4 * COUNTED_WORDS} AS is_cut{counts}
        FROM words WHERE ctid = ANY(ARRAY(
            SELECT place FROM ({" UNION ALL ".join(branches)}) newest LIMIT {RANKED_LIMIT}
        ))
        """,
        *statement.values,
    )
    ranked = [
        RankedPage(
            number,
            compute_score(weights, [is_cut if count is None else count for count in counts], length / mean_length),
            is_long,
        )
        for number, is_long, length, is_cut, *counts in rows
    ]
    return sorted(ranked, key=lambda page: (-page.score, -page.number))


# The vector is copied out of the row only for phrases, which read it next.
_NEWEST = "(SELECT ctid AS place, id, vector FROM words WHERE {} ORDER BY id DESC LIMIT {})"
_EXTENT = f"""
    SELECT (SELECT coalesce(max(own.id), 0) FROM unnest($1::int[]) AS o (owner) CROSS JOIN LATERAL
            (SELECT id FROM pages WHERE pages.owner = o.owner ORDER BY id DESC LIMIT 1) own),
        greatest(coalesce(avg(length), 1), 1)::float8
    FROM (SELECT length FROM words ORDER BY id DESC LIMIT {_SAMPLE}) newest
"""


async def _fetch_weights(connection: Connection, words: Sequence[str], newest: int) -> list[float]:
    """Return BM25's inverse document frequencies of words, counted in the newest pages; 1 for a single word."""
    if len(words) < 2:
        return [1.0] * len(words)
    window, size = newest_window(newest)
    statement = SqlStatementBuilder()
    condition = statement.match(window)
    # One count per word: the database would not know the length of a list and would plan each time again.
    counts = [
        f"(SELECT count(*) FROM (SELECT 1 FROM words WHERE {statement.match(*make_word_condition(QueryTerm(word)))} "
        f"AND {condition} LIMIT {COUNT_LIMIT}) counted)"
        for word in words
    ]
    row = await connection.fetchrow(f"SELECT {', '.join(counts)}", *statement.values)
    assert row is not None
    return [inverse_document_frequency(count, max(size, count)) for count in row.values()]


class SqlStatementBuilder:
    """Parameters of a statement."""

    def __init__(self) -> None:
        """Begin without parameters."""
        self.values: list[Any] = []

    def bind(self, value: object, kind: str) -> str:
        """Add a parameter; return the text that stands for it."""
        self.values.append(value)
        return f"${len(self.values)}::{kind}"

    def match(self, *conditions: str) -> str:
        """Return a condition for pages that meet each `tsquery`."""
        return " AND ".join(f"vector @@ {self.bind(condition, 'text')}::tsquery" for condition in conditions)
