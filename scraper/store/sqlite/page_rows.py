"""The table of pages and its full-text index, as SQL: rows in, rows out, in whatever transaction is open."""

from __future__ import annotations

import json
import logging
import time
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from scraper.model import CachedPageSummary, Document, Reading
from scraper.store.fulltext.ranking import register
from scraper.store.fulltext.tokenization import TOKENIZER, indexable
from scraper.store.protocols import CacheScope, PageEntry
from scraper.store.serialization import dump_reading, load_reading
from scraper.store.sqlite.database import DatabaseSchema

log = logging.getLogger(__name__)

ENTRY_BYTES = 8 * 1024 * 1024
"""A larger page is not kept: a few of them would push out all others."""
INDEXED_CHARS = 1_000_000
"""Of a page's text; what lies behind is kept and read, but not found."""
FUTURE_S = 60.0
"""A page read later than this from now was read under a wrong clock; how old it is nobody knows."""
TOUCH_AFTER_S = 3_600.0
"""How exactly it is known when a page was last used: writing it at each use would make reads writes."""
PRUNE_TO = 0.9
PRUNE_ROUNDS = 20

_BY_OWNER = "CREATE INDEX IF NOT EXISTS pages_by_owner ON pages (principal, allowances)"
# `id` grows with time, so that newest comes first without sorting: see ranking.
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
_PUT_WORDS = "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)"
_PLACE = "principal = ? AND profile = ? AND language = ? AND key = ? AND method = ?"
_GET = """
    SELECT id, used_at, allowances, reading FROM pages
    WHERE principal = ? AND profile = ? AND language = ? AND key = ?
      AND method IN (SELECT value FROM json_each(?)) AND retrieved_at BETWEEN ? AND ?
    ORDER BY retrieved_at DESC
"""
_FACTS = "SELECT id, url, title, length(reading), retrieved_at FROM pages"


class SqlitePageRow:
    """A page made ready for the file; made outside of any transaction, since it costs the most."""

    __slots__ = ("fields", "place", "text", "title")

    def __init__(self, place: tuple[str, ...], fields: tuple[Any, ...], title: str, text: str) -> None:
        self.place = place
        self.fields = fields
        self.title = title
        self.text = text


def row_of(entry: PageEntry, limit_bytes: int) -> SqlitePageRow | None:
    """The entry as a row; None when it is too large to be kept.

    Raises:
        ValueError: it holds what no file can.
    """
    data = dump_reading(entry.reading)
    if len(data) > min(ENTRY_BYTES, limit_bytes):
        return None
    shelf, reading = entry.shelf, entry.reading
    place = (shelf.principal, shelf.profile, shelf.language, entry.key, reading.method)
    "".join(place).encode()  # half a surrogate pair in an address: it could never be asked for again
    moment = reading.retrieved_at.timestamp()
    title = _storable(reading.document.title or "")
    allowances = json.dumps(sorted(entry.allowances))
    fields = (moment, time.time(), allowances, _storable(reading.url), title, zlib.compress(data, 1))
    return SqlitePageRow(
        place, fields, indexable(title), indexable(_storable(searched_text(reading.document)))
    )


def searched_text(document: Document) -> str:
    """What of a document is found by its words."""
    return (document.text or document.markdown)[:INDEXED_CHARS]


def put(connection: apsw.Connection, row: SqlitePageRow) -> None:
    """Keep a page in place of its older reading."""
    for (old,) in connection.execute(f"DELETE FROM pages WHERE {_PLACE} RETURNING id", row.place).fetchall():
        connection.execute("DELETE FROM words WHERE rowid = ?", (old,))
    connection.execute(_PUT, (*row.place, *row.fields))
    connection.execute(_PUT_WORDS, (connection.last_insert_rowid(), row.title, row.text))


