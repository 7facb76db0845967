"""Command `watch`: check a list of pages for changes, for example by cron."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from scraper.cli.exit_codes import ExitCode, code_of_error
from scraper.cli.setting_options import LOG_SETTINGS, READ_MANY, STORE_SETTINGS, command, load_settings
from scraper.cli.tool_output import parse_url, rewrite_json, with_store
from scraper.errors import ScraperError
from scraper.settings import Settings

if TYPE_CHECKING:
    from scraper.site.model import PageChange


_UNITS_S = {"m": 60, "h": 3_600, "d": 86_400}
EXEC_LIMIT_S = 60.0
"""Seconds for the command of `--exec`, for each changed page."""
_ROW_TOKENS = 4_000
"""Tokens of the changes of one page."""


@click.group()
def watch() -> None:
    """Report the changes of a list of pages, for cron."""


@command("watch add", LOG_SETTINGS | STORE_SETTINGS, parent=watch)
def add(url: str, every: str, as_json: bool, **flags: Any) -> int:
    """Add a page to the list, or change its interval."""
    count, unit = every.strip()[:-1].rstrip(), every.strip()[-1:]
    if unit not in _UNITS_S or not count.isdecimal() or not int(count):
        raise click.UsageError(f"--every must be a number with m, h or d, such as 6h, not {every!r}.")
    target, other_url = parse_url(url)

    from scraper.site.watch_list import WatchedPage, WatchList

    new = WatchedPage(target, int(count) * _UNITS_S[unit], time.time(), other_url=other_url)
    page = with_store(load_settings(flags), lambda store: WatchList(store.records).add(new))
    click.echo(json.dumps(asdict(page)) if as_json else f"{page.url} is watched every {every}.")
    return ExitCode.SUCCESS


@command("watch list", LOG_SETTINGS | STORE_SETTINGS, parent=watch)
def list_pages(as_json: bool, **flags: Any) -> int:
    """Print the watched pages."""
    from scraper.site.watch_list import WatchList

    pages = with_store(load_settings(flags), lambda store: WatchList(store.records).pages())
    if as_json:
        click.echo(json.dumps([asdict(page) for page in pages]))
        return ExitCode.SUCCESS
    for page in pages:
        moment = datetime.fromtimestamp(page.checked_at, UTC).isoformat(timespec="minutes")
        unit = next(name for name in "dhm" if page.every_s % _UNITS_S[name] == 0)
        interval = f"{page.every_s // _UNITS_S[unit]}{unit}"
        click.echo(f"{page.url}  every {interval}, checked {moment if page.checked_at else 'never'}, {page.status}")
    if not pages:
        click.echo("No page is watched. Add one: search-mcp watch add URL", err=True)
    return ExitCode.SUCCESS if pages else ExitCode.INCOMPLETE


@command("watch remove", LOG_SETTINGS | STORE_SETTINGS, parent=watch)
def remove(url: str, as_json: bool, **flags: Any) -> int:
    """Remove a page from the list; its versions stay."""
    from scraper.site.watch_list import WatchList

    found = with_store(load_settings(flags), lambda store: WatchList(store.records).remove(parse_url(url)))
    if as_json:
        click.echo(json.dumps({"removed": found}))
    elif found:
        click.echo(f"{found[0]} is no longer watched.")
    else:
        click.echo(f"{url} was not watched. See: search-mcp watch list", err=True)
    return ExitCode.SUCCESS if found else ExitCode.INCOMPLETE


@command("watch run", READ_MANY, parent=watch)
def run(check_all: bool, command: str | None, as_json: bool, **flags: Any) -> int:
    """Check the pages that are due and print what changed.

    The exit code is 10 if a page changed, and 0 if none did. If pages failed and none changed, it is that of the
    failure, or 1 if they failed for different reasons.
    """
    return asyncio.run(_run(load_settings(flags), command, check_all=check_all, as_json=as_json))


async def _run(settings: Settings, command: str | None, *, check_all: bool, as_json: bool) -> int:
    from scraper.render import sites as render
    from scraper.services import Services
    from scraper.site.watch_list import WatchList

    async with Services.open(settings) as services:
        watch_list, now = WatchList(services.store.records), time.time()
        pages = [page for page in await watch_list.pages() if check_all or page.is_due(now)]
        compared = await watch_list.check(services.change_tracker, pages, now)
    outcomes = [outcome for _, outcome in compared]
    rows = [render.as_row(page.url, one, _ROW_TOKENS) for page, one in compared]
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
    return exit_code(outcomes, failed_commands)


def _is_change(outcome: PageChange | ScraperError) -> bool:
    return not isinstance(outcome, ScraperError) and outcome.status in ("changed", "gone", "moved")


def exit_code(outcomes: Sequence[PageChange | ScraperError], failed_commands: int) -> int:
    """Return the exit code for the outcomes of watched pages and the number of commands that failed."""
    if any(map(_is_change, outcomes)):
        return ExitCode.INCOMPLETE if failed_commands else ExitCode.CHANGED
    codes = {code_of_error(outcome) for outcome in outcomes if isinstance(outcome, ScraperError)}
    if not codes:
        return ExitCode.SUCCESS
    return codes.pop() if len(codes) == 1 else ExitCode.INCOMPLETE


async def _execute(command: str, row: dict[str, Any]) -> bool:
    """Run a command of the operator with the change as JSON on its standard input; return True if it succeeded."""
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
