"""Which pages of a job are still to be read, and what became of the others: one SQLite file.

A page counts as read in the same transaction that says how far the output is safe, so whatever ends the
process, file and table agree: what is behind that place is cut off, and its pages are read again.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

from scraper import errors
from scraper.bulk.model import JobPage, OutputPosition, PageOutcome
from scraper.bulk.url_lists import SHOWN_CHARS, ListLine
from scraper.urls import cache_key, host_of, parse_target

FILE_NAME = "frontier.sqlite"
LINES_AT_ONCE = 5_000
MESSAGE_CHARS = 300
_BUSY_MS = 5_000
_APPLICATION = 0x53_4D_43_42
_VERSION = 1

_CREATE = """
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE pages (
        id INTEGER PRIMARY KEY,
        host INTEGER NOT NULL,
        key TEXT NOT NULL UNIQUE,
        url TEXT,
        problem TEXT,
        outcome TEXT,
        status INTEGER,
        method TEXT,
        cached INTEGER,
        seconds REAL,
        bytes INTEGER,
        message TEXT
    ) STRICT;
    CREATE INDEX waiting ON pages (host, id) WHERE outcome IS NULL;
"""
_ADD = "INSERT OR IGNORE INTO pages (host, key, url, problem) VALUES (?, ?, ?, ?)"
_DONE = """
    UPDATE pages SET outcome = ?, status = ?, method = ?, cached = ?, seconds = ?, bytes = ?, message = ?
    WHERE id = ? AND outcome IS NULL
"""
_WAITING = """
    SELECT pages.id, coalesce(pages.url, pages.key), hosts.name, coalesce(pages.problem, '')
    FROM pages JOIN hosts ON hosts.id = pages.host
    WHERE pages.outcome IS NULL AND pages.host = ? AND pages.id > ? AND pages.id <= ?
    ORDER BY pages.id LIMIT ?
"""
_HOSTS = """
    SELECT host, name, count(*) AS waiting FROM pages JOIN hosts ON hosts.id = pages.host
    WHERE outcome IS NULL AND pages.id <= ? GROUP BY host ORDER BY waiting DESC, host
"""


@dataclass(frozen=True, slots=True)
class HostBacklog:
    """A host, and how many of its pages are still to be read."""

    number: int
    name: str
    waiting: int


@dataclass(frozen=True, slots=True)
class FrontierCounts:
    """How the list stands."""

    pages: int = 0
    """Different ones within the job's limit."""
    done: int = 0
    lines: int = 0
    """As they stand in the list."""
    repeated: int = 0


