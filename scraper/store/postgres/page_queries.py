"""SQL statements for the table of pages, run with the caller's connection."""

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import asyncpg

from scraper.model import CachedPageSummary
from scraper.store.postgres.database import Connection
from scraper.store.postgres.lexemes import (
    LONG_MARK,
    Lexemes,
    LexemeTokenizer,
    make_lexemes,
    make_owner_mark,
    make_vector,
    make_window_marks,
)
from scraper.store.protocols import CLOCK_SKEW_S, CacheScope, PageEntry
from scraper.store.serialization import compress_reading, decompress_reading, load_entry, make_storable, searchable_text
from scraper.store.sqlite import page_queries as sqlite_rows
from scraper.values.text import read_statements

_ROW_BYTES = 400
"""Bytes of a page in addition to its reading and words: URLs, numbers, indexes (measured)."""
_AT_ONCE = 1_000
"""Pages deleted in one transaction, so that other servers do not wait long for its locks."""

Owner = tuple[str, str]
"""A principal, and its exceptions from the address rules as JSON."""

_SQL = read_statements(__package__, "page_statements.sql")


@dataclass(frozen=True, slots=True)
class PostgresPageRow:
    """Values of one page; its number is allocated when it is written."""

    owner: Owner
    place: bytes
    """Digest of scope, key and method."""
    fields: tuple[Any, ...]
    """Columns from `profile` on."""
    retrieved_at: float
    words: Lexemes


def make_row(entry: PageEntry, lexer: LexemeTokenizer, limit_bytes: int) -> PostgresPageRow | None:
    """Return the row of a page, or None if it is too large; raise ValueError for a URL that cannot be stored."""
    scope, reading = entry.scope, entry.reading
    data = compress_reading(reading, limit_bytes)
    if data is None:
        return None
    title = make_storable(reading.document.title or "")
    words = make_lexemes(lexer.split_text(title), lexer.split_text(searchable_text(reading.document)))
    texts = (scope.profile, scope.language, entry.key, reading.url, title)
    return PostgresPageRow(
        (scope.principal, json.dumps(sorted(entry.allowances))),
        _digest(scope.principal, scope.profile, scope.language, entry.key, reading.method),
        (*map(make_storable, texts), data),
        reading.retrieved_at.timestamp(),
        words,
    )


def _digest(*parts: str) -> bytes:
    """Return a digest of texts, as URLs can be too long for an index; raise UnicodeEncodeError for half a surrogate."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()


async def find_owner_ids(connection: Connection, owners: Iterable[Owner]) -> dict[Owner, int]:
    """Return the ids of owners; insert those that are new."""
    by_digest = {_digest(*owner): owner for owner in sorted(set(owners))}
    while True:
        rows = await connection.fetch("SELECT id, digest FROM owners WHERE digest = ANY($1)", list(by_digest))
        known = {row["digest"]: row["id"] for row in rows}
        new = [(digest, make_storable(one), two) for digest, (one, two) in by_digest.items() if digest not in known]
        if not new:
            return {owner: known[digest] for digest, owner in by_digest.items()}
        await connection.executemany(
            "INSERT INTO owners (digest, principal, allowances) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", new
        )


def make_values(page: PostgresPageRow, number: int, owner: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the values of one row of the tables `pages` and `words`."""
    words = page.words
    marks = [make_owner_mark(owner), *make_window_marks(number), *([LONG_MARK] if words.is_long else [])]
    data = make_vector(words.positions, marks)
    size = len(data) + len(words.counts) + len(page.fields[-1]) + _ROW_BYTES
    return (
        (number, owner, page.place, page.retrieved_at, time.time(), size, *page.fields),
        (number, words.length, words.is_long, words.counts, data),
    )


async def put(connection: Connection, pages: Sequence[tuple[Any, ...]], words: Sequence[tuple[Any, ...]]) -> None:
    """Store pages in place of their older readings, all or none."""
    async with connection.transaction():
        # The slow statement comes first: another server that stores one of these pages waits for the second.
        await connection.executemany(_SQL["put_words"], words)
        # In the same order on all servers, so that no two of them deadlock.
        await connection.executemany(_SQL["put"], sorted(pages, key=itemgetter(2)))


