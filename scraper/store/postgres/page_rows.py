"""The table of pages as SQL: entries in, entries out, with whatever connection is given."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import asyncpg

from scraper.model import CachedPageSummary, Reading
from scraper.store.postgres.lexemes import LONG, Lexemes, Lexer, owner_mark, vector, window_marks, words_of
from scraper.store.postgres.schema import Connection
from scraper.store.protocols import CacheScope, PageEntry
from scraper.store.serialization import dump_reading, load_reading
from scraper.store.sqlite import page_rows as sqlite_rows
from scraper.store.sqlite.page_rows import ENTRY_BYTES, FUTURE_S, searched_text

ROW_BYTES = 400
"""Of a page beside its reading and words: addresses, numbers, indexes (measured)."""
AT_ONCE = 1_000
"""Pages deleted in one transaction, so that nobody waits long for its locks."""

Owner = tuple[str, str]
"""A principal, and the list of exceptions from the address rules as it is kept."""

_PUT_WORDS = "INSERT INTO words (id, length, is_long, counts, vector) VALUES ($1, $2, $3, $4, $5)"
_PUT = """
    INSERT INTO pages
    (id, owner, place, retrieved_at, used_at, bytes, profile, language, key, url, title, reading)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (place) DO UPDATE SET id = excluded.id, owner = excluded.owner,
        retrieved_at = excluded.retrieved_at, used_at = excluded.used_at, bytes = excluded.bytes,
        url = excluded.url, title = excluded.title, reading = excluded.reading
"""
_GET = """
    SELECT p.id, p.used_at, o.allowances, p.reading FROM pages p JOIN owners o ON o.id = p.owner
    WHERE p.place = ANY($1) AND p.retrieved_at BETWEEN $2 AND $3 ORDER BY p.retrieved_at DESC
"""
_WHOLE = """
    SELECT p.id, o.principal, p.profile, p.language, p.key, o.allowances, p.reading
    FROM pages p JOIN owners o ON o.id = p.owner
"""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page made ready; its number is known when it is written."""

    owner: Owner
    place: bytes
    fields: tuple[Any, ...]
    """From `profile` on."""
    retrieved_at: float
    words: Lexemes


def page_of(entry: PageEntry, cutter: Lexer, limit_bytes: int) -> PageRecord | None:
    """The entry made ready; None when it is too large to be kept.

    Raises:
        ValueError: it holds what no database can.
    """
    data = dump_reading(entry.reading)
    if len(data) > min(ENTRY_BYTES, limit_bytes):
        return None
    shelf, reading = entry.shelf, entry.reading
    title = storable(reading.document.title or "")
    words = words_of(cutter.document(title), cutter.document(storable(searched_text(reading.document))))
    texts = (shelf.profile, shelf.language, entry.key, reading.url, title)
    return PageRecord(
        (shelf.principal, json.dumps(sorted(entry.allowances))),
        place_of(shelf, entry.key, reading.method),
        (*map(storable, texts), zlib.compress(data, 1)),
        reading.retrieved_at.timestamp(),
        words,
    )


def place_of(shelf: CacheScope, key: str, method: str) -> bytes:
    """Where a page is kept; addresses are longer than an index takes.

    Raises:
        UnicodeEncodeError: half a surrogate pair in the address; it could never be asked for again.
    """
    parts = (shelf.principal, shelf.profile, shelf.language, key, method)
    return _digest(parts)


def _digest(parts: Iterable[str]) -> bytes:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()


async def numbers(connection: Connection, count: int) -> list[int]:
    """Numbers for new pages; they grow with time, so that newest comes first without sorting."""
    rows = await connection.fetch("SELECT nextval('page_numbers') FROM generate_series(1, $1)", count)
    return [int(row[0]) for row in rows]


