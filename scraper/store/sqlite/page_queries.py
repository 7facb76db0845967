"""SQL statements for the table of pages and its full-text index, run in the caller's transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from scraper.model import CachedPageSummary, Reading
from scraper.store.fulltext.tokenization import TOKENIZER, to_index_text
from scraper.store.protocols import CLOCK_SKEW_S, CacheScope, PageEntry
from scraper.store.serialization import (
    ENTRY_BYTES,
    compress_reading,
    decompress_reading,
    load,
    load_entry,
    make_storable,
    searchable_text,
)
from scraper.store.sqlite.database import DatabaseSchema
from scraper.store.sqlite.ranking import register_ranking_function

TOUCH_AFTER_S = 3_600.0
"""Seconds. Accuracy of the time of last use; if every use were recorded, each read would be a write."""
_PRUNE_TO = 0.9
"""Share of the size limit that remains after pages were deleted."""
_PRUNE_ROUNDS = 20
"""Maximum number of deletions, of a tenth of the pages each, in one call of `prune`."""

_BY_OWNER = "CREATE INDEX IF NOT EXISTS pages_by_owner ON pages (principal, allowances)"
# `id` grows with time, so the newest pages come first without sorting: see ranking.
_CREATE = f"""
    CREATE TABLE pages (
        id INTEGER PRIMARY KEY,
        principal TEXT NOT NULL,
        profile TEXT NOT NULL,
        language TEXT NOT NULL,
        key TEXT NOT NULL,
        method TEXT NOT NULL,
        retrieved_at REAL NOT NULL,
        used_at REAL NOT NULL,
        allowances TEXT NOT NULL,
        url TEXT NOT NULL,
        title TEXT NOT NULL,
        reading BLOB NOT NULL,
        UNIQUE (principal, profile, language, key, method)
    ) STRICT;
    CREATE INDEX pages_by_use ON pages (used_at);
    CREATE INDEX pages_by_url ON pages (url);
    {_BY_OWNER};
    CREATE VIRTUAL TABLE words USING fts5 (
        title, text, content = '', contentless_delete = 1, tokenize = "{TOKENIZER}"
    );
"""
_PUT = """
    INSERT INTO pages
    (principal, profile, language, key, method, retrieved_at, used_at, allowances, url, title, reading)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_DELETE = """
    DELETE FROM pages WHERE principal = ? AND profile = ? AND language = ? AND key = ? AND method = ? RETURNING id
"""
_PUT_WORDS = "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)"
_GET = """
    SELECT id, used_at, allowances, reading FROM pages
    WHERE principal = ? AND profile = ? AND language = ? AND key = ?
      AND method IN (SELECT value FROM json_each(?)) AND retrieved_at BETWEEN ? AND ?
    ORDER BY retrieved_at DESC
"""


@dataclass(frozen=True, slots=True)
class SqlitePageRow:
    """Values of one page, computed outside of any transaction because this is the slowest step."""

    place: tuple[str, ...]
    """Principal, profile, language, key and method."""
    fields: tuple[Any, ...]
    """The other columns of `pages`."""
    indexed_title: str
    indexed_text: str


def make_row(entry: PageEntry, limit_bytes: int) -> SqlitePageRow | None:
    """Return the row of a page, or None if it is too large; raise ValueError for a URL that cannot be stored."""
    scope, reading = entry.scope, entry.reading
    data = compress_reading(reading, limit_bytes)
    if data is None:
        return None
    place = (scope.principal, scope.profile, scope.language, entry.key, reading.method)
    "".join(place).encode()  # half a surrogate pair in a URL: the page could never be requested again
    moment = reading.retrieved_at.timestamp()
    title = make_storable(reading.document.title or "")
    allowances = json.dumps(sorted(entry.allowances))
    fields = (moment, time.time(), allowances, make_storable(reading.url), title, data)
    return SqlitePageRow(place, fields, to_index_text(title), to_index_text(searchable_text(reading.document)))


def put(connection: apsw.Connection, row: SqlitePageRow) -> None:
    """Store a page in place of its older reading."""
    for old in connection.execute(_DELETE, row.place).fetchall():
        connection.execute("DELETE FROM words WHERE rowid = ?", old)
    connection.execute(_PUT, (*row.place, *row.fields))
    connection.execute(_PUT_WORDS, (connection.last_insert_rowid(), row.indexed_title, row.indexed_text))


def get(
    connection: apsw.Connection,
    *,
    key: str,
    scope: CacheScope,
    methods: tuple[str, ...],
    max_age_s: float,
    allowed: frozenset[str],
) -> tuple[PageEntry, int | None] | None:
    """Return the newest page that fits, and its id if its time of last use should be updated."""
    now = time.time()
    place = (scope.principal, scope.profile, scope.language, key, json.dumps(methods))
    for number, used_at, allowances_json, data in _rows(
        connection, _GET, (*place, now - max_age_s, now + CLOCK_SKEW_S)
    ):
        allowances = frozenset(json.loads(allowances_json))
        if allowances <= allowed and (reading := decompress_reading(data)) is not None:
            return PageEntry(scope, key, reading, allowances), number if now - used_at > TOUCH_AFTER_S else None
    return None


def touch(connection: apsw.Connection, numbers: Iterable[int]) -> None:
    """Set the time of last use of pages to now; the least recently used pages are deleted first."""
    now = time.time()
    connection.executemany("UPDATE pages SET used_at = ? WHERE id = ?", [(now, n) for n in numbers])


