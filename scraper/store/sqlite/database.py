"""One SQLite file that repairs or replaces itself; every failure is a `DatabaseUnavailableError`.

Used from one thread. A damaged file is kept under another name and begun anew; a file that cannot be opened
is tried again later; one that was deleted, or that another process moved away, is let go of at the next call;
each change of state is one line in the log.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import apsw
import tenacity

from scraper.store.sqlite.file_lock import locked

T = TypeVar("T")

log = logging.getLogger(__name__)

BUSY_LIMIT_MS = 1_000
"""How long another process may hold the file before this operation is given up."""
REOPEN_AFTER_S = 30.0
"""Between two tries to open a file that could not be opened."""
BUSY_PAUSE_S = 5.0
"""No call waits for a locked file so soon after another has waited in vain."""
JOURNAL_BYTES = 16 * 1024 * 1024
"""The write-ahead log is cut back to this size; it grows during large transactions."""
_LOG, _SHARED = "-wal", "-shm"
_NO_TABLE = "no such "
"""SQLite's words for a table or column that should be there."""
_NOTHING_TO_ROLL_BACK = "cannot rollback"

_LOCKED = (apsw.BusyError, apsw.LockedError)


class DatabaseUnavailableError(Exception):
    """The file cannot serve this operation; the log says why."""


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """What the tables are, and which version of them this program reads."""

    application_id: int
    version: int
    create: str
    drop: str
    """For versions from which no migration leads on."""
    migrations: Mapping[int, Callable[[apsw.Connection], None]] = field(default_factory=dict)
    """By the version found: the step to the next one."""
    on_open: Callable[[apsw.Connection], None] | None = None
    """What each connection needs, such as functions for its queries."""


