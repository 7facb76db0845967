"""Open one SQLite file, and repair or replace it; every failure is a `DatabaseUnavailableError`.

A `Database` is used from one thread. A damaged file is renamed and a new one is created. A file that cannot be opened
is tried again later. A file that was deleted or replaced by another process is reopened at the next call. Each change
of state is one line in the log.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import apsw
import tenacity
from tenacity.wait import wait_base

from scraper.store.protocols import DatabaseUnavailableError

T = TypeVar("T")

log = logging.getLogger(__name__)

BUSY_LIMIT_MS = 1_000
"""Milliseconds to wait for a file locked by another process before the operation fails."""
REOPEN_AFTER_S = 30.0
"""Seconds between two attempts to open a file that could not be opened."""
BUSY_PAUSE_S = 5.0
"""Seconds after a wait for a locked file has failed during which no other call waits for it."""
_JOURNAL_BYTES = 16 * 1024 * 1024
"""Bytes to which the write-ahead log is truncated after it has grown in a large transaction."""
_MISSING_TABLE = "no such "
"""Start of SQLite's message about a missing table or column."""
_ROLLBACK_FAILED = "cannot rollback"

_LOCKED = (apsw.BusyError, apsw.LockedError)


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """Tables of a file, and the version of them that this program reads."""

    application_id: int
    version: int
    create: str
    drop: str
    """Statement that deletes the tables of versions that cannot be migrated."""
    migrations: Mapping[int, Callable[[apsw.Connection], None]] = field(default_factory=dict)
    """Function that migrates each version to the next one."""
    on_open: Callable[[apsw.Connection], None] | None = None
    """Prepares each new connection, for example by registering SQL functions."""


