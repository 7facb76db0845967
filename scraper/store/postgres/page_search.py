"""Full-text search of the pages in PostgreSQL, with one hit and its best snippet for each URL."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

import asyncpg

from scraper.model import PageHit, PageHits, Reading
from scraper.store.fulltext.query import CacheQuery, parse_query
from scraper.store.fulltext.query_tree import (
    COLUMN_NAMES,
    AllOf,
    AnyOf,
    Excluding,
    InColumns,
    Near,
    PhraseSequence,
    QueryNode,
    QueryTerm,
)
from scraper.store.fulltext.snippets import FIRST_RANKED, make_hit
from scraper.store.postgres import page_queries
from scraper.store.postgres.lexemes import LexemeTokenizer
from scraper.store.postgres.ranking import DocumentFrequencies, PostgresHit, rank_pages
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.tsquery import TsQuery, make_tsquery, split_phrase
from scraper.store.serialization import decompress_reading, make_storable, searchable_text
from scraper.store.sqlite.ranking import RANKED_LIMIT

_READ_AT_ONCE = 50
"""Pages fetched together to check their text or to make their snippets."""


@dataclass(frozen=True, slots=True)
class PageSearchSession:
    """Thread that processes texts, with its tokenizer and the cached document frequencies."""

    thread: Executor
    lexer: LexemeTokenizer
    frequencies: DocumentFrequencies = field(default_factory=DocumentFrequencies)


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
    tsquery = await loop.run_in_executor(session.thread, make_tsquery, parsed.tree, session.lexer)
    owners = await page_queries.list_valid_owners(connection, principal, allowed)
    if not tsquery.conditions or not owners:
        return PageHits((), parsed.note)
    ranked_count = RANKED_LIMIT if tsquery.has_near else limit * FIRST_RANKED
    while True:
        ranked = await rank_pages(connection, tsquery, owners, ranked_count, session.frequencies)
        found = await _load_hits(connection, ranked, owners, parsed, tsquery, limit, session)
        if len(found) == limit or len(ranked) < ranked_count or ranked_count >= RANKED_LIMIT:
            return PageHits(tuple(found), parsed.note)
        ranked_count = min(ranked_count * FIRST_RANKED, RANKED_LIMIT)


async def _load_hits(
    connection: Connection,
    hits: list[PostgresHit],
    owners: list[int],
    query: CacheQuery,
    tsquery: TsQuery,
    limit: int,
    session: PageSearchSession,
) -> list[PageHit]:
    """Return the first hits of distinct URLs that match the query."""
    loop = asyncio.get_running_loop()
    found: dict[str, PageHit] = {}
    # As many as requested, or more at once if most of them may not match.
    count = _READ_AT_ONCE if tsquery.has_near else limit
    while hits and len(found) < limit:
        batch, hits = hits[:count], hits[count:]
        # The owner is checked again: ranking does not see a principal that has just stored its first page.
        rows = await connection.fetch(
            "SELECT id, url, reading FROM pages WHERE id = ANY($1) AND owner = ANY($2)",
            [hit.number for hit in batch],
            owners,
        )
        rows_by_id = {row["id"]: row for row in rows}
        known = frozenset(found)
        for hit in await loop.run_in_executor(
            session.thread, _make_hits, batch, rows_by_id, known, query, tsquery, session.lexer
        ):
            found.setdefault(hit.url, hit)
    return list(found.values())[:limit]


def _make_hits(
    hits: Sequence[PostgresHit],
    rows_by_id: Mapping[int, asyncpg.Record],
    known: frozenset[str],
    query: CacheQuery,
    tsquery: TsQuery,
    lexer: LexemeTokenizer,
) -> list[PageHit]:
    """Return hits for pages; skip `known` URLs and pages whose text does not match exactly."""
    found: dict[str, PageHit] = {}
    for hit in hits:
        row = rows_by_id.get(hit.number)
        if row is None or row["url"] in known or row["url"] in found:
            continue
        reading = decompress_reading(row["reading"])
        if reading is None:
            continue
        is_uncertain = tsquery.has_near or (tsquery.counts_positions and hit.is_long)
        if is_uncertain and query.tree is not None and not _matches_text(reading, query.tree, lexer):
            continue
        found[row["url"]] = make_hit(reading, query, hit.score)
    return list(found.values())


def _matches_text(reading: Reading, tree: QueryNode, lexer: LexemeTokenizer) -> bool:
    title, text = make_storable(reading.document.title or ""), searchable_text(reading.document)
    return matches_query(tree, {"title": lexer.split_text(title), "text": lexer.split_text(text)}, lexer)


Columns = Mapping[str, Sequence[str]]
"""Words of each column in order."""


def matches_query(
    node: QueryNode, columns: Columns, lexer: LexemeTokenizer, in_columns: frozenset[str] = COLUMN_NAMES
) -> bool:
    """Return True if a page matches a query by the rules of FTS5, where the index alone is not exact."""
    match node:
        case PhraseSequence():
            words = split_phrase(node, lexer)
            return any(_contains_phrase(words, columns[name], node.first) for name in in_columns)
        case Near():
            phrases = [found for term in node.terms if (found := split_phrase(term, lexer))]
            return any(_contains_near(phrases, columns[name], node.distance) for name in in_columns)
        case AllOf():
            return all(matches_query(part, columns, lexer, in_columns) for part in node.parts)
        case AnyOf():
            return any(matches_query(part, columns, lexer, in_columns) for part in node.parts)
        case InColumns():
            return matches_query(node.inner, columns, lexer, in_columns & node.columns)
        case Excluding():
            is_included = matches_query(node.included, columns, lexer, in_columns)
            return is_included and not matches_query(node.excluded, columns, lexer, in_columns)


def _contains_phrase(words: list[QueryTerm], text: Sequence[str], first: bool) -> bool:
    places = _find_phrase(words, text)
    return 0 in places[:1] if first else bool(places)


def _find_phrase(words: list[QueryTerm], text: Sequence[str]) -> list[int]:
    """Return the positions at which the words follow one another."""
    return [
        start
        for start in range(len(text) - len(words) + 1 if words else 0)
        if all(
            text[start + at].startswith(word.text) if word.prefix else text[start + at] == word.text
            for at, word in enumerate(words)
        )
    ]


def _contains_near(phrases: list[list[QueryTerm]], text: Sequence[str], distance: int) -> bool:
    """Return True if at most `distance` words separate the end of each phrase from the start of the last."""
    starts = [_find_phrase(words, text) for words in phrases]
    if not phrases or not all(starts):
        return False
    for last in sorted({start for places in starts for start in places}):
        lows = [last - len(words) - distance for words in phrases]
        # By bisection, since a page may contain a word 100,000 times.
        if all(bisect_left(places, low) < bisect_right(places, last) for low, places in zip(lows, starts, strict=True)):
            return True
    return False