class Database:
    """Owner of one file and its connection."""

    def __init__(self, path: Path, schema: DatabaseSchema, *, keeps: bool = True) -> None:
        """`keeps`: False for further connections to a file, whose first one tells of its faults and mends."""
        self.path = path
        self.problem: str | None = None
        self._schema = schema
        self._keeps = keeps
        self._connection: apsw.Connection | None = None
        self._opened: tuple[int, int] | None = None
        """Which file the connection is to."""
        self._not_before = 0.0
        self._problem_is_writing = False

    def run(self, work: Callable[[apsw.Connection], T], *, writes: bool = False) -> T:
        """Do `work` with the connection.

        Raises:
            Unavailable: it could not be done.
        """
        if time.monotonic() < self._not_before:
            raise DatabaseUnavailableError
        try:
            result = work(self._connected())
        except (apsw.Error, OSError) as told:
            error = _fault_behind(told)
            if _is_damage(error):
                self._on_damage(error)
            else:
                self._on_fault(error, writes=writes)
            raise DatabaseUnavailableError from error
        # A full disk can still be read: that a read went well does not mean that it is over.
        if writes or not self._problem_is_writing:
            self._note(None)
        return result

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                self._connection.close()
            self._connection = None

    def _connected(self) -> apsw.Connection:
        if self._connection is not None and self._is_replaced():
            if self._keeps:
                log.warning("the file was moved or deleted, and is begun anew: %s", self.path)
            self.close()
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _is_replaced(self) -> bool:
        """Whether the file that was opened no longer stands under its name."""
        return self._opened != _identity(self.path)

    def _open(self) -> apsw.Connection:
        if self._keeps:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not self.path.exists():
            raise DatabaseUnavailableError
        with locked(self.path, BUSY_LIMIT_MS / 1000):
            self._opened = _identity(self.path)
            connection = apsw.Connection(str(self.path))
            try:
                connection.set_busy_timeout(BUSY_LIMIT_MS)
                self._prepare_patiently(connection)
                self._opened = _identity(self.path)
            except BaseException:
                connection.close()
                raise
        return connection

    def _prepare_patiently(self, connection: apsw.Connection) -> None:
        """Servers that start together meet here: SQLite gives up a change of journal without waiting."""
        patience = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_LOCKED),
            stop=tenacity.stop_after_delay(BUSY_LIMIT_MS / 1000),
            wait=tenacity.wait_random(0.005, 0.03),
            before_sleep=lambda _: _roll_back(connection),
            reraise=True,
        )
        patience(self._prepare, connection)

    def _prepare(self, connection: apsw.Connection) -> None:
        """Make the tables of a new file, bring older ones forward, refuse what is not ours."""
        # Asked before anything is written: a foreign file stays as it is. In one transaction, because another
        # server may be making the tables at this moment.
        with connection:
            version, ours = self._version(connection)
            foreign = not ours and _has_tables(connection)
        if ours and version > self._schema.version:
            self._refuse("was made by a newer version of search-mcp")
        if foreign:
            self._refuse("belongs to another program")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")
        if self._schema.on_open is not None:
            self._schema.on_open(connection)
        if version != self._schema.version:
            self._create(connection)

    def _create(self, connection: apsw.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            # Another process may have been quicker.
            version = self._version(connection)[0]
            if version != self._schema.version:
                self._migrate(connection, version)
                connection.execute(f"PRAGMA application_id = {self._schema.application_id}")
                connection.execute(f"PRAGMA user_version = {self._schema.version}")
        connection.execute("COMMIT")

    def _migrate(self, connection: apsw.Connection, version: int) -> None:
        steps = range(version, self._schema.version)
        if version and all(step in self._schema.migrations for step in steps):
            log.info("bringing %s from version %d to %d", self.path, version, self._schema.version)
            for step in steps:
                self._schema.migrations[step](connection)
        else:
            connection.execute(self._schema.drop)
            connection.execute(self._schema.create)

    def _version(self, connection: apsw.Connection) -> tuple[int, bool]:
        ours = connection.pragma("application_id") == self._schema.application_id
        return (connection.pragma("user_version") if ours else 0), ours

    def _refuse(self, reason: str) -> None:
        self._step_aside()
        self._note(f"{self.path} {reason}")
        raise DatabaseUnavailableError

    def _on_fault(self, error: Exception, *, writes: bool) -> None:
        if isinstance(error, _LOCKED):
            self._not_before = time.monotonic() + BUSY_PAUSE_S
        elif self._connection is not None and self._is_replaced():
            return  # the next call opens what is there now
        elif not isinstance(error, apsw.FullError):
            self._step_aside()
        self._note(f"{_plainly(error)}: {self.path}", writing=writes and self._connection is not None)

    def _on_damage(self, error: Exception) -> None:
        """Begin anew, unless the file has been replaced already by whoever saw it first."""
        try:
            with locked(self.path, BUSY_LIMIT_MS / 1000):
                replaced = self._is_replaced()
                self.close()
                if self._keeps and not replaced:
                    self._set_aside(error)
        except OSError as obstacle:
            self._step_aside()
            self._note(f"{_plainly(error)}, and it cannot be moved away ({_plainly(obstacle)}): {self.path}")

    def _set_aside(self, error: Exception) -> None:
        """Keep a damaged file for whoever wants to look, and begin a new one at the next call."""
        aside = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}")
        for older in self.path.parent.glob(f"{self.path.name}.corrupt-*"):
            older.unlink()
        self.path.replace(aside)
        # The log holds the file's last pages; left behind, it would be applied to the new file.
        with contextlib.suppress(FileNotFoundError):
            _beside(self.path, _LOG).replace(_beside(aside, _LOG))
        _beside(self.path, _SHARED).unlink(missing_ok=True)
        self._note(f"{_plainly(error)}: kept as {aside}, and begun anew")

    def _step_aside(self) -> None:
        self.close()
        self._not_before = time.monotonic() + REOPEN_AFTER_S

    def _note(self, problem: str | None, *, writing: bool = False) -> None:
        """One line in the log for each change."""
        self._problem_is_writing = writing
        if problem == self.problem:
            return
        self.problem = problem
        if not self._keeps:
            return
        if problem is None:
            log.info("cache usable again file=%s", self.path)
        else:
            log.warning("going on without the cache: %s", problem)


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _fault_behind(error: Exception) -> Exception:
    """The fault itself where apsw tells of a rollback instead, which SQLite had done already."""
    before = error.__context__
    if str(error).startswith(_NOTHING_TO_ROLL_BACK) and isinstance(before, apsw.Error):
        return before
    return error


def _has_tables(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None


def _is_damage(error: Exception) -> bool:
    """Whether the file is not what this program once made of it."""
    if isinstance(error, apsw.SQLError):
        return str(error).startswith(_NO_TABLE)
    return isinstance(error, (apsw.CorruptError, apsw.NotADBError))


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands under this name; None for none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _plainly(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error) or type(error).__name__