class Database:
    """One file and its connection."""

    def __init__(self, path: Path, schema: DatabaseSchema, *, is_owner: bool = True) -> None:
        """Open the file with the first `run`; connections that are not `is_owner` neither create, repair nor log."""
        self.path = path
        self.problem: str | None = None
        self._schema = schema
        self._is_owner = is_owner
        self._connection: apsw.Connection | None = None
        self._file_id: tuple[int, int] | None = None
        """Device and inode of the open file."""
        self._not_before = 0.0
        self._problem_is_writing = False

    def run(self, work: Callable[[apsw.Connection], T], *, writes: bool = False) -> T:
        """Run `work` with the connection; raise DatabaseUnavailableError if the file cannot be used."""
        if time.monotonic() < self._not_before:
            raise DatabaseUnavailableError
        try:
            if self._connection is not None and self._is_replaced():
                if self._is_owner:
                    log.warning("the file was moved or deleted, a new one is created: %s", self.path)
                self.close()
            if self._connection is None:
                self._connection = self._open()
            result = work(self._connection)
        except (apsw.Error, OSError) as raised:
            error = _find_cause(raised)
            lacks_tables = isinstance(error, apsw.SQLError) and str(error).startswith(_MISSING_TABLE)
            if lacks_tables or isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
                self._on_damage(error)
            else:
                self._on_fault(error, writes=writes)
            raise DatabaseUnavailableError from error
        # A full disk can still be read, so a successful read does not end a problem with writing.
        if writes or not self._problem_is_writing:
            self._set_problem(None)
        return result

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                self._connection.close()
            self._connection = None

    def _is_replaced(self) -> bool:
        return self._file_id != _read_file_id(self.path)

    def _open(self) -> apsw.Connection:
        if self._is_owner:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not self.path.exists():
            raise DatabaseUnavailableError
        with _lock_file(self.path):
            if self._is_owner:
                # Others must not read the file; SQLite gives its other files the same mode.
                self.path.touch(mode=0o600)
                with contextlib.suppress(PermissionError):  # another user owns the file
                    self.path.chmod(0o600)
            self._file_id = _read_file_id(self.path)
            connection = apsw.Connection(str(self.path))
            try:
                connection.set_busy_timeout(BUSY_LIMIT_MS)
                # SQLite does not wait for the lock that a change of the journal mode needs, while another server
                # that starts at the same time holds it.
                wait = tenacity.wait_random(0.005, 0.03)
                retrying = _retry_on(_LOCKED, wait, before_sleep=lambda _: _roll_back(connection))
                retrying(self._prepare, connection)
                self._file_id = _read_file_id(self.path)
            except BaseException:
                connection.close()
                raise
        return connection

    def _prepare(self, connection: apsw.Connection) -> None:
        # Checked before anything is written, so that a file of another program is not changed. In one transaction,
        # because another server may be creating the tables at this moment.
        with connection:
            version, is_ours = self._version(connection)
            is_foreign = (
                not is_ours and connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None
            )
        if is_ours and version > self._schema.version:
            self._refuse("was made by a newer version of search-mcp")
        if is_foreign:
            self._refuse("belongs to another program")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_BYTES}")
        if self._schema.on_open is not None:
            self._schema.on_open(connection)
        if version == self._schema.version:
            return
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            # Another process may have created them first.
            version = self._version(connection)[0]
            if version != self._schema.version:
                steps = range(version, self._schema.version)
                if version and all(step in self._schema.migrations for step in steps):
                    log.info("migrating %s from version %d to %d", self.path, version, self._schema.version)
                    for step in steps:
                        self._schema.migrations[step](connection)
                else:
                    connection.execute(self._schema.drop)
                    connection.execute(self._schema.create)
                connection.execute(f"PRAGMA application_id = {self._schema.application_id}")
                connection.execute(f"PRAGMA user_version = {self._schema.version}")
        connection.execute("COMMIT")

    def _version(self, connection: apsw.Connection) -> tuple[int, bool]:
        is_ours = connection.pragma("application_id") == self._schema.application_id
        return (connection.pragma("user_version") if is_ours else 0), is_ours

    def _refuse(self, reason: str) -> None:
        self._close_for_a_while()
        self._set_problem(f"{self.path} {reason}")
        raise DatabaseUnavailableError

    def _on_fault(self, error: Exception, *, writes: bool) -> None:
        if isinstance(error, _LOCKED):
            self._not_before = time.monotonic() + BUSY_PAUSE_S
        elif self._connection is not None and self._is_replaced():
            return  # the next call opens what is there now
        elif not isinstance(error, apsw.FullError):
            self._close_for_a_while()
        self._set_problem(f"{_describe(error)}: {self.path}", writing=writes and self._connection is not None)

    def _on_damage(self, error: Exception) -> None:
        try:
            with _lock_file(self.path):
                was_replaced = self._is_replaced()
                self.close()
                if self._is_owner and not was_replaced:
                    self._move_away(error)
        except OSError as obstacle:
            self._close_for_a_while()
            self._set_problem(f"{_describe(error)}, and it cannot be moved away ({_describe(obstacle)}): {self.path}")

    def _move_away(self, error: Exception) -> None:
        """Rename a damaged file so that it can be examined, and delete older ones. The next call creates a new file."""
        moved = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}")
        for older in self.path.parent.glob(f"{self.path.name}.corrupt-*"):
            older.unlink()
        self.path.replace(moved)
        # The write-ahead log holds the last changes of the old file; SQLite would apply them to the new file.
        with contextlib.suppress(FileNotFoundError):
            Path(f"{self.path}-wal").replace(f"{moved}-wal")
        Path(f"{self.path}-shm").unlink(missing_ok=True)
        self._set_problem(f"{_describe(error)}: moved to {moved}, a new file is created")

    def _close_for_a_while(self) -> None:
        self.close()
        self._not_before = time.monotonic() + REOPEN_AFTER_S

    def _set_problem(self, problem: str | None, *, writing: bool = False) -> None:
        """Store the current problem and log each change once."""
        self._problem_is_writing = writing
        if problem == self.problem:
            return
        self.problem = problem
        if not self._is_owner:
            return
        if problem is None:
            log.info("cache usable again file=%s", self.path)
        else:
            log.warning("continuing without the cache: %s", problem)


@contextlib.contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Run the block in a transaction.

    apsw's own context manager reports a full disk as a failed rollback, which SQLite has already done.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _retry_on(
    kinds: type[Exception] | tuple[type[Exception], ...],
    wait: wait_base,
    before_sleep: Callable[[tenacity.RetryCallState], None] | None = None,
) -> tenacity.Retrying:
    """Return a function that calls another one again after these errors, for `BUSY_LIMIT_MS` at most."""
    retry, stop = tenacity.retry_if_exception_type(kinds), tenacity.stop_after_delay(BUSY_LIMIT_MS / 1000)
    return tenacity.Retrying(retry=retry, stop=stop, wait=wait, before_sleep=before_sleep, reraise=True)


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _find_cause(error: Exception) -> Exception:
    """Return the original error if apsw reports a failed rollback that SQLite had already done."""
    before = error.__context__
    if str(error).startswith(_ROLLBACK_FAILED) and isinstance(before, apsw.Error):
        return before
    return error


