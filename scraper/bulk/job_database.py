"""Database of a job, a SQLite file: the pages to read, and the outcomes of those already read.

A page is marked as done in the same transaction that records the position in the output. So both agree after a crash:
output after that position is truncated, and its pages are read again.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

from scraper import errors
from scraper.bulk.model import JobPage, OutputPosition, PageOutcome
from scraper.bulk.url_lists import LINE_CHARS, ListLine
from scraper.site.crawled_page import CrawledPage, SiteFacts, dump_facts, dump_page, load_facts, load_page
from scraper.store.sqlite.database import transaction
from scraper.urls import host_of, parse_address, request_key
from scraper.values.text import read_file, read_statements

DATABASE_FILE_NAME = "frontier.sqlite"
LINES_PER_TRANSACTION = 5_000
_MESSAGE_CHARS = 300
"""Stored characters of an error message."""
_BUSY_MS = 5_000
_APPLICATION = 0x53_4D_43_42
_VERSION = 1

_CREATE = read_file(__package__, "job.sql")
_CREATE_CRAWL = read_file(__package__, "crawl.sql")
_SQL = read_statements(__package__, "job_statements.sql")


@dataclass(frozen=True, slots=True)
class HostBacklog:
    """A host and the number of its pages that are not done."""

    number: int
    name: str
    pending: int


@dataclass(frozen=True, slots=True)
class JobCounts:
    """Number of pages and lines of the URL list."""

    pages: int = 0
    """Distinct pages within the job's limit."""
    done: int = 0
    """Pages of these that are written, also those that failed."""
    lines: int = 0
    repeated: int = 0
    """Lines whose URL an earlier line has."""