class Frontier:
    """Owner of the file; used from one thread at a time."""

    def __init__(self, folder: Path, *, limit: int | None = None) -> None:
        """Open the file, or make it.

        Raises:
            apsw.Error: it cannot be opened, or is something else.
        """
        self._last = limit if limit is not None else (1 << 62)
        self._connection = apsw.Connection(str(folder / FILE_NAME))
        self._connection.set_busy_timeout(_BUSY_MS)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # What is remembered of the job

    def fact(self, name: str) -> Any:
        """What was noted under a name; None for nothing."""
        text = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).get
        return None if text is None else json.loads(str(text))

    def note(self, facts: Mapping[str, Any]) -> None:
        """Note facts, all of them or none."""
        with _transaction(self._connection):
            self._note(facts)

    @property
    def place(self) -> OutputPosition:
        """How far the output is safe."""
        found = self.fact("place")
        return OutputPosition(**found) if found else OutputPosition()

    # Filling it

    def empty(self) -> None:
        """Forget a list that was not taken in to its end, or was empty: another may come in its place."""
        with _transaction(self._connection):
            self._connection.execute("DELETE FROM facts")
            self._connection.execute("DELETE FROM pages")
            self._connection.execute("DELETE FROM hosts")

    def add(self, lines: Iterable[ListLine]) -> None:
        """Take in the list."""
        hosts: dict[str, int] = {
            str(name): int(str(number))
            for number, name in self._connection.execute("SELECT id, name FROM hosts")
        }
        count = 0
        lines = iter(lines)
        while part := list(itertools.islice(lines, LINES_AT_ONCE)):
            count += len(part)
            with _transaction(self._connection):
                self._connection.executemany(_ADD, (self._row(line, hosts) for line in part))
        self.note({"lines": count, "filled": True})

    @property
    def filled(self) -> bool:
        """Whether the whole list is in, and holds something."""
        return bool(self.fact("filled") and self.fact("lines"))

    def _row(self, line: ListLine, hosts: dict[str, int]) -> tuple[int, str, str | None, str | None]:
        page = _understood(line)
        key = cache_key(page.url) if not page.problem else page.url
        if page.host not in hosts:
            self._connection.execute("INSERT INTO hosts (name) VALUES (?)", (page.host,))
            hosts[page.host] = self._connection.last_insert_rowid()
        return hosts[page.host], key, None if key == page.url else page.url, page.problem or None

    # Reading from it

    def hosts(self) -> Iterator[HostBacklog]:
        """The hosts that have pages left, most first."""
        for number, name, waiting in self._connection.execute(_HOSTS, (self._last,)).fetchall():
            yield HostBacklog(int(str(number)), str(name), int(str(waiting)))

    def waiting(self, host: int, *, after: int, count: int) -> list[JobPage]:
        """Pages of a host that are not read yet, in the order of the list."""
        found = self._connection.execute(_WAITING, (host, after, self._last, count)).fetchall()
        return [JobPage(int(str(n)), str(url), str(name), str(problem)) for n, url, name, problem in found]

    def counts(self) -> FrontierCounts:
        """How many there are, and how many are read."""
        pages, done = self._connection.execute(
            "SELECT count(*), count(outcome) FROM pages WHERE id <= ?", (self._last,)
        ).fetchall()[0]
        every = int(str(self._connection.execute("SELECT count(*) FROM pages").get))
        lines = int(self.fact("lines") or 0)
        return FrontierCounts(int(str(pages)), int(str(done)), lines, max(0, lines - every))

    def select(self, statement: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a question about the job, for its report."""
        return self._connection.execute(statement, bindings).fetchall()

    # What became of them

    def finish(self, outcomes: Sequence[PageOutcome], place: OutputPosition) -> None:
        """Note that these are read and written, and how far the output is safe now."""
        with _transaction(self._connection):
            self._connection.executemany(_DONE, map(_done, outcomes))
            self._note({"place": asdict(place)})

    def move_to(self, place: OutputPosition) -> None:
        """Note that the output goes on elsewhere; on the disk, as what it makes needless is removed then."""
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            self.note({"place": asdict(place)})
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def _note(self, facts: Mapping[str, Any]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in facts.items()],
        )

    def _prepare(self) -> None:
        connection = self._connection
        with _transaction(connection):
            ours = connection.pragma("application_id") == _APPLICATION
            if not ours and connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get is not None:
                raise apsw.NotADBError("it belongs to another program")
            if ours and connection.pragma("user_version") != _VERSION:
                raise apsw.NotADBError("it was made by another version of search-mcp")
            if not ours:
                connection.execute(_CREATE)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute("PRAGMA journal_mode = WAL")
        # A process that is killed loses nothing so; a machine that loses power, at most the last rows, and
        # the output is cut back to match.
        connection.execute("PRAGMA synchronous = NORMAL")


@contextlib.contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    """All of the block or nothing; apsw's own hides a full disk behind a rollback that SQLite did already."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _understood(line: ListLine) -> JobPage:
    # JSON can hold half a surrogate pair, which no encoding can carry.
    shown = line.text[:SHOWN_CHARS].encode("utf-8", "replace").decode()
    if line.problem:
        return JobPage(0, shown, "", line.problem)
    try:
        url = parse_target(line.text)
    except errors.InvalidUrlError as error:
        return JobPage(0, shown, "", error.sentence())
    return JobPage(0, url, host_of(url))


def _done(outcome: PageOutcome) -> tuple[Any, ...]:
    row = outcome.row
    message = row.error.message[:MESSAGE_CHARS] if row.error else None
    size = len((row.markdown or "").encode("utf-8", "replace"))
    return (
        outcome.code,
        row.status,
        row.method,
        int(outcome.cached),
        round(outcome.seconds, 4),
        size,
        message,
        outcome.page.number,
    )