def get(
    connection: apsw.Connection,
    *,
    key: str,
    shelf: CacheScope,
    methods: tuple[str, ...],
    max_age_s: float,
    allowed: frozenset[str],
) -> tuple[PageEntry, int | None] | None:
    """The newest fitting page; and its id when its use should be noted."""
    now = time.time()
    place = (shelf.principal, shelf.profile, shelf.language, key, json.dumps(methods))
    for number, used_at, listed, data in _rows(connection, _GET, (*place, now - max_age_s, now + FUTURE_S)):
        allowances = frozenset(json.loads(listed))
        if allowances <= allowed and (reading := _reading(data)) is not None:
            return PageEntry(
                shelf, key, reading, allowances
            ), number if now - used_at > TOUCH_AFTER_S else None
    return None


def touch(connection: apsw.Connection, numbers: Iterable[int]) -> None:
    """Note that these pages were used now: what is used least goes first."""
    now = time.time()
    connection.executemany("UPDATE pages SET used_at = ? WHERE id = ?", [(now, n) for n in numbers])


def recent(
    connection: apsw.Connection, *, principal: str, allowed: frozenset[str], limit: int, before: int | None
) -> list[CachedPageSummary]:
    """Pages of one principal, newest first; `before` is the number of the last one that is known."""
    lists = json.dumps(valid(connection, principal, allowed))
    statement = f"""
        {_FACTS} WHERE principal = ? AND allowances IN (SELECT value FROM json_each(?)) AND id < ?
        ORDER BY id DESC LIMIT ?
    """
    last = before if before is not None else (1 << 62)
    rows = _rows(connection, statement, (principal, lists, last, limit))
    return [CachedPageSummary(number, url, title, size, moment) for number, url, title, size, moment in rows]


def valid(connection: apsw.Connection, principal: str, allowed: frozenset[str]) -> list[str]:
    """Under which lists of allowances, as they stand in the file, a principal's pages may be given out."""
    return [listed for listed in _lists(connection, principal) if frozenset(json.loads(listed)) <= allowed]


def is_sole_owner(connection: apsw.Connection, principal: str, allowed: frozenset[str]) -> bool:
    """Whether every page of the file may be given to this principal."""
    others = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM pages WHERE principal < ?1) "
        "OR EXISTS (SELECT 1 FROM pages WHERE principal > ?1)",
        (principal,),
    ).get
    return not others and all(frozenset(json.loads(one)) <= allowed for one in _lists(connection, principal))


def _lists(connection: apsw.Connection, principal: str) -> list[str]:
    """The different lists of allowances among a principal's pages: one look into the index for each."""
    found: list[str] = []
    while True:
        statement = "SELECT min(allowances) FROM pages WHERE principal = ? AND allowances > ?"
        listed = connection.execute(statement, (principal, found[-1] if found else "")).get
        if listed is None:
            return found
        found.append(str(listed))


def entries(
    connection: apsw.Connection, principal: str | None, after: int, limit: int
) -> list[tuple[int, PageEntry | None]]:
    """Whole pages in the order in which they came, for an export: those behind number `after`; None for what
    cannot be read."""
    statement = """
        SELECT id, principal, profile, language, key, allowances, reading FROM pages
        WHERE id > ? AND (? IS NULL OR principal = ?) ORDER BY id LIMIT ?
    """
    found: list[tuple[int, PageEntry | None]] = []
    for number, owner, profile, language, key, listed, data in _rows(
        connection, statement, (after, principal, principal, limit)
    ):
        reading, shelf = _reading(data), CacheScope(owner, profile, language)
        kept = None if reading is None else PageEntry(shelf, key, reading, frozenset(json.loads(listed)))
        found.append((number, kept))
    return found


def entry_of(connection: apsw.Connection, number: int) -> PageEntry | None:
    """One page by its number."""
    statement = "SELECT principal, profile, language, key, allowances, reading FROM pages WHERE id = ?"
    for owner, profile, language, key, listed, data in _rows(connection, statement, (number,)):
        if (reading := _reading(data)) is not None:
            return PageEntry(
                CacheScope(owner, profile, language), key, reading, frozenset(json.loads(listed))
            )
    return None


