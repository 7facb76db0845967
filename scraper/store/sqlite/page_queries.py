"""SQL statements for the table of pages and its full-text index, run in the caller's transaction.

Matches are ranked by BM25 in bounded time, for any words. FTS5's own `bm25` visits every page that contains any of the
words, to count them: 390 ms (95th percentile) with 100,000 pages and common words in the query. Here each word's pages
are counted up to a bound, and if more pages match than are worth ranking, only the newest are ranked: 13 ms.
"""

import heapq
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from scraper.model import CachedPageSummary
from scraper.store import serialization
from scraper.store.protocols import CLOCK_SKEW_S, CacheScope, PageEntry
from scraper.store.query import CacheQuery
from scraper.store.sqlite.database import DatabaseSchema
from scraper.store.tokenization import TOKENIZER, to_index_text
from scraper.text.terms import inverse_document_frequency
from scraper.values.text import read_file, read_statements

if TYPE_CHECKING:
    from apsw import FTS5ExtensionApi

RANKED_LIMIT = 1_500
"""Pages that are ranked per query. Each takes 7 microseconds."""
COUNT_LIMIT = 3_000
"""Pages. A word is counted only up to this number: all more frequent words get the same low weight."""
_TITLE_WEIGHT = 5.0
"""Weight of a word in the title, in words of the text."""
_K1, _B = 1.2, 0.75
"""Usual parameters of BM25 (Robertson and Zaragoza 2009), also those of FTS5."""
_FUNCTION = "relevance"


def register_ranking_function(connection: apsw.Connection) -> None:
    """Register the ranking function with a connection."""
    connection.register_fts5_function(_FUNCTION, _relevance)


def rank_pages(
    connection: apsw.Connection,
    table: str,
    query: CacheQuery,
    limit: int,
    condition: str = "",
    values: tuple[str, ...] = (),
) -> list[tuple[float, int]]:
    """Return score and number of the best `limit` pages among the newest `RANKED_LIMIT` matches, best first.

    `condition`, which begins with AND, restricts the pages; `values` are its parameters.
    """
    if not query.expression:
        return []
    weights = [_compute_weight(connection, table, phrase) for phrase in query.phrases]
    statement = f"""
        SELECT {_FUNCTION}({table}, {", ".join("?" * len(weights))}), rowid FROM {table}
        WHERE {table} MATCH ? {condition} ORDER BY rowid DESC LIMIT ?
    """
    newest = connection.execute(statement, (*weights, query.expression, *values, RANKED_LIMIT)).fetchall()
    return [(float(str(score)), int(str(number))) for score, number in heapq.nlargest(limit, newest)]


def _compute_weight(connection: apsw.Connection, table: str, phrase: str) -> float:
    """Return BM25's inverse document frequency of a word, never negative."""
    statement = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    count = float(connection.execute(statement, (phrase, COUNT_LIMIT)).get)
    # The highest number stands for the number of pages, since counting them would scan the table.
    pages = max(count, float(connection.execute(f"SELECT max(id) FROM {table}_docsize").get or 0))
    return inverse_document_frequency(count, pages)


def _relevance(api: "FTS5ExtensionApi", *weights: Any) -> float:
    mean_length = api.aux_data
    if mean_length is None:
        mean_length = api.aux_data = max(1.0, api.column_total_size(1) / max(1, api.row_count))
    places = map(api.phrase_locations, range(len(weights)))
    counts = [_TITLE_WEIGHT * len(in_title) + len(in_text) for in_title, in_text in places]
    return compute_score(weights, counts, api.column_size(1) / mean_length)


def compute_score(weights: Sequence[float], counts: Sequence[float], length: float) -> float:
    """Return the BM25 score of a page from the weight and count of each word of the query.

    `length` are the words of the page, in mean lengths of all pages.
    """
    norm = _K1 * (1 - _B + _B * length)
    return sum(weight * count * (_K1 + 1) / (count + norm) for weight, count in zip(weights, counts, strict=True))


TOUCH_AFTER_S = 3_600.0
"""Seconds. Accuracy of the time of last use; if every use were recorded, each read would be a write."""
_PRUNE_TO = 0.9
"""Share of the size limit that remains after pages were deleted."""
_PRUNE_ROUNDS = 20
"""Maximum number of deletions, of a tenth of the pages each, in one call of `prune`."""

