"""Full-text search of the pages in a SQLite file, with one hit and its best snippet for each URL."""

from __future__ import annotations

import json

import apsw

from scraper.model import PageHit, PageHits
from scraper.store.fulltext.query import CacheQuery, parse_as_words, parse_query
from scraper.store.fulltext.snippets import FIRST_RANKED, make_hit
from scraper.store.protocols import PageEntry
from scraper.store.sqlite import page_queries, ranking

_OWN = """
    AND EXISTS (
        SELECT 1 FROM pages WHERE principal = ? AND allowances IN (SELECT value FROM json_each(?))
        AND id = words.rowid
    )
"""


def search_pages(
    connection: apsw.Connection, *, query: str, principal: str, allowed: frozenset[str], limit: int
) -> PageHits:
    """Return the pages of one principal that match a query, best first, each URL once."""
    parsed = parse_query(query)
    may_read_all = page_queries.may_read_all(connection, principal, allowed)
    values = (
        () if may_read_all else (principal, json.dumps(page_queries.valid_allowances(connection, principal, allowed)))
    )
    condition = "" if may_read_all else _OWN
    ranked_count = limit * FIRST_RANKED
    while True:
        try:
            ranked = ranking.rank_pages(connection, "words", parsed, ranked_count, condition, values)
        except apsw.SQLError as error:
            # If FTS5 refuses an expression of the parser, search for the plain words instead.
            plain = parse_as_words(query)
            if plain == parsed or not str(error).startswith("fts5:"):
                raise
            parsed = plain
            continue
        found = _load_hits(connection, ranked, parsed, limit)
        if len(found) == limit or len(ranked) < ranked_count:
            return PageHits(tuple(found), parsed.note)
        ranked_count *= FIRST_RANKED


def find_page(connection: apsw.Connection, *, url: str, principal: str, allowed: frozenset[str]) -> PageEntry | None:
    """Return one principal's newest page with this final URL, or None."""
    numbers = connection.execute(
        "SELECT id FROM pages WHERE url = ? AND principal = ? ORDER BY retrieved_at DESC", (url, principal)
    ).fetchall()
    entries = (page_queries.find_entry(connection, int(str(number))) for (number,) in numbers)
    return next((entry for entry in entries if entry is not None and entry.allowances <= allowed), None)


def _load_hits(
    connection: apsw.Connection, ranked: list[tuple[float, int]], parsed: CacheQuery, limit: int
) -> list[PageHit]:
    found: dict[str, PageHit] = {}
    for score, number in ranked:
        url = connection.execute("SELECT url FROM pages WHERE id = ?", (number,)).get
        if url is None or str(url) in found:
            continue
        entry = page_queries.find_entry(connection, number)
        if entry is not None:
            found[str(url)] = make_hit(entry.reading, parsed, score)
        if len(found) == limit:
            break
    return list(found.values())
