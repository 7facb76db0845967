"""Manage a job in its folder: options, remaining pages, and writing of rows.

The pages are read by this process or by a cluster; both take them from here and deliver the outcomes. Every page of the
list is written once, and written rows are never lost.
"""

import asyncio
import contextlib
import errno
import fcntl
import functools
import hashlib
import importlib
import itertools
import json
import logging
import os
import resource
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

import apsw

from scraper.bulk import url_lists
from scraper.bulk.job_database import DATABASE_FILE_NAME, JobCounts, JobDatabase
from scraper.bulk.model import (
    STDIN,
    BulkError,
    DiskFullError,
    Format,
    JobInUseError,
    JobMismatchError,
    JobPage,
    JobSpec,
    PageOutcome,
)
from scraper.bulk.outputs.files import RowOutput
from scraper.bulk.report import ProgressStats
from scraper.bulk.url_lists import ListLine
from scraper.urls import parse_address

_REPORT_EVERY_S = 2.0
"""Seconds between two progress messages while the list is read."""
_LOCK_NAME = "lock"
_NO_RECIPE = "none"
_OUTPUTS = {
    Format.JSONL: ("files", "JsonlOutput"),
    Format.PARQUET: ("parquet", "ParquetOutput"),
    Format.WARC: ("warc", "WarcOutput"),
    Format.MARKDOWN: ("files", "MarkdownOutput"),
    Format.CSV: ("files", "CsvOutput"),
}


log = logging.getLogger(__name__)

_MIN_FREE_BYTES = 1 << 20
"""Bytes. With less free space, SQLite's I/O errors are reported as a full disk."""
_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def to_bulk_error(error: Exception, folder: Path) -> BulkError:
    """Convert an exception while writing to `folder` to an error for the user; log internal errors."""
    if not isinstance(error, OSError | apsw.Error):
        log.error("internal error while writing", exc_info=error)
        return BulkError(
            f"{folder} cannot be written because of an internal error: {type(error).__name__}: {error}. "
            "Written pages are safe. Another format in another folder may work for the others."
        )
    is_full = isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno in _FULL_ERRNOS)
    if is_full or (isinstance(error, apsw.IOError) and _is_out_of_space(folder)):
        return DiskFullError(
            f"There is no space left in {folder}. Written pages are safe: free space, then run the same command again."
        )
    reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
    return BulkError(f"{folder} cannot be used: {reason}.")


def _is_out_of_space(folder: Path) -> bool:
    """Return True if files cannot grow. SQLite reports quotas and file size limits as I/O errors."""
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return True
    with contextlib.suppress(OSError):
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize < _MIN_FREE_BYTES
    return False


def open_job_files(
    spec: JobSpec, stack: contextlib.ExitStack, notify: Callable[[str], None], is_abandoned: Callable[[], bool]
) -> tuple[JobDatabase, RowOutput]:
    """Return the database and the output of a job; `stack` closes them.

    `notify` shows messages to the user. `is_abandoned` returns True after the caller was canceled, because adding
    millions of lines takes minutes.

    Raises:
        BulkError: The job cannot be started or continued.
    """
    # A job that cannot start leaves nothing in the folder that would block a corrected command.
    module, name = _OUTPUTS[spec.format]
    output_class = getattr(importlib.import_module(f"scraper.bulk.outputs.{module}"), name)
    if spec.crawl is None:
        listed = url_lists.compute_fingerprint(spec.source)
    else:
        urls = [parse_address(url)[0] for url in spec.crawl.urls]
        listed = json.dumps([urls, spec.crawl.include, spec.crawl.exclude])
    # These options must be the same in each run.
    recipe = hashlib.sha256(spec.recipe.encode("utf-8", "replace")).hexdigest()[:12] if spec.recipe else _NO_RECIPE
    identity = {"--format": spec.format.value, "--render": spec.render, "--recipe": recipe, "list": listed}
    recipe_fields = json.loads(spec.recipe) if spec.format is Format.CSV else {}
    fields = tuple(recipe_fields.get("records") or recipe_fields.get("fields", ()))
    lines = url_lists.read_lines(spec.source) if spec.crawl is None else map(ListLine, spec.crawl.urls)
    try:
        if not (spec.folder / DATABASE_FILE_NAME).exists():
            # Read the first line here, so that an unreadable list fails before the folder is made.
            lines = itertools.chain(list(itertools.islice(lines, 1)), lines)
        spec.folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(_lock_folder(spec))
        if not (spec.folder / DATABASE_FILE_NAME).exists() and any(spec.folder.glob("pages-*")):
            # They would be truncated.
            raise JobMismatchError(
                f"{spec.folder} contains pages, but not the job that wrote them: give another folder."
            )
        database = JobDatabase(spec.folder, limit=spec.limit)
        stack.callback(database.close)
        _check_same_job(spec, identity, database)
        if not database.is_filled:
            database.add_lines(_report_lines(lines, notify, is_abandoned))
            if not database.is_filled:
                notify("There is no URL in the list.")
        elif spec.source == STDIN:
            notify("Standard input is not read: the list of this job is in the folder.")
        if spec.crawl is not None:
            database.prepare_crawl()
        output: RowOutput = output_class(spec.folder, database.position, fields)
        stack.callback(output.close)
    except (OSError, apsw.Error) as error:
        raise to_bulk_error(error, spec.folder) from error
    return database, output