_BY_OWNER = "CREATE INDEX IF NOT EXISTS pages_by_owner ON pages (principal, allowances)"
_CREATE = read_file(__package__, "pages.sql").format(BY_OWNER=_BY_OWNER, TOKENIZER=TOKENIZER)
_SQL = read_statements(__package__, "page_statements.sql")


SqlitePageRow = tuple[tuple[str, ...], tuple[Any, ...], tuple[str, str]]
"""Columns that identify a page, its other columns, and its title and text for the index."""


def make_row(entry: PageEntry, limit_bytes: int) -> SqlitePageRow | None:
    """Return the row of a page, or None if it is too large; raise ValueError for a URL that cannot be stored.

    It is computed outside of any transaction, because this is the slowest step.
    """
    scope, reading = entry.scope, entry.reading
    data = serialization.compress_reading(reading, limit_bytes)
    if data is None:
        return None
    place = (scope.principal, scope.profile, scope.language, entry.key, reading.method)
    "".join(place).encode()  # half a surrogate pair in a URL: the page could never be requested again
    moment = reading.retrieved_at.timestamp()
    title = serialization.make_storable(reading.document.title or "")
    allowances = json.dumps(sorted(entry.allowances))
    fields = (moment, time.time(), allowances, serialization.make_storable(reading.url), title, data)
    return place, fields, (to_index_text(title), to_index_text(serialization.searchable_text(reading.document)))


def put(connection: apsw.Connection, row: SqlitePageRow) -> None:
    """Store a page in place of its older reading."""
    place, fields, texts = row
    for old in connection.execute(_SQL["delete"], place).fetchall():
        connection.execute("DELETE FROM words WHERE rowid = ?", old)
    connection.execute(_SQL["put"], (*place, *fields))
    connection.execute(_SQL["put_words"], (connection.last_insert_rowid(), *texts))


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
        connection, _SQL["get"], (*place, now - max_age_s, now + CLOCK_SKEW_S)
    ):
        allowances = frozenset(json.loads(allowances_json))
        if allowances <= allowed and (reading := serialization.decompress_reading(data)) is not None:
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
    valid_lists = json.dumps([one for one in list_allowances(connection, principal) if is_valid(one, allowed)])
    statement = _SQL["list_recent"]
    last = before if before is not None else (1 << 62)
    rows = _rows(connection, statement, (principal, valid_lists, last, limit))
    return [CachedPageSummary(*row) for row in rows]


def is_valid(allowances_json: str, allowed: frozenset[str]) -> bool:
    """Return True if pages with these allowances may be returned."""
    return frozenset(json.loads(allowances_json)) <= allowed


def list_allowances(connection: apsw.Connection, principal: str) -> list[str]:
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
    statement = _SQL["list_entries"]
    rows = _rows(connection, statement, (after, limit))
    return [(number, serialization.load_entry(*row)) for number, *row in rows]


def find_entry(connection: apsw.Connection, number: int) -> PageEntry | None:
    """Return the page with this number, or None."""
    statement = "SELECT principal, profile, language, key, allowances, reading FROM pages WHERE id = ?"
    return next((serialization.load_entry(*row) for row in _rows(connection, statement, (number,))), None)


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


def _migrate_from_2(connection: apsw.Connection) -> None:
    """Index pages by owner, and index the text again with accents of all scripts folded."""
    connection.execute(_BY_OWNER)
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    for number, title, data in _rows(connection, "SELECT id, title, reading FROM pages", ()):
        if (reading := serialization.decompress_reading(data)) is not None:
            text = to_index_text(serialization.searchable_text(reading.document))
            connection.execute(_SQL["put_words"], (number, to_index_text(title), text))


SCHEMA = DatabaseSchema(
    application_id=0x53_4D_43_50,
    version=3,
    create=_CREATE,
    drop="DROP TABLE IF EXISTS pages; DROP TABLE IF EXISTS words",
    migrations={2: _migrate_from_2},
    on_open=register_ranking_function,
)
