"""Command `watch`: check a list of pages for changes, for example by cron."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from scraper.call_context import Deadline
from scraper.cli.exit_codes import ExitCode, code_of_error
from scraper.cli.message_rewriting import rewrite_json
from scraper.cli.setting_options import LOG_SETTINGS, READ_MANY, STORE_SETTINGS, Command, load_settings, with_settings
from scraper.cli.store_access import with_store
from scraper.errors import InvalidUrlError, ScraperError
from scraper.settings import Settings
from scraper.urls import parse_address

if TYPE_CHECKING:
    from scraper.site.model import PageChange
    from scraper.site.page_change_tracker import PageChangeTracker
    from scraper.store.record_logs import RecordLogs


_PRINCIPAL = "local"
_LOG = "watch:"
_EVERY = re.compile(r"(\d+)\s*([mhd])")
_UNITS_S = {"m": 60, "h": 3_600, "d": 86_400}
_EARLY_SHARE = 0.05
"""Share of the interval by which a page may be checked early, because cron starts at slightly different times."""
EXEC_LIMIT_S = 60.0
"""Seconds for the command of `--exec`, for each changed page."""
_DEADLINE_S = 120.0
"""Seconds to read all pages that are due."""
_ROW_TOKENS = 4_000
"""Tokens of the changes of one page."""
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@dataclass(frozen=True, slots=True)
class WatchedPage:
    """A page of the list with the time and status of its last check."""

    url: str
    every_s: int
    """Minimum seconds between two checks."""
    added_at: float
    checked_at: float = 0.0
    """Unix time of the last check, 0 before the first; `added_at` is one too."""
    status: str = "new"
    """Status of `PageChange`, `failed`, or `new` before the first check."""
    other_url: str = ""
    """URL that replaces `url` if only this one can be reached, for an address without a scheme."""


@click.group()
def watch() -> None:
    """Report the changes of a list of pages, for cron."""


@watch.command(cls=Command, examples=["watch add example.com/pricing --every 6h"])
@click.argument("url")
@click.option("--every", default="1d", metavar="TIME", help="Minimum time between two checks: 30m, 6h, 1d.  [1d]")
@_json_option
@with_settings(LOG_SETTINGS | STORE_SETTINGS)
def add(url: str, every: str, as_json: bool, **flags: Any) -> int:
    """Add a page to the list, or change its interval."""
    found = _EVERY.fullmatch(every.strip())
    if found is None or not int(found[1]):
        raise click.UsageError(f"--every must be a number with m, h or d, such as 6h, not {every!r}.")
    try:
        target, other_url = parse_address(url)
    except InvalidUrlError as error:
        raise click.UsageError(str(error)) from None

    new = WatchedPage(target, int(found[1]) * _UNITS_S[found[2]], time.time(), other_url=other_url)

    async def work(records: RecordLogs) -> WatchedPage:
        is_other_known = any(page.url == new.other_url for page in await _read(records))
        page = replace(new, url=new.other_url, other_url="") if is_other_known else new
        await _write(records, page)
        return page

    page = with_store(load_settings(flags), lambda store: work(store.records))
    click.echo(json.dumps(asdict(page)) if as_json else f"{page.url} is watched every {every}.")
    return ExitCode.SUCCESS


@watch.command(name="list", cls=Command, examples=["watch list", "watch list --json"])
@_json_option
@with_settings(LOG_SETTINGS | STORE_SETTINGS)
def list_pages(as_json: bool, **flags: Any) -> int:
    """Print the watched pages."""
    pages = with_store(load_settings(flags), lambda store: _read(store.records))
    if as_json:
        click.echo(json.dumps([asdict(page) for page in pages]))
        return ExitCode.SUCCESS
    for page in pages:
        checked = _moment(page.checked_at) if page.checked_at else "never"
        click.echo(f"{page.url}  every {_interval(page.every_s)}, checked {checked}, {page.status}")
    if not pages:
        click.echo("No page is watched. Add one: search-mcp watch add URL", err=True)
    return ExitCode.SUCCESS if pages else ExitCode.INCOMPLETE


@watch.command(cls=Command, examples=["watch remove example.com/pricing"])
@click.argument("url")
@_json_option
@with_settings(LOG_SETTINGS | STORE_SETTINGS)
def remove(url: str, as_json: bool, **flags: Any) -> int:
    """Remove a page from the list; its versions stay."""

    async def work(records: RecordLogs) -> list[str]:
        known = {page.url for page in await _read(records)}
        found = sorted(known.intersection(parse_address(url)))
        for one in found:
            await records.delete(_PRINCIPAL, _LOG + one)
        return found

    try:
        found = with_store(load_settings(flags), lambda store: work(store.records))
    except InvalidUrlError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps({"removed": found}))
    elif found:
        click.echo(f"{found[0]} is no longer watched.")
    else:
        click.echo(f"{url} was not watched. See: search-mcp watch list", err=True)
    return ExitCode.SUCCESS if found else ExitCode.INCOMPLETE


@watch.command(
    cls=Command,
    examples=["watch run", "watch run --json", "watch run --exec 'mail -s Changes me@example.com'", "watch run --all"],
)
@click.option("--all", "check_all", is_flag=True, help="Check every page, whether it is due or not.")
@click.option("--exec", "command", metavar="COMMAND", help="Run this for each changed page, with JSON on its input.")
@_json_option
@with_settings(READ_MANY)
def run(check_all: bool, command: str | None, as_json: bool, **flags: Any) -> int:
    """Check the pages that are due and print what changed.

    The exit code is 10 if a page changed, and 0 if none did. If pages failed and none changed, it is that of the
    failure, or 1 if they failed for different reasons.
    """
    return asyncio.run(_run(load_settings(flags), command, check_all=check_all, as_json=as_json))


async def _run(settings: Settings, command: str | None, *, check_all: bool, as_json: bool) -> int:
    from scraper.render import page_changes as render
    from scraper.services import Services

    async with Services.open(settings) as services:
        records, now = services.store.records, time.time()
        pages = [page for page in await _read(records) if check_all or _is_due(page, now)]
        compared = await _compare(services.change_tracker, pages)
        outcomes = [outcome for _, outcome in compared]
        for stored, (page, outcome) in zip(pages, compared, strict=True):
            if page.url != stored.url:
                await records.delete(_PRINCIPAL, _LOG + stored.url)
            if isinstance(outcome, ScraperError):
                checked = replace(page, checked_at=now, status="failed")
            else:
                checked = replace(page, checked_at=now, status=outcome.status, other_url="")
            await _write(records, checked)
    rows = [dict(render.as_row(page.url, one, _ROW_TOKENS)) for page, one in compared]
    if as_json:
        click.echo(json.dumps(rewrite_json({"pages": rows}), ensure_ascii=False))
    else:
        for page, outcome in compared:
            click.echo(render.as_text(page.url, outcome, _ROW_TOKENS) + "\n")
        if not pages and sys.stderr.isatty():  # cron sends all output by mail
            click.echo("No page is due. Check all: search-mcp watch run --all", err=True)
    failed_commands = 0
    for row, outcome in zip(rows, outcomes, strict=True):
        if command is not None and _is_change(outcome):
            failed_commands += not await _execute(command, row)
    return _exit_code(outcomes, failed_commands)


async def _compare(
    tracker: PageChangeTracker, pages: Sequence[WatchedPage]
) -> list[tuple[WatchedPage, PageChange | ScraperError]]:
    """Compare the pages; return each with the URL that could be reached, and its outcome."""
    from scraper.reading.scheme_retry import read_with_other_urls
    from scraper.site.page_change_tracker import PAGES_AT_ONCE

    slots, deadline = asyncio.Semaphore(PAGES_AT_ONCE), Deadline.within(_DEADLINE_S)

    async def compare_one(page: WatchedPage) -> tuple[WatchedPage, PageChange | ScraperError]:
        async def compare(others: Mapping[str, str]) -> tuple[str, PageChange | ScraperError]:
            url = others.get(page.url, page.url)
            (outcome,) = await tracker.compare([url], deadline_s=deadline.left_s())
            return url, outcome

        async with slots:
            url, outcome = await read_with_other_urls(compare, {page.url: page.other_url}, lambda one: dict([one]))
        if url != page.url and not isinstance(outcome, ScraperError):
            page = replace(page, url=url, other_url="")
        return page, outcome

    return await asyncio.gather(*map(compare_one, pages))


def _is_due(page: WatchedPage, now: float) -> bool:
    # A clock that was set back must not postpone a page.
    return now < page.checked_at or now - page.checked_at >= page.every_s * (1 - _EARLY_SHARE)


def _is_change(outcome: PageChange | ScraperError) -> bool:
    return not isinstance(outcome, ScraperError) and outcome.status in ("changed", "gone", "moved")


def _exit_code(outcomes: Sequence[PageChange | ScraperError], failed_commands: int) -> int:
    if any(map(_is_change, outcomes)):
        return ExitCode.INCOMPLETE if failed_commands else ExitCode.CHANGED
    codes = {code_of_error(outcome) for outcome in outcomes if isinstance(outcome, ScraperError)}
    if not codes:
        return ExitCode.SUCCESS
    return codes.pop() if len(codes) == 1 else ExitCode.INCOMPLETE


async def _execute(command: str, row: dict[str, Any]) -> bool:
    """Run a command with the change as JSON on its standard input; return True if it succeeded in time."""
    # The operator of this machine wrote the command; the page only reaches its standard input.
    process = await asyncio.create_subprocess_shell(command, stdin=subprocess.PIPE, start_new_session=True)
    try:
        async with asyncio.timeout(EXEC_LIMIT_S):
            await process.communicate(json.dumps(row, ensure_ascii=False).encode())
    except TimeoutError:
        click.echo(f"The command did not end within {EXEC_LIMIT_S:.0f} s: {command}", err=True)
        return False
    finally:
        if process.returncode is None:
            # The shell and all that it started, also after Ctrl-C, which does not reach another session.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode:
        click.echo(f"The command ended with code {process.returncode}: {command}", err=True)
    return process.returncode == 0


async def _read(records: RecordLogs) -> list[WatchedPage]:
    logs = [await records.read(_PRINCIPAL, name) for name in await records.list_logs(_PRINCIPAL, _LOG)]
    return [WatchedPage(**json.loads(rows[-1].data)) for rows in logs if rows]


async def _write(records: RecordLogs, page: WatchedPage) -> None:
    """Store the state of a page."""
    rows = await records.read(_PRINCIPAL, _LOG + page.url)
    number = rows[-1].number + 1 if rows else 0
    await records.append(_PRINCIPAL, _LOG + page.url, number, json.dumps(asdict(page)).encode())
    await records.delete(_PRINCIPAL, _LOG + page.url, below=number)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")


def _interval(seconds: int) -> str:
    unit = next(name for name in "dhm" if seconds % _UNITS_S[name] == 0)
    return f"{seconds // _UNITS_S[unit]}{unit}"