def list_recent(
    connection: apsw.Connection, *, principal: str, allowed: frozenset[str], limit: int, before: int | None
) -> list[CachedPageSummary]:
    """Return summaries of one principal's pages, newest first, with numbers below `before`."""
    valid_lists = json.dumps(valid_allowances(connection, principal, allowed))
    statement = """
        SELECT id, url, title, length(reading), retrieved_at FROM pages
        WHERE principal = ? AND allowances IN (SELECT value FROM json_each(?)) AND id < ? ORDER BY id DESC LIMIT ?
    """
    last = before if before is not None else (1 << 62)
    rows = _rows(connection, statement, (principal, valid_lists, last, limit))
    return [CachedPageSummary(*row) for row in rows]


def valid_allowances(connection: apsw.Connection, principal: str, allowed: frozenset[str]) -> list[str]:
    """Return the stored lists of allowances under which a principal's pages may be returned."""
    return [
        allowances_json
        for allowances_json in _list_allowances(connection, principal)
        if frozenset(json.loads(allowances_json)) <= allowed
    ]


def may_read_all(connection: apsw.Connection, principal: str, allowed: frozenset[str]) -> bool:
    """Return True if every page of the file may be returned to this principal."""
    others = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM pages WHERE principal < ?1) OR EXISTS (SELECT 1 FROM pages WHERE principal > ?1)",
        (principal,),
    ).get
    return not others and all(frozenset(json.loads(one)) <= allowed for one in _list_allowances(connection, principal))


def _list_allowances(connection: apsw.Connection, principal: str) -> list[str]:
    """Return the distinct lists of allowances of a principal's pages, with one index lookup for each."""
    found: list[str] = []
    while True:
        statement = "SELECT min(allowances) FROM pages WHERE principal = ? AND allowances > ?"
        allowances_json = connection.execute(statement, (principal, found[-1] if found else "")).get
        if allowances_json is None:
            return found
        found.append(str(allowances_json))


def list_entries(connection: apsw.Connection, after: int, limit: int) -> list[tuple[int, PageEntry | None]]:
    """Return pages with numbers above `after`, in order, for an export; None for an unreadable page."""
    statement = """
        SELECT id, principal, profile, language, key, allowances, reading FROM pages
        WHERE id > ? ORDER BY id LIMIT ?
    """
    rows = _rows(connection, statement, (after, limit))
    return [(number, load_entry(*row)) for number, *row in rows]


def find_entry(connection: apsw.Connection, number: int) -> PageEntry | None:
    """Return the page with this number, or None."""
    statement = "SELECT principal, profile, language, key, allowances, reading FROM pages WHERE id = ?"
    return next((load_entry(*row) for row in _rows(connection, statement, (number,))), None)


def clear(connection: apsw.Connection) -> int:
    """Delete all pages and return their number."""
    count = int(connection.execute("SELECT count(*) FROM pages").get)
    connection.execute("DELETE FROM pages; INSERT INTO words (words) VALUES ('delete-all')")
    return count


def sizes(connection: apsw.Connection) -> tuple[int, int]:
    """Return the number of pages and the bytes in use."""
    return int(connection.execute("SELECT count(*) FROM pages").get), _used_bytes(connection)


def prune(connection: apsw.Connection, limit_bytes: int) -> None:
    """Delete the least recently used pages if the file is above its limit."""
    if _used_bytes(connection) <= limit_bytes:
        return
    statement = "DELETE FROM pages WHERE id IN (SELECT id FROM pages ORDER BY used_at LIMIT ?) RETURNING id"
    for _ in range(_PRUNE_ROUNDS):
        count = int(connection.execute("SELECT count(*) FROM pages").get)
        numbers = connection.execute(statement, (max(1, count // 10),)).fetchall()
        connection.executemany("DELETE FROM words WHERE rowid = ?", numbers)
        if _used_bytes(connection) <= limit_bytes * _PRUNE_TO or count <= 1:
            return


def _used_bytes(connection: apsw.Connection) -> int:
    used = connection.pragma("page_count") - connection.pragma("freelist_count")
    return int(used * connection.pragma("page_size"))


def _rows(connection: apsw.Connection, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield from connection.execute(statement, values)


def _migrate_from_1(connection: apsw.Connection) -> None:
    """Compress readings, store titles and URLs in columns, and index the text."""
    connection.execute("ALTER TABLE pages RENAME TO pages_1; DROP INDEX IF EXISTS pages_by_age")
    connection.execute(_CREATE)
    statement = """
        SELECT principal, profile, language, key, allowances, reading FROM pages_1 ORDER BY retrieved_at
    """
    for principal, profile, language, key, allowances_json, data in _rows(connection, statement, ()):
        try:
            reading = load(Reading, data)
        except ValueError:
            continue
        scope, allowances = CacheScope(principal, profile, language), frozenset(json.loads(allowances_json))
        if (row := make_row(PageEntry(scope, key, reading, allowances), ENTRY_BYTES)) is not None:
            put(connection, row)
    connection.execute("DROP TABLE pages_1")


def _migrate_from_2(connection: apsw.Connection) -> None:
    """Index pages by owner, and index the text again with accents of all scripts folded."""
    connection.execute(_BY_OWNER)
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    for number, title, data in _rows(connection, "SELECT id, title, reading FROM pages", ()):
        if (reading := decompress_reading(data)) is not None:
            text = to_index_text(searchable_text(reading.document))
            connection.execute(_PUT_WORDS, (number, to_index_text(title), text))


SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_50,
    version=3,
    create=_CREATE,
    drop="DROP TABLE IF EXISTS pages; DROP TABLE IF EXISTS pages_1; DROP TABLE IF EXISTS words",
    migrations={1: _migrate_from_1, 2: _migrate_from_2},
    on_open=register_ranking_function,
)