async def get(
    connection: Connection,
    *,
    key: str,
    scope: CacheScope,
    methods: tuple[str, ...],
    max_age_s: float,
    allowed: frozenset[str],
) -> tuple[PageEntry, int | None] | None:
    """Return the newest page that fits, and its number if its time of last use should be updated."""
    try:
        places = [_digest(scope.principal, scope.profile, scope.language, key, method) for method in methods]
    except UnicodeEncodeError:
        return None
    now = time.time()
    for row in await connection.fetch(_SQL["get"], places, now - max_age_s, now + CLOCK_SKEW_S):
        allowances = frozenset(json.loads(row["allowances"]))
        if allowances <= allowed and (reading := decompress_reading(row["reading"])) is not None:
            is_stale = now - row["used_at"] > sqlite_rows.TOUCH_AFTER_S
            return PageEntry(scope, key, reading, allowances), row["id"] if is_stale else None
    return None


async def touch(connection: Connection, numbers: Iterable[int]) -> None:
    """Set the time of last use of pages to now; skip pages that are being replaced."""
    await connection.execute(_SQL["touch"], time.time(), list(numbers))


async def list_valid_owners(connection: Connection, principal: str, allowed: frozenset[str]) -> list[int]:
    """Return the ids of owners whose pages may be returned to a principal."""
    rows = await connection.fetch(
        "SELECT id, allowances FROM owners WHERE principal = $1 ORDER BY id", make_storable(principal)
    )
    return [row["id"] for row in rows if frozenset(json.loads(row["allowances"])) <= allowed]


async def list_recent(
    connection: Connection, *, principal: str, allowed: frozenset[str], limit: int, before: int | None
) -> list[CachedPageSummary]:
    """Return summaries of one principal's pages, newest first, with numbers below `before`."""
    rows = await connection.fetch(
        _SQL["list_recent"],
        await list_valid_owners(connection, principal, allowed),
        before if before is not None else (1 << 62),
        limit,
    )
    return [CachedPageSummary(*row) for row in rows]


async def find_page(connection: Connection, *, url: str, principal: str, allowed: frozenset[str]) -> PageEntry | None:
    """Return one principal's newest page with this final URL, or None."""
    owners = await list_valid_owners(connection, principal, allowed)
    rows = await connection.fetch(
        f"{_SQL['whole']} WHERE p.url = $1 AND p.owner = ANY($2) ORDER BY p.retrieved_at DESC LIMIT 3",
        make_storable(url),
        owners,
    )
    return next((entry for *row, _ in rows if (entry := load_entry(*row)) is not None), None)


async def list_entries(connection: Connection, after: int, limit: int) -> list[tuple[int, PageEntry | None]]:
    """Return pages with numbers above `after`, in order, for an export; None for an unreadable page."""
    rows = await connection.fetch(f"{_SQL['whole']} WHERE p.id > $1 ORDER BY p.id LIMIT $2", after, limit)
    return [(number, load_entry(*row)) for *row, number in rows]


async def clear(connection: Connection) -> int:
    """Delete all pages and return their number; free the disk space unless other statements use the tables."""
    try:
        async with connection.transaction():
            # All other statements wait behind this lock, so it is acquired immediately or not at all.
            await connection.execute("SET LOCAL lock_timeout = '100ms'")
            await connection.execute("LOCK TABLE pages, words")
            count = int(await connection.fetchval("SELECT count(*) FROM pages"))
            await connection.execute("TRUNCATE pages, words")
    except asyncpg.LockNotAvailableError:
        count = 0
        while deleted := await _delete(connection, _SQL["delete_any"]):
            count += deleted
    return count


async def sizes(connection: Connection) -> tuple[int, int]:
    """Return the number of pages and the bytes of their rows."""
    row = await connection.fetchrow("SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM pages")
    assert row is not None
    return int(row[0]), int(row[1])


async def prune_some(connection: Connection, count: int) -> int:
    """Delete some of the least recently used pages; return 0 if another server is doing so."""
    async with connection.transaction():
        if not await connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", _PRUNE_LOCK):
            return 0
        return await _delete(connection, _SQL["delete_least_used"], limit=min(count, _AT_ONCE))


_PRUNE_LOCK = 0x53_4D_43_50_00_02


async def _delete(connection: Connection, statement: str, limit: int = _AT_ONCE) -> int:
    return int((await connection.execute(statement, limit)).split()[-1])