def _read_file_id(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _describe(error: Exception) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"{error.filename} is not a folder"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return str(error) or type(error).__name__


_LOCK_PAUSE_S = 0.02


@contextlib.contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """Hold the lock file of a file, if there can be one; raise BlockingIOError after `BUSY_LIMIT_MS`."""
    # Only one process at a time may open or move a file; otherwise a new file could be moved by mistake.
    try:
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        retrying = _retry_on(BlockingIOError, tenacity.wait_fixed(_LOCK_PAUSE_S))
        retrying(fcntl.flock, lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


_READERS = 2
"""Reading threads. SQLite runs without Python's lock; more threads than cores of a small machine do not help."""
_WAITING_LIMIT = 256
"""Reads that may wait. Further reads count as misses."""
_CLOSE_LIMIT_S = 5.0


class DatabaseThreads:
    """One thread that writes to a file, and threads that read it at the same time; each has its own connection.

    The writing connection detects, logs and repairs problems of the file.
    """

    def __init__(self, path: Path, schema: DatabaseSchema, name: str) -> None:
        """Prepare the threads, which open the file on first use; their names begin with `name`."""
        self.writer = ThreadPoolExecutor(1, thread_name_prefix=f"{name}-writer")
        self.database = Database(path, schema)
        """Connection of the writing thread."""
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix=f"{name}-reader")
        self._schema = schema
        self._waiting = 0
        self._local = threading.local()
        self._connections: list[Database] = []

    @property
    def problem(self) -> str | None:
        """Reason why the file is unavailable, or None."""
        return self.database.problem

    async def run(self, work: Callable[[apsw.Connection], T], limit_s: float) -> T:
        """Return the result of `work`, which reads.

        Raises:
            DatabaseUnavailableError: The file is unavailable, too many reads wait, or time is up.
        """
        if self._waiting >= _WAITING_LIMIT:
            raise DatabaseUnavailableError
        self._waiting += 1
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)
        except TimeoutError:
            raise DatabaseUnavailableError from None
        except DatabaseUnavailableError:
            # The writer can create or repair the file.
            return await self.run_in_writer(work, limit_s)
        finally:
            self._waiting -= 1

    async def fetch(
        self, statement: str, values: tuple[Any, ...], limit_s: float, *, writes: bool = False
    ) -> list[Any]:
        """Return the rows of a statement; raise DatabaseUnavailableError as `run` does."""

        def work(connection: apsw.Connection) -> list[Any]:
            return connection.execute(statement, values).fetchall()

        if writes:
            return await self.run_in_writer(work, limit_s, writes=True)
        return await self.run(work, limit_s)

    async def run_in_writer(self, work: Callable[[apsw.Connection], T], limit_s: float, *, writes: bool = False) -> T:
        """Run `work` in the writing thread; raise DatabaseUnavailableError if the file is unavailable or time is up."""
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.wrap_future(self.writer.submit(self.database.run, work, writes=writes))
        except TimeoutError:
            raise DatabaseUnavailableError(may_retry=True) from None

    def try_run(self, work: Callable[[apsw.Connection], T], *, writes: bool = False) -> T | None:
        """Run `work` in this thread, which must be the writing one; return None if the file is unavailable."""
        try:
            return self.database.run(work, writes=writes)
        except DatabaseUnavailableError:
            return None

    async def close(self) -> None:
        """Stop the threads and close their connections."""
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                self._readers.shutdown(wait=False, cancel_futures=True)
                await asyncio.to_thread(self._readers.shutdown)
                for database in self._connections:
                    database.close()
                await asyncio.wrap_future(self.writer.submit(self.database.close))
        except TimeoutError:
            log.warning("%s did not close within %s s", self.database.path.name, _CLOSE_LIMIT_S)
        finally:
            self.writer.shutdown(wait=False, cancel_futures=True)

    def _read(self, work: Callable[[apsw.Connection], T]) -> T:
        database: Database | None = getattr(self._local, "database", None)
        if database is None:
            database = self._local.database = Database(self.database.path, self._schema, is_owner=False)
            self._connections.append(database)
        return database.run(work)