async def owner_numbers(connection: Connection, owners: Iterable[Owner]) -> dict[Owner, int]:
    """The owners' numbers; new ones get theirs."""
    wanted = {_digest(owner): owner for owner in sorted(set(owners))}
    known = await _known_owners(connection, list(wanted))
    if len(known) < len(wanted):
        new = [
            (digest, storable(owner[0]), owner[1]) for digest, owner in wanted.items() if digest not in known
        ]
        await connection.executemany(
            "INSERT INTO owners (digest, principal, allowances) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            new,
        )
        known = await _known_owners(connection, list(wanted))
    return {owner: known[digest] for digest, owner in wanted.items()}


async def _known_owners(connection: Connection, digests: list[bytes]) -> dict[bytes, int]:
    rows = await connection.fetch("SELECT id, digest FROM owners WHERE digest = ANY($1)", digests)
    return {row["digest"]: row["id"] for row in rows}


def rows_of(page: PageRecord, number: int, owner: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The page's row, and that of its words."""
    words = page.words
    marks = [owner_mark(owner), *window_marks(number), *([LONG] if words.is_long else [])]
    data = vector(words.places, marks)
    size = len(data) + len(words.counts) + len(page.fields[-1]) + ROW_BYTES
    return (
        (number, owner, page.place, page.retrieved_at, time.time(), size, *page.fields),
        (number, words.length, words.is_long, words.counts, data),
    )


async def put(
    connection: Connection, pages: Sequence[tuple[Any, ...]], words: Sequence[tuple[Any, ...]]
) -> None:
    """Keep pages in place of their older readings, all or none."""
    async with connection.transaction():
        # What takes long comes first: another server that keeps one of these pages waits from then on only.
        await connection.executemany(_PUT_WORDS, words)
        # In one order for all servers, so that no two wait for each other.
        await connection.executemany(_PUT, sorted(pages, key=itemgetter(2)))


async def get(
    connection: Connection,
    *,
    places: list[bytes],
    shelf: CacheScope,
    key: str,
    max_age_s: float,
    allowed: frozenset[str],
) -> tuple[PageEntry, int | None] | None:
    """The newest fitting page; and its number when its use should be noted."""
    now = time.time()
    for row in await connection.fetch(_GET, places, now - max_age_s, now + FUTURE_S):
        allowances = frozenset(json.loads(row["allowances"]))
        if allowances <= allowed and (reading := reading_of(row["reading"])) is not None:
            is_stale = now - row["used_at"] > sqlite_rows.TOUCH_AFTER_S
            return PageEntry(shelf, key, reading, allowances), row["id"] if is_stale else None
    return None


async def touch(connection: Connection, numbers: Iterable[int]) -> None:
    """Note that these pages were used now; those that are being replaced at this moment need it not."""
    await connection.execute(
        "UPDATE pages SET used_at = $1 WHERE id IN "
        "(SELECT id FROM pages WHERE id = ANY($2) ORDER BY id FOR UPDATE SKIP LOCKED)",
        time.time(),
        list(numbers),
    )


async def valid_owners(connection: Connection, principal: str, allowed: frozenset[str]) -> list[int]:
    """Under which owners a principal's pages stand that may be given out."""
    rows = await connection.fetch(
        "SELECT id, allowances FROM owners WHERE principal = $1 ORDER BY id", storable(principal)
    )
    return [row["id"] for row in rows if frozenset(json.loads(row["allowances"])) <= allowed]


async def recent(
    connection: Connection, *, principal: str, allowed: frozenset[str], limit: int, before: int | None
) -> list[CachedPageSummary]:
    """Pages of one principal, newest first; `before` is the number of the last one that is known."""
    rows = await connection.fetch(
        "SELECT p.* FROM unnest($1::int[]) AS o (owner) CROSS JOIN LATERAL "
        "(SELECT id, url, title, octet_length(reading) AS size, retrieved_at FROM pages "
        "WHERE pages.owner = o.owner AND id < $2 ORDER BY id DESC LIMIT $3) p ORDER BY id DESC LIMIT $3",
        await valid_owners(connection, principal, allowed),
        before if before is not None else (1 << 62),
        limit,
    )
    return [CachedPageSummary(*row) for row in rows]


async def found_at(
    connection: Connection, *, url: str, principal: str, allowed: frozenset[str]
) -> PageEntry | None:
    """The newest reading of one principal's page by the address at which it was found."""
    owners = await valid_owners(connection, principal, allowed)
    rows = await connection.fetch(
        f"{_WHOLE} WHERE p.url = $1 AND p.owner = ANY($2) ORDER BY p.retrieved_at DESC LIMIT 3",
        storable(url),
        owners,
    )
    return next((entry for row in rows if (entry := entry_of(row)) is not None), None)


async def entries(
    connection: Connection, principal: str | None, after: int, limit: int
) -> list[asyncpg.Record]:
    """Whole pages in the order in which they came, for an export: those behind number `after`."""
    return await connection.fetch(
        f"{_WHOLE} WHERE p.id > $1 AND ($2::text IS NULL OR o.principal = $2) ORDER BY p.id LIMIT $3",
        after,
        None if principal is None else storable(principal),
        limit,
    )


async def clear_some(connection: Connection, principal: str) -> int:
    """Forget some of one principal's pages; how many."""
    return await _deleted(
        connection,
        "DELETE FROM pages WHERE id IN (SELECT p.id FROM owners o JOIN pages p ON p.owner = o.id "
        "WHERE o.principal = $1 ORDER BY p.id LIMIT $2)",
        storable(principal),
    )


async def clear_all(connection: Connection) -> int:
    """Forget every page, and give the disk back; how many there were."""
    try:
        async with connection.transaction():
            # Everybody waits behind this lock, so that it is got at once or not at all.
            await connection.execute("SET LOCAL lock_timeout = '100ms'")
            await connection.execute("LOCK TABLE pages, words")
            count = int(await connection.fetchval("SELECT count(*) FROM pages"))
            await connection.execute("TRUNCATE pages, words")
    except asyncpg.LockNotAvailableError:
        count = 0
        while gone := await _deleted(connection, _DELETE_ANY):
            count += gone
    return count


_DELETE_ANY = "DELETE FROM pages WHERE id IN (SELECT id FROM pages ORDER BY id LIMIT $1)"


async def sizes(connection: Connection) -> tuple[int, int]:
    """Pages, and bytes of their rows."""
    row = await connection.fetchrow("SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM pages")
    assert row is not None
    return int(row[0]), int(row[1])


async def prune_some(connection: Connection, count: int) -> int:
    """Drop some of the pages that were not used for longest; none while another server does so."""
    async with connection.transaction():
        if not await connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", _PRUNING):
            return 0
        return await _deleted(
            connection,
            "DELETE FROM pages WHERE id = ANY(ARRAY(SELECT id FROM pages ORDER BY used_at LIMIT $1 "
            "FOR UPDATE SKIP LOCKED))",
            limit=min(count, AT_ONCE),
        )


_PRUNING = 0x53_4D_43_50_00_02
"""Held by the server that makes room."""


async def _deleted(connection: Connection, statement: str, *values: str, limit: int = AT_ONCE) -> int:
    return int((await connection.execute(statement, *values, limit)).split()[-1])


def reading_of(data: bytes) -> Reading | None:
    """The reading; None for what cannot be read."""
    try:
        return load_reading(zlib.decompress(data))
    except (ValueError, zlib.error):
        return None


def entry_of(row: asyncpg.Record) -> PageEntry | None:
    """The entry that a whole row holds."""
    reading = reading_of(row["reading"])
    if reading is None:
        return None
    shelf = CacheScope(row["principal"], row["profile"], row["language"])
    return PageEntry(shelf, row["key"], reading, frozenset(json.loads(row["allowances"])))


def storable(text: str) -> str:
    """Without halves of surrogate pairs, which no encoding can carry, and NUL, which PostgreSQL refuses."""
    return text.encode("utf-8", errors="replace").decode().replace("\0", " ")
