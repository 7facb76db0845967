"""A folder taken into use: locked, held against what was asked for, its list taken in, its output cut."""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import itertools
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator

import apsw

from scraper.bulk import url_lists
from scraper.bulk.errors import BulkError, JobInUseError, JobMismatchError, told
from scraper.bulk.frontier import FILE_NAME, Frontier
from scraper.bulk.model import STDIN, Format, JobSpec
from scraper.bulk.outputs.files import Output
from scraper.bulk.url_lists import ListLine

TELL_S = 2.0
_LOCK = "lock"
_OUTPUTS = {
    Format.JSONL: ("jsonl", "JsonlOutput"),
    Format.PARQUET: ("parquet", "ParquetOutput"),
    Format.WARC: ("warc", "WarcOutput"),
}


def opened(
    order: JobSpec, stack: contextlib.ExitStack, tell: Callable[[str], None], unwanted: Callable[[], bool]
) -> tuple[Frontier, Output]:
    """The frontier and the output of a job; `stack` closes them.

    `unwanted`: whether nobody waits for it any more; a list of millions of lines takes minutes.

    Raises:
        BulkError: it cannot be begun or gone on with.
    """
    # What cannot be begun at all leaves nothing in the folder to stand in the way of a better command.
    module, name = _OUTPUTS[order.format]
    make = getattr(importlib.import_module(f"scraper.bulk.outputs.{module}"), name)
    asked = _asked(order)
    lines = url_lists.read(order.source)
    try:
        if not (order.folder / FILE_NAME).exists():
            lines = _begun(lines)
        order.folder.mkdir(parents=True, exist_ok=True)
        stack.enter_context(_locked(order))
        _refuse_strangers(order)
        frontier = Frontier(order.folder, limit=order.limit)
        stack.callback(frontier.close)
        _agree(order, asked, frontier)
        _fill(frontier, order, lines, tell, unwanted)
        output: Output = make(order.folder, frontier.place)
        stack.callback(output.close)
    except (OSError, apsw.Error) as error:
        raise told(error, order.folder) from error
    return frontier, output


@contextlib.contextmanager
def _locked(order: JobSpec) -> Iterator[None]:
    """One process works on a folder."""
    lock = os.open(order.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JobInUseError(f"Another process is at work in {order.folder}: let it end first.") from None
        yield
    finally:
        os.close(lock)


def _refuse_strangers(order: JobSpec) -> None:
    """Files that look like output and belong to no job here would be cut off."""
    if not (order.folder / FILE_NAME).exists() and any(order.folder.glob("pages-*")):
        raise JobMismatchError(
            f"{order.folder} holds pages, but not the job that wrote them: give another folder."
        )


def _asked(order: JobSpec) -> dict[str, str]:
    """What must be the same each time."""
    return {
        "--format": order.format.value,
        "--render": order.render,
        "list": url_lists.fingerprint(order.source),
    }


def _begun(lines: Iterator[ListLine]) -> Iterator[ListLine]:
    """The same lines, when the first of them could be read."""
    first = list(itertools.islice(lines, 1))
    return itertools.chain(first, lines)


def _agree(order: JobSpec, asked: dict[str, str], frontier: Frontier) -> None:
    """Note what was asked for, or hold it against what was asked for the first time."""
    begun = frontier.fact("order")
    if begun is None or not frontier.filled:
        # Also where nothing came of the first command: its list could not be used, or not be read to its end,
        # or was empty, as where the program that was to write it failed.
        frontier.empty()
        run = time.strftime("%Y%m%dT%H%M%S-", time.gmtime()) + uuid.uuid4().hex[:8]
        frontier.note({"order": asked, "run": run, "source": order.source})
        return
    differing = [name for name in asked if begun[name] != asked[name]]
    if order.source == STDIN and frontier.filled and "list" in differing:
        # What came by standard input once, or from a file, is all in the folder.
        differing.remove("list")
    if differing:
        raise JobMismatchError(_difference(order, begun, asked, differing, str(frontier.fact("source"))))


def _difference(
    order: JobSpec, begun: dict[str, str], asked: dict[str, str], names: list[str], source: str
) -> str:
    parts = [
        f"its list ({source}) was another, or has changed since"
        if name == "list"
        else f"it was begun with {name} {begun[name]}, not {asked[name]}"
        for name in names
    ]
    return (
        f"{order.folder} holds another job: {'; '.join(parts)}. "
        "Ask for the same again to go on with it, or give another folder."
    )


def _fill(
    frontier: Frontier,
    order: JobSpec,
    lines: Iterator[ListLine],
    tell: Callable[[str], None],
    unwanted: Callable[[], bool],
) -> None:
    """Take in the list where it is not in the folder already."""
    if frontier.filled:
        if order.source == STDIN:
            tell("Standard input is not read: the list of this job is in the folder.")
        return
    frontier.add(_told_lines(lines, tell, unwanted))
    if not frontier.filled:
        tell("There is no URL in the list.")


def _told_lines(
    lines: Iterable[ListLine], tell: Callable[[str], None], unwanted: Callable[[], bool]
) -> Iterable[ListLine]:
    told_at = time.monotonic()
    for number, line in enumerate(lines, start=1):
        if not number % 1_000 and time.monotonic() - told_at > TELL_S:
            told_at = time.monotonic()
            tell(f"taking in the list: {number:,} lines")
        if unwanted():
            raise BulkError("The list was not taken in to its end.")
        yield line
