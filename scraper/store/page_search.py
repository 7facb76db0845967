"""Finds kept pages by their words: one hit a page, with its best passage."""

from __future__ import annotations

import json

import apsw

from scraper.model import PageHit, PageHits
from scraper.store import page_rows
from scraper.store.fulltext import ranking
from scraper.store.fulltext.query import Wanted, parse
from scraper.store.fulltext.snippets import best_passage
from scraper.store.protocols import Entry

__all__ = ["find", "search"]

FIRST_LOOK = 4
"""Hits looked at for each that is wanted: a page may be there twice, or be somebody else's."""


def search(
    connection: apsw.Connection, *, query: str, principal: str, allowed: frozenset[str], limit: int
) -> PageHits:
    """The pages of one principal that hold what is asked for, best first, each page once."""
    wanted = parse(query)
    look = limit * FIRST_LOOK
    while True:
        ranked = ranking.hits(connection, "words", wanted, look)
        found = _visible(connection, ranked, wanted, principal, allowed, limit)
        if len(found) == limit or len(ranked) < look:
            return PageHits(tuple(found), wanted.note)
        look *= FIRST_LOOK


def find(connection: apsw.Connection, *, url: str, principal: str, allowed: frozenset[str]) -> Entry | None:
    """The newest reading of one principal's page by the address at which it was found."""
    numbers = connection.execute(
        "SELECT id FROM pages WHERE url = ? AND principal = ? ORDER BY retrieved_at DESC", (url, principal)
    ).fetchall()
    for (number,) in numbers:
        entry = page_rows.entry_of(connection, int(str(number)))
        if entry is not None and entry.allowances <= allowed:
            return entry
    return None


def _visible(
    connection: apsw.Connection,
    ranked: list[ranking.Hit],
    wanted: Wanted,
    principal: str,
    allowed: frozenset[str],
    limit: int,
) -> list[PageHit]:
    found: dict[str, PageHit] = {}
    for hit in ranked:
        row = connection.execute(
            "SELECT url, allowances FROM pages WHERE id = ? AND principal = ?", (hit.number, principal)
        ).fetchone()
        if row is None or str(row[0]) in found or not frozenset(json.loads(str(row[1]))) <= allowed:
            continue
        entry = page_rows.entry_of(connection, hit.number)
        if entry is not None:
            found[str(row[0])] = _hit(entry, wanted, hit.score)
        if len(found) == limit:
            break
    return list(found.values())


def _hit(entry: Entry, wanted: Wanted, score: float) -> PageHit:
    reading = entry.reading
    passage = best_passage(reading.document.markdown or reading.document.text, wanted.units)
    return PageHit(
        url=reading.url,
        title=reading.document.title or "",
        snippet=passage.text,
        start=passage.start,
        retrieved_at=reading.retrieved_at.timestamp(),
        score=score,
    )