class JobDatabase:
    """Access to the database file; only one thread may use it at a time."""

    def __init__(self, folder: Path, *, limit: int | None = None) -> None:
        """Open or create the file. Pages with numbers above `limit` are not read.

        Raises:
            apsw.Error: It cannot be opened, or is not a database of this version.
        """
        self._last = limit if limit is not None else (1 << 62)
        self._connection = apsw.Connection(str(folder / DATABASE_FILE_NAME))
        self._connection.set_busy_timeout(_BUSY_MS)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # Facts about the job

    def get_fact(self, name: str) -> Any:
        """Return a stored fact about the job, or None."""
        text = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).get
        return None if text is None else json.loads(str(text))

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        """Store facts about the job, all or none."""
        with transaction(self._connection):
            self._set_facts(facts)

    @property
    def position(self) -> OutputPosition:
        """Position up to which the output is on the disk."""
        rows = self.get_fact("place")
        return OutputPosition(**rows) if rows else OutputPosition()

    # Adding the list

    def reset(self) -> None:
        """Delete all pages, hosts and facts. Call it only while the URL list is not complete."""
        with transaction(self._connection):
            self._connection.execute("DELETE FROM facts; DELETE FROM pages; DELETE FROM hosts")

    def add_lines(self, lines: Iterable[ListLine]) -> None:
        """Add the pages of a URL list, `LINES_PER_TRANSACTION` lines in one transaction; then the list is complete."""
        host_ids: dict[str, int] = dict(self.select("SELECT name, id FROM hosts"))
        count = 0
        lines = iter(lines)
        while part := list(itertools.islice(lines, LINES_PER_TRANSACTION)):
            count += len(part)
            with transaction(self._connection):
                self._connection.executemany(_SQL["insert"], (self._make_row(line, host_ids) for line in part))
        self.set_facts({"lines": count, "filled": True})

    @property
    def is_filled(self) -> bool:
        """True if the URL list was added completely and is not empty."""
        return bool(self.get_fact("filled") and self.get_fact("lines"))

    def _make_row(self, line: ListLine, host_ids: dict[str, int]) -> tuple[int, str, str | None, str | None]:
        page = _parse_line(line)
        key = request_key(page.url) if not page.problem else page.url
        # An address without a scheme is stored as it is: it stands for several URLs.
        url = line.text if page.other_url else page.url
        if page.host not in host_ids:
            self._connection.execute("INSERT INTO hosts (name) VALUES (?)", (page.host,))
            host_ids[page.host] = self._connection.last_insert_rowid()
        return host_ids[page.host], key, None if key == url else url, page.problem or None

    # Adding pages while the job runs

    def prepare_crawl(self) -> None:
        """Create the table of visited pages, and delete pages that were added but not read: they are found again."""
        start_pages = self.get_fact("start_pages")
        with transaction(self._connection):
            self._connection.execute(_CREATE_CRAWL)
            if start_pages is None:
                start_pages = self.select("SELECT count(*) FROM pages")[0][0]
                self._set_facts({"start_pages": start_pages})
            self._connection.execute("DELETE FROM pages WHERE outcome IS NULL AND id > ?", (start_pages,))

    def add_pages(self, urls: Sequence[str]) -> list[JobPage | None]:
        """Add pages; return None for a URL that the job has already in the same form."""
        host_ids: dict[str, int] = {}
        added: list[JobPage | None] = []
        with transaction(self._connection):
            for url in urls:
                host = host_of(url)
                found = self._connection.execute("SELECT id FROM hosts WHERE name = ?", (host,)).get
                if found is not None:
                    host_ids[host] = int(str(found))
                self._connection.execute(_SQL["insert"], self._make_row(ListLine(url), host_ids))
                is_new = self._connection.changes() == 1
                added.append(JobPage(self._connection.last_insert_rowid(), url, host) if is_new else None)
        return added

    def list_start_pages(self) -> list[JobPage]:
        """Return the start pages of a crawl, read or not."""
        count = int(self.get_fact("start_pages") or 0)
        rows = self.select(
            "SELECT pages.id, coalesce(url, key), hosts.name, coalesce(problem, '') FROM pages "
            "JOIN hosts ON hosts.id = pages.host WHERE pages.id <= ? ORDER BY pages.id",
            (count,),
        )
        return [_make_page(*row) for row in rows]

    def iter_crawled(self) -> Iterator[tuple[int, CrawledPage, SiteFacts | None]]:
        """Yield site, page and facts of the visited pages of a crawl, in the order of their visits."""
        for site, page, facts in self._connection.execute("SELECT site, page, facts FROM crawled ORDER BY number"):
            yield int(site), load_page(bytes(page)), load_facts(bytes(facts))[0] if facts else None

    # Reading

    def list_hosts(self) -> list[HostBacklog]:
        """Return the hosts with pages that are not done, those with most pages first."""
        return [HostBacklog(*row) for row in self.select(_SQL["hosts"], (self._last,))]

    def list_pending(self, host: int, *, after: int, count: int) -> list[JobPage]:
        """Return up to `count` pages of a host that are not done, by number, with numbers above `after`."""
        return [_make_page(*row) for row in self.select(_SQL["waiting"], (host, after, self._last, count))]

    def counts(self) -> JobCounts:
        """Return the numbers of pages, done pages, lines and repeated lines."""
        pages, done = self.select("SELECT count(*), count(outcome) FROM pages WHERE id <= ?", (self._last,))[0]
        distinct = self.select("SELECT count(*) FROM pages")[0][0]
        lines = int(self.get_fact("lines") or 0)
        return JobCounts(pages, done, lines, max(0, lines - distinct))

    def select(self, statement: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of an SQL query."""
        return self._connection.execute(statement, bindings).fetchall()

    # Outcomes

    def mark_done(self, outcomes: Sequence[PageOutcome], position: OutputPosition) -> None:
        """Mark pages as done and record the new position of the output, and what a crawl learned from them."""
        crawled = [
            (one.page.site, one.page.url, dump_page(one.crawled), dump_facts(one.facts) if one.facts else b"")
            for one in outcomes
            if one.crawled
        ]
        with transaction(self._connection):
            self._connection.executemany(_SQL["mark_done"], map(_make_done_values, outcomes))
            self._connection.executemany("INSERT INTO crawled (site, url, page, facts) VALUES (?, ?, ?, ?)", crawled)
            self._set_facts({"place": asdict(position)})

    def set_position(self, position: OutputPosition) -> None:
        """Record the position after the output started a new file.

        It is synced to disk, because files that it makes obsolete are deleted next.
        """
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            self.set_facts({"place": asdict(position)})
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def _set_facts(self, facts: Mapping[str, Any]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in facts.items()],
        )

    def _prepare(self) -> None:
        connection = self._connection
        with transaction(connection):
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
        # A killed process loses nothing. A power failure loses at most the last rows, and the output is truncated to
        # match.
        connection.execute("PRAGMA synchronous = NORMAL")


def _parse_line(line: ListLine) -> JobPage:
    # JSON can contain half a surrogate pair, which UTF-8 cannot represent.
    text = line.text[:LINE_CHARS].encode("utf-8", "replace").decode()
    if line.problem:
        return JobPage(0, text, "", line.problem)
    try:
        url, other_url = parse_address(line.text)
    except errors.InvalidUrlError as error:
        return JobPage(0, text, "", error.sentence())
    return JobPage(0, url, host_of(url), other_url=other_url)


def _make_page(number: int, address: str, host: str, problem: str) -> JobPage:
    """Return the page of a row, whose address may have no scheme."""
    url, other_url = (address, "") if problem else parse_address(address)
    return JobPage(number, url, host, problem, other_url)


def _make_done_values(outcome: PageOutcome) -> tuple[Any, ...]:
    row = outcome.row
    message = row.error.message[:_MESSAGE_CHARS] if row.error else None
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
