"""Finds kept pages by their words: one hit a page, with its best passage."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

import asyncpg

from scraper.model import PageHit, PageHits, Reading
from scraper.store.fulltext.query import CacheQuery, parse
from scraper.store.fulltext.ranking import WEIGHED
from scraper.store.postgres import page_rows
from scraper.store.postgres.document_filters import matches
from scraper.store.postgres.document_frequencies import DocumentFrequencies
from scraper.store.postgres.lexemes import Lexer
from scraper.store.postgres.ranking import PostgresHit, RankedSearch, hits
from scraper.store.postgres.schema import Connection
from scraper.store.postgres.tsquery import TsQuery, asked
from scraper.store.sqlite.page_rows import searched_text
from scraper.store.sqlite.page_search import FIRST_LOOK, hit_of

READ_AT_ONCE = 50
"""Pages fetched together, to look at them or to show their passages."""


@dataclass(frozen=True, slots=True)
class PageSearchSession:
    """Where texts are read: a thread, its tokenizer, and what was learnt of words."""

    thread: Executor
    cutter: Lexer
    counts: DocumentFrequencies = field(default_factory=DocumentFrequencies)


async def search(
    connection: Connection,
    *,
    query: str,
    principal: str,
    allowed: frozenset[str],
    limit: int,
    desk: PageSearchSession,
) -> PageHits:
    """The pages of one principal that hold what is asked for, best first, each page once."""
    loop = asyncio.get_running_loop()
    wanted = parse(query)
    question = await loop.run_in_executor(desk.thread, asked, wanted.tree, desk.cutter)
    owners = await page_rows.valid_owners(connection, principal, allowed)
    if not question.conditions or not owners:
        return PageHits((), wanted.note)
    wish = RankedSearch(
        question.conditions, question.ranked, question.needed, tuple(owners), question.counts_places
    )
    look = WEIGHED if question.is_near else limit * FIRST_LOOK
    while True:
        ranked = await hits(connection, wish, look, desk.counts)
        found = await _shown(connection, ranked, owners, wanted, question, limit, desk)
        if len(found) == limit or len(ranked) < look or look >= WEIGHED:
            return PageHits(tuple(found), wanted.note)
        look = min(look * FIRST_LOOK, WEIGHED)


async def _shown(
    connection: Connection,
    ranked: list[PostgresHit],
    owners: list[int],
    wanted: CacheQuery,
    question: TsQuery,
    limit: int,
    desk: PageSearchSession,
) -> list[PageHit]:
    """The first hits of different addresses that are what was asked for."""
    loop = asyncio.get_running_loop()
    found: dict[str, PageHit] = {}
    # As many as are wanted; more at once where most may turn out to be nothing.
    count = READ_AT_ONCE if question.is_near else limit
    while ranked and len(found) < limit:
        part, ranked = ranked[:count], ranked[count:]
        # The owner once more: ranking may have looked over somebody who has just put his first page.
        rows = await connection.fetch(
            "SELECT id, url, reading FROM pages WHERE id = ANY($1) AND owner = ANY($2)",
            [hit.number for hit in part],
            owners,
        )
        kept = {row["id"]: row for row in rows}
        known = frozenset(found)
        for hit in await loop.run_in_executor(
            desk.thread, _read, part, kept, known, wanted, question, desk.cutter
        ):
            found.setdefault(hit.url, hit)
    return list(found.values())[:limit]


def _read(
    ranked: Sequence[PostgresHit],
    kept: Mapping[int, asyncpg.Record],
    known: frozenset[str],
    wanted: CacheQuery,
    question: TsQuery,
    cutter: Lexer,
) -> list[PageHit]:
    """What of these pages is shown; nothing of those that only looked like hits, or that are `known`."""
    found: dict[str, PageHit] = {}
    for hit in ranked:
        row = kept.get(hit.number)
        if row is None or row["url"] in known or row["url"] in found:
            continue
        reading = page_rows.reading_of(row["reading"])
        if reading is None:
            continue
        uncertain = question.is_near or (question.counts_places and hit.is_long)
        if uncertain and not _is_meant(reading, wanted, cutter):
            continue
        found[row["url"]] = hit_of(reading, wanted, hit.score)
    return list(found.values())


def _is_meant(reading: Reading, wanted: CacheQuery, cutter: Lexer) -> bool:
    assert wanted.tree is not None
    columns = {
        "title": cutter.document(page_rows.storable(reading.document.title or "")),
        "text": cutter.document(page_rows.storable(searched_text(reading.document))),
    }
    return matches(wanted.tree, columns, cutter)
