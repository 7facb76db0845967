"""Commands for whole sites, long lists of URLs, and changes of pages: map, crawl, bulk, changes and watch."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scraper.background_tasks import on_signals, run_in_background
from scraper.cli import message_rewriting, tool_output
from scraper.cli.callers import check_path
from scraper.cli.exit_codes import ExitCode, code_of_error
from scraper.cli.files import read_recipe
from scraper.cli.setting_options import LOG_SETTINGS, READ_MANY, SERVER_ONLY, STORE_SETTINGS, command, load_settings
from scraper.errors import ScraperError
from scraper.settings import Settings
from scraper.settings.files import is_installed
from scraper.urls import guess_urls

if TYPE_CHECKING:
    from scraper.bulk.job import BulkJob
    from scraper.bulk.model import JobSpec
    from scraper.bulk.report import JobReport
    from scraper.site.model import PageChange

_TERMINAL_INTERVAL_S = 0.5
_LOG_INTERVAL_S = 10.0
"""Seconds between two progress lines: on a terminal, and in a log."""
JOB_DEADLINE_S = 60.0
"""Seconds for one page, unless an option states another time."""
_RATE_SETTINGS = {"host_pages", "host_gap_s"}
"""Settings that have options of their own here, with defaults for long lists."""
_ANSWER_SETTINGS = {"tool_timeout_s", "max_answer_tokens", "batch_limit", "document_root"}
"""Settings of tool calls, which do not apply to jobs."""


@command("bulk", None, without=SERVER_ONLY | _RATE_SETTINGS | _ANSWER_SETTINGS)
def bulk(urls: str, folder: Path, cluster: str | None, as_json: bool, **flags: Any) -> int:
    """Read a long list of URLs into files.

    URLS is a text file with one URL per line, CSV or Parquet with a column url, or JSON lines; - is standard input.
    Every page is written once; a failed page is written with its error. The same command continues an interrupted job.
    """
    settings, recipe = load_settings(flags), ""
    if flags["recipe"] is not None:
        from scraper.errors import InvalidArgumentError
        from scraper.reading.fields import StoredRecipes, id_of

        recipe = named = read_recipe(flags["recipe"])
        if id_of(named):
            try:
                recipe = tool_output.with_store(
                    settings, lambda store: StoredRecipes(store.records).load("local", named)
                )
            except InvalidArgumentError as error:
                raise click.UsageError(f"--recipe: {error}") from None
    if flags["form"] == "csv" and not recipe:
        raise click.UsageError("--format csv needs --recipe: its columns are the fields of the recipe.")
    flags["form"] = flags["form"] or ("parquet" if is_installed("pyarrow") else "jsonl")
    flags["render"] = flags["render"] or ("browser" if recipe else "auto")
    check_path(urls)
    spec = replace(make_job_spec(urls, folder, flags, settings), recipe=recipe)
    return run_job(spec, settings, cluster, as_json=as_json)


def run_job(
    spec: JobSpec, settings: Settings, cluster: str | None, *, as_json: bool, minutes: float | None = None
) -> int:
    """Run a job, print its progress and its report, and return the exit code; stop it after `minutes`."""
    watcher = _Watcher()
    tool_output.set_up_log(settings, handlers=[watcher])
    from scraper.bulk.model import BulkError
    from scraper.bulk.report import format_report

    try:
        report = tool_output.run_coroutine(_run(spec, settings, cluster, watcher, minutes))
    except BulkError as error:
        raise click.ClickException(str(error)) from None
    except asyncio.CancelledError:
        # A second signal.
        click.echo(f"Canceled. The same command continues the job:\n  {_command()}", err=True)
        if cluster is not None:
            # The interpreter would wait for the threads of Ray.
            os._exit(ExitCode.INTERRUPTED)
        return ExitCode.INTERRUPTED
    # Messages name commands instead of tools.
    errors = [
        replace(
            kind, examples=tuple((url, message_rewriting.rewrite_message(message)) for url, message in kind.examples)
        )
        for kind in report.errors
    ]
    report = replace(report, errors=tuple(errors))
    text = tool_output.mark_for_agent(format_report(report).rstrip())
    if as_json:
        text = json.dumps(asdict(report) | tool_output.notice_for_agent())
    tool_output.print_text(text, None, name="report", is_json=as_json)
    if report.complete:
        return ExitCode.INCOMPLETE if report.failed else ExitCode.SUCCESS
    left = report.pages - report.written
    click.echo(f"Stopped: {left:,} pages are left. The same command continues the job:\n  {_command()}", err=True)
    return ExitCode.INTERRUPTED


def make_job_spec(urls: str, folder: Path, options: Mapping[str, Any], settings: Settings) -> JobSpec:
    """Return the job for the options of `bulk`, by their parameter names; the gap defaults to the settings."""
    from scraper.bulk.model import Format, JobRate, JobSpec

    gap_s, hours = options["gap"], options["max_age_h"]
    rate = JobRate(options["concurrency"], options["per_host"], settings.host_gap_s if gap_s is None else gap_s)
    return JobSpec(
        source=urls,
        folder=folder,
        format=Format(options["form"]),
        rate=rate,
        render=options["render"],
        max_age_s=None if hours is None else hours * 3_600.0,
        deadline_s=options["deadline"],
        limit=options.get("limit"),
    )


async def _run(
    spec: JobSpec, settings: Settings, cluster: str | None, watcher: _Watcher, minutes: float | None
) -> JobReport:
    from scraper.bulk.run import run_bulk

    stop, task = asyncio.Event(), asyncio.current_task()
    assert task is not None
    if minutes is not None:
        asyncio.get_running_loop().call_later(60 * minutes, stop.set)

    def request_stop() -> None:
        """Stop the job after its running pages are written; cancel it at the second signal."""
        if stop.is_set():
            task.cancel()
            return
        stop.set()
        watcher.say("Stopping after the pages in progress are written.")

    with on_signals((signal.SIGINT, signal.SIGTERM), request_stop):
        return await run_bulk(spec, settings, cluster=cluster, stop=stop, notify=watcher.say, watch=watcher.watch)


class _Watcher(logging.Handler):
    """Print the progress of a job on stderr, one changing line on a terminal, else a line at intervals, and the log."""

    def __init__(self) -> None:
        super().__init__()
        self._is_terminal = sys.stderr.isatty()
        self._erase = "\r\x1b[K" if self._is_terminal else ""

    def emit(self, record: logging.LogRecord) -> None:
        self.say(self.format(record))

    def say(self, sentence: str) -> None:
        click.echo(f"{self._erase}{sentence}", err=True)

    @contextlib.asynccontextmanager
    async def watch(self, job: BulkJob) -> AsyncIterator[None]:
        before = job.stats.done_before
        if before:
            self.say(f"Continuing job {job.run_id}: {before:,} of {job.stats.total:,} pages are written.")
        try:
            async with run_in_background(self._print_progress(job)):
                yield
        finally:
            self.say(job.stats.format_line(time.monotonic()))

    async def _print_progress(self, job: BulkJob) -> None:
        while True:
            await asyncio.sleep(_TERMINAL_INTERVAL_S if self._is_terminal else _LOG_INTERVAL_S)
            line = job.stats.format_line(time.monotonic())
            click.echo(f"{self._erase}{line}", err=True, nl=not self._is_terminal)


def _command() -> str:
    return shlex.join(["search-mcp", *sys.argv[1:]])


@command("map", READ_MANY)
def map_site(**flags: Any) -> int:
    """List the pages of a site, or of a folder of it, from its sitemaps, feeds and links."""
    url, other = guess_urls(flags["url"])
    return tool_output.run_and_print("map", {**flags, "url": url}, other_urls={url: other})


@command("crawl", READ_MANY)
def crawl(urls: tuple[str, ...], folder: Path | None, **flags: Any) -> int:
    """Read the pages of a site, or of a folder of it, into an index, without copies and traps.

    With --out, whole sites of any size are read into files.
    """
    if folder is not None:
        return _crawl_to_files(urls, folder, flags)
    for name in ("out_format", "minutes", "per_host", "gap", "render", "cluster"):
        flags.pop(name)
    flags = {name: value for name, value in flags.items() if value != ()}
    if bool(urls) == bool(flags["crawl"]):
        raise click.UsageError("Give a URL to start a crawl, or --crawl ID to continue one.")
    if len(urls) > 1:
        raise click.UsageError("Give one URL, or --out for several sites.")
    url, other = guess_urls(urls[0]) if urls else (None, "")
    crawl_id = flags["crawl"] or secrets.token_urlsafe(9)
    other_urls = {url: other} if url else {}
    try:
        return tool_output.run_and_print("crawl", {**flags, "url": url}, other_urls=other_urls, resume_key=crawl_id)
    except KeyboardInterrupt:
        from scraper.site.crawl_service import log_of_crawl

        log = log_of_crawl(crawl_id)
        if tool_output.with_store(load_settings(flags), lambda store: store.records.read("local", log)):
            click.echo(f"Canceled. To continue the crawl:\n  search-mcp crawl --crawl={crawl_id}", err=True)
        else:
            click.echo("Canceled before the first page was read.", err=True)
        return ExitCode.INTERRUPTED


def _crawl_to_files(urls: tuple[str, ...], folder: Path, flags: dict[str, Any]) -> int:
    from scraper.bulk.model import CrawlOptions
    from scraper.errors import InvalidArgumentError
    from scraper.site.crawl_scope import CrawlScope

    if not urls or flags["crawl"] or flags["question"]:
        raise click.UsageError("--out needs one or more URLs, and neither --crawl nor --question.")
    settings = load_settings(flags)
    options = {"form": flags["out_format"], "concurrency": None, "max_age_h": None, "deadline": JOB_DEADLINE_S}
    spec = make_job_spec(", ".join(urls), folder, {**flags, **options}, settings)
    for url in urls:
        try:
            CrawlScope.of(tool_output.parse_url(url)[0], flags["include_paths"], flags["exclude_paths"])
        except InvalidArgumentError as error:
            raise click.UsageError(error.sentence()) from None
    crawled = CrawlOptions(urls, flags["include_paths"], flags["exclude_paths"])
    if flags["max_pages"] is not None:
        crawled = replace(crawled, max_pages=flags["max_pages"])
    return run_job(
        replace(spec, crawl=crawled), settings, flags["cluster"], as_json=flags["as_json"], minutes=flags["minutes"]
    )


@command("changes", READ_MANY)
def changes(**flags: Any) -> int:
    """Print the changes of pages since the last comparison, without clocks, counts and ads."""
    return tool_output.run_and_print_pages("changes", flags, flags["urls"])


_UNITS_S = {"m": 60, "h": 3_600, "d": 86_400}
EXEC_LIMIT_S = 60.0
_ROW_TOKENS = 4_000


@click.group()
def watch() -> None:
    """Report the changes of a list of pages, for cron."""


@command("watch add", LOG_SETTINGS | STORE_SETTINGS, parent=watch)
def add(url: str, every: str, as_json: bool, **flags: Any) -> int:
    """Add a page to the list, or change its interval."""
    count, unit = every.strip()[:-1].rstrip(), every.strip()[-1:]
    if unit not in _UNITS_S or not count.isdecimal() or not int(count):
        raise click.UsageError(f"--every must be a number with m, h or d, such as 6h, not {every!r}.")
    target, other_url = tool_output.parse_url(url)

    from scraper.site.page_change_tracker import WatchedPage, WatchList

    new = WatchedPage(target, int(count) * _UNITS_S[unit], time.time(), other_url=other_url)
    page = tool_output.with_store(load_settings(flags), lambda store: WatchList(store.records).add(new))
    click.echo(json.dumps(asdict(page)) if as_json else f"{page.url} is watched every {every}.")
    return ExitCode.SUCCESS


@command("watch list", LOG_SETTINGS | STORE_SETTINGS, parent=watch)
def list_pages(as_json: bool, **flags: Any) -> int:
    """Print the watched pages."""
    from scraper.site.page_change_tracker import WatchList

    pages = tool_output.with_store(load_settings(flags), lambda store: WatchList(store.records).pages())
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
    from scraper.site.page_change_tracker import WatchList

    found = tool_output.with_store(
        load_settings(flags), lambda store: WatchList(store.records).remove(tool_output.parse_url(url))
    )
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
    return tool_output.run_coroutine(_check_pages(load_settings(flags), command, check_all=check_all, as_json=as_json))


async def _check_pages(settings: Settings, command: str | None, *, check_all: bool, as_json: bool) -> int:
    from scraper.render import sites as render
    from scraper.services import Services
    from scraper.site.page_change_tracker import WatchList
    from scraper.tools.model import new_region

    async with Services.open(settings) as services:
        watch_list, now = WatchList(services.store.records), time.time()
        pages = [page for page in await watch_list.pages() if check_all or page.is_due(now)]
        compared = await watch_list.check(services.change_tracker, pages, now)
    outcomes, urls = [outcome for _, outcome in compared], [page.url for page, _ in compared]
    budget = _ROW_TOKENS * len(urls)
    rows = render.as_json(urls, outcomes, budget=budget)
    text = json.dumps(message_rewriting.rewrite_json(rows), ensure_ascii=False)
    if not as_json:
        text = render.as_markdown(urls, outcomes, region=new_region(), budget=budget)
        text = message_rewriting.rewrite_for_caller(message_rewriting.address_agent(text))
    printed = ExitCode.SUCCESS
    if as_json or pages:
        printed = tool_output.print_text(text, None, name="watch run", is_json=as_json)
    elif sys.stderr.isatty():  # cron sends all output by mail
        click.echo("No page is due. Check all: search-mcp watch run --all", err=True)
    failed_commands = 0
    for row, outcome in zip(rows["pages"], outcomes, strict=True):
        if command is not None and _is_change(outcome):
            failed_commands += not await _execute(command, row)
    return exit_code(outcomes, failed_commands) or printed


def _is_change(outcome: PageChange | ScraperError) -> bool:
    return not isinstance(outcome, ScraperError) and outcome.status in ("changed", "gone", "moved")


def exit_code(outcomes: Sequence[PageChange | ScraperError], failed_commands: int) -> int:
    """Return the exit code for the outcomes of watched pages and the number of commands that failed."""
    if any(map(_is_change, outcomes)):
        return ExitCode.INCOMPLETE if failed_commands else ExitCode.CHANGED
    codes = {code_of_error(outcome) for outcome in outcomes if isinstance(outcome, ScraperError)} or {ExitCode.SUCCESS}
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
