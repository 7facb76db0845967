"""Finds kept pages by their words: one hit a page, with its best passage."""

from __future__ import annotations

import json

import apsw

from scraper.model import PageHit, PageHits, Reading
from scraper.store.fulltext import ranking
from scraper.store.fulltext.query import CacheQuery, as_words, parse
from scraper.store.fulltext.snippets import best_passage
from scraper.store.protocols import PageEntry
from scraper.store.sqlite import page_rows

FIRST_LOOK = 4
"""Hits looked at for each that is wanted: a page may be there twice."""
_OWN = """
    EXISTS (
        SELECT 1 FROM pages WHERE principal = ? AND allowances IN (SELECT value FROM json_each(?))
        AND id = words.rowid
    )
"""


def search(
    connection: apsw.Connection, *, query: str, principal: str, allowed: frozenset[str], limit: int
) -> PageHits:
    """The pages of one principal that hold what is asked for, best first, each page once."""
    wanted = parse(query)
    only = _only(connection, principal, allowed)
    look = limit * FIRST_LOOK
    while True:
        try:
            ranked = ranking.hits(connection, "words", wanted, look, only)
        except apsw.SQLError as error:
            # What FTS5 refuses though we take it for its language costs nobody the cache.
            plain = as_words(query)
            if plain == wanted or not str(error).startswith("fts5:"):
                raise
            wanted = plain
            continue
        found = _different(connection, ranked, wanted, limit)
        if len(found) == limit or len(ranked) < look:
            return PageHits(tuple(found), wanted.note)
        look *= FIRST_LOOK


def find(
    connection: apsw.Connection, *, url: str, principal: str, allowed: frozenset[str]
) -> PageEntry | None:
    """The newest reading of one principal's page by the address at which it was found."""
    numbers = connection.execute(
        "SELECT id FROM pages WHERE url = ? AND principal = ? ORDER BY retrieved_at DESC", (url, principal)
    ).fetchall()
    for (number,) in numbers:
        entry = page_rows.entry_of(connection, int(str(number)))
        if entry is not None and entry.allowances <= allowed:
            return entry
    return None


def _only(
    connection: apsw.Connection, principal: str, allowed: frozenset[str]
) -> ranking.DocumentFilter | None:
    """What keeps other principals' pages out, where there are any."""
    if page_rows.is_sole_owner(connection, principal, allowed):
        return None
    return ranking.DocumentFilter(
        _OWN, (principal, json.dumps(page_rows.valid(connection, principal, allowed)))
    )


def _different(
    connection: apsw.Connection, ranked: list[ranking.SqliteHit], wanted: CacheQuery, limit: int
) -> list[PageHit]:
    """The first hits of different addresses."""
    found: dict[str, PageHit] = {}
    for hit in ranked:
        url = connection.execute("SELECT url FROM pages WHERE id = ?", (hit.number,)).get
        if url is None or str(url) in found:
            continue
        entry = page_rows.entry_of(connection, hit.number)
        if entry is not None:
            found[str(url)] = hit_of(entry.reading, wanted, hit.score)
        if len(found) == limit:
            break
    return list(found.values())


def hit_of(reading: Reading, wanted: CacheQuery, score: float) -> PageHit:
    """A page that was found, with the passage that says most of what was looked for."""
    passage = best_passage(reading.document.markdown or reading.document.text, wanted.units)
    return PageHit(
        url=reading.url,
        title=reading.document.title or "",
        snippet=passage.text,
        start=passage.start,
        retrieved_at=reading.retrieved_at.timestamp(),
        score=score,
    )