def clear(connection: apsw.Connection, principal: str | None) -> int:
    """Forget all pages, or one principal's; how many there were."""
    if principal is None:
        count = int(connection.execute("SELECT count(*) FROM pages").get)
        connection.execute("DELETE FROM pages; INSERT INTO words (words) VALUES ('delete-all')")
        return count
    numbers = connection.execute(
        "DELETE FROM pages WHERE principal = ? RETURNING id", (principal,)
    ).fetchall()
    connection.executemany("DELETE FROM words WHERE rowid = ?", numbers)
    return len(numbers)


def sizes(connection: apsw.Connection) -> tuple[int, int]:
    """Pages, and bytes in use."""
    return int(connection.execute("SELECT count(*) FROM pages").get), _used_bytes(connection)


def prune(connection: apsw.Connection, limit_bytes: int) -> None:
    """Drop the pages that were not used for longest when the file is over its limit."""
    if _used_bytes(connection) <= limit_bytes:
        return
    statement = "DELETE FROM pages WHERE id IN (SELECT id FROM pages ORDER BY used_at LIMIT ?) RETURNING id"
    for _ in range(PRUNE_ROUNDS):
        count = int(connection.execute("SELECT count(*) FROM pages").get)
        for (number,) in connection.execute(statement, (max(1, count // 10),)).fetchall():
            connection.execute("DELETE FROM words WHERE rowid = ?", (number,))
        if _used_bytes(connection) <= limit_bytes * PRUNE_TO or count <= 1:
            return


def _reading(data: bytes) -> Reading | None:
    try:
        return load_reading(zlib.decompress(data))
    except (ValueError, zlib.error) as error:
        log.warning("a cached page cannot be read: %s", error)
        return None


def _used_bytes(connection: apsw.Connection) -> int:
    used = connection.pragma("page_count") - connection.pragma("freelist_count")
    return int(used * connection.pragma("page_size"))


def _rows(connection: apsw.Connection, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield from connection.execute(statement, values)


def _storable(text: str) -> str:
    """Without halves of surrogate pairs, which no encoding can carry, and NUL, where SQLite's text ends."""
    return text.encode("utf-8", errors="replace").decode().replace("\0", " ")


def _from_1(connection: apsw.Connection) -> None:
    """Readings are compressed, titles and addresses are columns, and words are found."""
    connection.execute("ALTER TABLE pages RENAME TO pages_1; DROP INDEX IF EXISTS pages_by_age")
    connection.execute(_CREATE)
    statement = """
        SELECT principal, profile, language, key, allowances, reading FROM pages_1 ORDER BY retrieved_at
    """
    for principal, profile, language, key, listed, data in _rows(connection, statement, ()):
        try:
            reading = load_reading(data)
        except ValueError:
            continue
        entry = PageEntry(
            CacheScope(principal, profile, language), key, reading, frozenset(json.loads(listed))
        )
        if (row := row_of(entry, ENTRY_BYTES)) is not None:
            put(connection, row)
    connection.execute("DROP TABLE pages_1")


def _from_2(connection: apsw.Connection) -> None:
    """One principal's pages are found without everybody else's; accents of all scripts are folded."""
    connection.execute(_BY_OWNER)
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    for number, title, data in _rows(connection, "SELECT id, title, reading FROM pages", ()):
        if (reading := _reading(data)) is not None:
            text = _storable(searched_text(reading.document))
            connection.execute(_PUT_WORDS, (number, indexable(title), indexable(text)))


SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_50,
    version=3,
    create=_CREATE,
    drop="DROP TABLE IF EXISTS pages; DROP TABLE IF EXISTS pages_1; DROP TABLE IF EXISTS words",
    migrations={1: _from_1, 2: _from_2},
    on_open=register,
)