@contextlib.contextmanager
def _lock_folder(spec: JobSpec) -> Iterator[None]:
    lock = os.open(spec.folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JobInUseError(f"Another process is at work in {spec.folder}: let it end first.") from None
        yield
    finally:
        os.close(lock)


def _check_same_job(spec: JobSpec, identity: dict[str, str], database: JobDatabase) -> None:
    """Store the options and list hash of a new job, or compare them with those of the existing job."""
    previous = database.get_fact("order")
    if previous is None or not database.is_filled:
        # Also if the list of the first command was unusable, incomplete or empty, for example because the program that
        # wrote it failed.
        database.reset()
        run = time.strftime("%Y%m%dT%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8]
        database.set_facts({"order": identity, "run": run, "source": spec.source})
        return
    # Earlier versions stored no recipe.
    previous = {"--recipe": _NO_RECIPE, **previous}
    differing = [name for name in identity if previous[name] != identity[name]]
    if spec.source == STDIN and database.is_filled and "list" in differing:
        # The folder already contains the whole list.
        differing.remove("list")
    if differing:
        parts = [
            f"its list ({database.get_fact('source')}) was another, or has changed"
            if name == "list"
            else f"it was started with {name} {previous[name]}, not {identity[name]}"
            for name in differing
        ]
        raise JobMismatchError(
            f"{spec.folder} contains another job: {'; '.join(parts)}. "
            "Use the same options again to continue it, or give another folder."
        )


def _report_lines(
    lines: Iterable[ListLine], notify: Callable[[str], None], is_abandoned: Callable[[], bool]
) -> Iterable[ListLine]:
    reported_at = time.monotonic()
    for number, line in enumerate(lines, start=1):
        if not number % 1_000 and time.monotonic() - reported_at > _REPORT_EVERY_S:
            reported_at = time.monotonic()
            notify(f"reading the list: {number:,} lines")
        if is_abandoned():
            raise BulkError("The list was not read to its end.")
        yield line


T = TypeVar("T")

_GATHER_S = 0.2
"""Seconds during which rows are collected for one write. A kill loses at most these rows and the running pages."""
BATCH_ROWS = 256
"""Rows that may wait for the disk; with more, no page is started."""
_BATCH_CHARS = 64 << 20
"""Characters of rows that may wait for the disk; with more, no page is started."""


class BulkJob:
    """A job that is open in this process; use it as `async with BulkJob.open(spec)`."""

    def __init__(self, spec: JobSpec, database: JobDatabase, output: RowOutput, thread: ThreadPoolExecutor) -> None:
        """Use open files; `open` calls this in the thread that owns them."""
        self.spec = spec
        self.run_id: str = database.get_fact("run")
        """ID of the job; a row is identified by its URL and this ID."""
        self.is_resumed = bool(database.get_fact("begun"))
        """True if an earlier process worked on the job."""
        self.stats = ProgressStats()
        self.needs_snapshots = output.needs_snapshots
        self._database = database
        self._output = output
        self._thread = thread
        self._batch: list[PageOutcome] = []
        """Outcomes that are not yet written."""
        self._batch_chars = 0
        self._has_outcomes = asyncio.Event()
        self._has_space = asyncio.Event()
        self._failure: BulkError | None = None
        self._closing = False
        self._began = time.monotonic()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, spec: JobSpec, *, notify: Callable[[str], None] = lambda _: None) -> AsyncIterator[Self]:
        """Start or continue the job; all delivered rows are written at the end of the block.

        Raises:
            BulkError: The job cannot be started, or the disk is full; the message says what to do.
        """
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, thread_name_prefix="bulk")
        # One thread does all disk operations in order.
        stack = contextlib.ExitStack()
        is_abandoned = threading.Event()
        try:
            database, output = await loop.run_in_executor(
                thread, open_job_files, spec, stack, notify, is_abandoned.is_set
            )
            job = await loop.run_in_executor(thread, cls, spec, database, output, thread)
            job.stats.start(await job.counts(), time.monotonic())
            await job.query(lambda database: database.set_facts({"begun": True}))
            async with job._write_in_background():
                yield job
        finally:
            is_abandoned.set()
            await loop.run_in_executor(thread, stack.close)
            thread.shutdown()

    async def counts(self) -> JobCounts:
        """Return the numbers of pages, written pages, lines and repeated lines."""
        return await self._run_in_thread(self._database.counts)

    async def list_pages(self, after_by_host: Iterable[tuple[int, int]], *, count: int) -> list[list[JobPage]]:
        """Return up to `count` pages that are not done of each (host number, page number), after that page."""
        requests, list_pending = list(after_by_host), self._database.list_pending
        return await self._run_in_thread(
            lambda: [list_pending(host, after=after, count=count) for host, after in requests]
        )

    async def add_pages(self, urls: Sequence[str]) -> list[JobPage | None]:
        """Add pages while the job runs; return None for those that it has already."""
        pages = await self._run_in_thread(lambda: self._database.add_pages(urls))
        self.stats.total += sum(page is not None for page in pages)
        return pages

    async def deliver(self, outcome: PageOutcome) -> None:
        """Queue an outcome for writing; wait while the queue is full.

        Raises:
            BulkError: Writing failed.
        """
        while self._is_batch_full() and self._failure is None:
            self._has_space.clear()
            await self._has_space.wait()
        if self._failure is not None:
            raise self._failure
        self.stats.delivered += 1
        self.stats.retried += max(0, outcome.tries - 1)
        self._batch.append(outcome)
        self._batch_chars += len(outcome.row.markdown or "")
        if outcome.snapshot is not None:
            self._batch_chars += len(outcome.snapshot.body) + len(outcome.snapshot.html)
        self._has_outcomes.set()

    def _is_batch_full(self) -> bool:
        return len(self._batch) >= BATCH_ROWS or self._batch_chars >= _BATCH_CHARS

    async def flush(self) -> None:
        """Write all queued outcomes; raise BulkError if that fails."""
        outcomes, self._batch, self._batch_chars = self._batch, [], 0
        self._has_outcomes.clear()
        if outcomes:
            await self._run_in_thread(functools.partial(self._store_rows, outcomes))
            self.stats.count_written(outcomes, time.monotonic())
        self._has_space.set()

    async def finish(self) -> None:
        """Write all queued outcomes, and complete the output if the list is complete; raise BulkError on failure."""
        await self.flush()
        await self._run_in_thread(self._finish)

    async def query(self, query_database: Callable[[JobDatabase], T]) -> T:
        """Run a query on the database in its thread, and return its result."""
        return await self._run_in_thread(lambda: query_database(self._database))

    async def _run_in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except BulkError:
            raise
        except Exception as error:
            # Any error ends the writing, so callers must not wait for it.
            self._failure = self._failure or to_bulk_error(error, self.spec.folder)
            self._has_space.set()
            raise self._failure from error

    @contextlib.asynccontextmanager
    async def _write_in_background(self) -> AsyncIterator[None]:
        """Write queued outcomes while the block runs, and the remaining ones at its end."""
        task = asyncio.create_task(self._write_repeatedly(), name="bulk writer")
        try:
            yield
        finally:
            self._closing = True
            self._has_outcomes.set()
            await asyncio.wait({task})
            if self._failure is None:
                await self.flush()
                await self._run_in_thread(self._add_time_spent)

    async def _write_repeatedly(self) -> None:
        with contextlib.suppress(BulkError):
            while not self._closing:
                await self._has_outcomes.wait()
                if not self._is_batch_full() and not self._closing:
                    await asyncio.sleep(_GATHER_S)
                await self.flush()

    def _store_rows(self, outcomes: list[PageOutcome]) -> None:
        self._database.mark_done(outcomes, self._output.append(outcomes))
        if (position := self._output.rotate()) is not None:
            self._database.set_position(position)
            self._output.remove_obsolete()

    def _finish(self) -> None:
        counts = self._database.counts()
        if counts.done >= counts.pages:
            self._database.set_position(self._output.finish())
            self._output.remove_obsolete()
        self._add_time_spent()

    def _add_time_spent(self) -> None:
        spent_s = time.monotonic() - self._began
        self._began = time.monotonic()
        self._database.set_facts({"spent_s": (self._database.get_fact("spent_s") or 0.0) + spent_s})
