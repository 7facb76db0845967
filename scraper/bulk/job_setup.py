"""Open the folder of a job: lock it, compare its options, add the URL list, truncate the output."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib
import itertools
import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apsw

from scraper.bulk import url_lists
from scraper.bulk.errors import BulkError, JobInUseError, JobMismatchError, to_bulk_error
from scraper.bulk.frontier import FRONTIER_FILE_NAME, Frontier
from scraper.bulk.model import STDIN, Format, JobSpec
from scraper.bulk.outputs.files import RowOutput
from scraper.bulk.url_lists import ListLine
from scraper.urls import parse_address

_REPORT_EVERY_S = 2.0
"""Seconds between two progress messages while the list is read."""
_LOCK_NAME = "lock"
_NO_RECIPE = "none"
_OUTPUTS = {
    Format.JSONL: ("jsonl_and_csv", "JsonlOutput"),
    Format.PARQUET: ("parquet", "ParquetOutput"),
    Format.WARC: ("warc", "WarcOutput"),
    Format.CSV: ("jsonl_and_csv", "CsvOutput"),
}


def open_job_files(
    spec: JobSpec, stack: contextlib.ExitStack, notify: Callable[[str], None], is_abandoned: Callable[[], bool]
) -> tuple[Frontier, RowOutput]:
    """Return the frontier and the output of a job; `stack` closes them.

    `notify` shows messages to the user. `is_abandoned` returns True after the caller was canceled, because adding
    millions of lines takes minutes.

    Raises:
        BulkError: The job cannot be started or continued.
    """
    # A job that cannot start leaves nothing in the folder that would block a corrected command.
    module, name = _OUTPUTS[spec.format]
    output_class = getattr(importlib.import_module(f"scraper.bulk.outputs.{module}"), name)
    # These options must be the same in each run.
    recipe = hashlib.sha256(spec.recipe.encode("utf-8", "replace")).hexdigest()[:12] if spec.recipe else _NO_RECIPE
    identity = {"--format": spec.format.value, "--render": spec.render, "--recipe": recipe, "list": _fingerprint(spec)}
    options: dict[str, Any] = {"fields": _read_columns(spec.recipe)} if spec.format is Format.CSV else {}
    lines = url_lists.read_lines(spec.source) if spec.crawl is None else map(ListLine, spec.crawl.urls)
    try:
        if not (spec.folder / FRONTIER_FILE_NAME).exists():
            # Read the first line here, so that an unreadable list fails before the folder is made.
            lines = itertools.chain(list(itertools.islice(lines, 1)), lines)
        spec.folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(_lock_folder(spec))
        _refuse_foreign_files(spec)
        frontier = Frontier(spec.folder, limit=spec.limit)
        stack.callback(frontier.close)
        _check_same_job(spec, identity, frontier)
        _add_list(frontier, spec, lines, notify, is_abandoned)
        if spec.crawl is not None:
            frontier.prepare_crawl()
        output: RowOutput = output_class(spec.folder, frontier.position, **options)
        stack.callback(output.close)
    except (OSError, apsw.Error) as error:
        raise to_bulk_error(error, spec.folder) from error
    return frontier, output


def _fingerprint(spec: JobSpec) -> str:
    """Return a text that is equal for equal lists of URLs, or for equal sites of a crawl."""
    if spec.crawl is None:
        return url_lists.compute_fingerprint(spec.source)
    urls = [parse_address(url)[0] for url in spec.crawl.urls]
    return json.dumps([urls, spec.crawl.include, spec.crawl.exclude])


@contextlib.contextmanager
def _lock_folder(spec: JobSpec) -> Iterator[None]:
    """Lock the folder for the block, so that only one process uses it."""
    lock = os.open(spec.folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JobInUseError(f"Another process is at work in {spec.folder}: let it end first.") from None
        yield
    finally:
        os.close(lock)


def _refuse_foreign_files(spec: JobSpec) -> None:
    """Refuse a folder with output files but without a frontier, because the files would be truncated."""
    if not (spec.folder / FRONTIER_FILE_NAME).exists() and any(spec.folder.glob("pages-*")):
        raise JobMismatchError(f"{spec.folder} contains pages, but not the job that wrote them: give another folder.")


def _check_same_job(spec: JobSpec, identity: dict[str, str], frontier: Frontier) -> None:
    """Store the options and list hash of a new job, or compare them with those of the existing job."""
    previous = frontier.get_fact("order")
    if previous is None or not frontier.is_filled:
        # Also if the list of the first command was unusable, incomplete or empty, for example because the program that
        # wrote it failed.
        frontier.reset()
        run = time.strftime("%Y%m%dT%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8]
        frontier.set_facts({"order": identity, "run": run, "source": spec.source})
        return
    # Earlier versions stored no recipe.
    previous = {"--recipe": _NO_RECIPE, **previous}
    differing = [name for name in identity if previous[name] != identity[name]]
    if spec.source == STDIN and frontier.is_filled and "list" in differing:
        # The folder already contains the whole list.
        differing.remove("list")
    if differing:
        parts = [
            f"its list ({frontier.get_fact('source')}) was another, or has changed"
            if name == "list"
            else f"it was started with {name} {previous[name]}, not {identity[name]}"
            for name in differing
        ]
        raise JobMismatchError(
            f"{spec.folder} contains another job: {'; '.join(parts)}. "
            "Use the same options again to continue it, or give another folder."
        )


def _read_columns(recipe: str) -> tuple[str, ...]:
    """Return the names of the fields of a recipe, or of its columns of a list."""
    data = json.loads(recipe)
    return tuple(data.get("records") or data["fields"])


def _add_list(
    frontier: Frontier,
    spec: JobSpec,
    lines: Iterator[ListLine],
    notify: Callable[[str], None],
    is_abandoned: Callable[[], bool],
) -> None:
    """Add the URL list, unless the frontier already contains it."""
    if frontier.is_filled:
        if spec.source == STDIN:
            notify("Standard input is not read: the list of this job is in the folder.")
        return
    frontier.add_lines(_report_lines(lines, notify, is_abandoned))
    if not frontier.is_filled:
        notify("There is no URL in the list.")


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
