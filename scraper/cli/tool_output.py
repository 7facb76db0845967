"""Run a tool or a query of the store in this process, and print the answer: Markdown, JSON or the text for an agent."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import dataclasses
import functools
import io
import json
import logging
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scraper.background_tasks import on_signals
from scraper.call_context import Deadline
from scraper.cli import message_rewriting
from scraper.cli.callers import RefusedError, locate, remote_command, runs_for_agent
from scraper.cli.exit_codes import ExitCode, code_of_answer
from scraper.cli.files import MAX_PRINTED_TOKENS, describe_file, shorten, write_file
from scraper.cli.message_rewriting import rewrite_answer, rewrite_for_caller, rewrite_json, rewrite_message
from scraper.cli.output_files import NOT_KEPT
from scraper.cli.setting_options import load_settings
from scraper.errors import InvalidUrlError, ScraperError, format_error
from scraper.settings import Settings, setting_table
from scraper.urls import guess_urls, parse_address, parse_target, request_key

if TYPE_CHECKING:
    from scraper.call_context import ProgressCallback
    from scraper.facts.fields.model import PageFields
    from scraper.services import Services
    from scraper.store.factory import Store
    from scraper.tools.model import Tool, ToolAnswer

T = TypeVar("T")


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Return the result of `work` on the store, or raise ClickException if the store is unavailable."""
    from scraper.store.factory import open_store
    from scraper.store.protocols import DatabaseUnavailableError

    async def run() -> T:
        store = open_store(settings)
        try:
            # A distant database would miss queries before it is connected.
            await store.wait_connected()
            return await work(store)
        finally:
            await store.close()

    try:
        return run_coroutine(run())
    except DatabaseUnavailableError:
        raise click.ClickException("The store cannot be used. See: search-mcp doctor") from None


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine; raise RefusedError if a sandbox forbids the sockets of event loops."""
    with contextlib.closing(work):
        _check_event_loop()
        return asyncio.run(work)


def run_tool(
    tool_name: str,
    arguments: dict[str, Any],
    settings: Settings,
    *,
    is_quiet: bool = False,
    as_json: bool = False,
    make: Callable[[Settings], Tool] | None = None,
    **options: Any,
) -> ToolAnswer:
    """Run a tool, one that `make` creates, with the options of `_call`, and return its answer.

    A signal closes all resources. With `is_quiet`, neither progress nor warnings are printed. It raises ClickException
    if this machine lacks a requirement, KeyboardInterrupt after a signal, and UsageError for wrong browser settings.
    """
    set_up_log(settings, is_quiet=is_quiet)
    _check_event_loop()
    # Imported late, so that help is printed without loading the browsers.
    from scraper.tools import registry

    tools = registry.all_tools(settings) if make is None else (make(settings),)
    tool = next(tool for tool in tools if tool.name == tool_name)
    if as_json and "format" in tool.input_schema["properties"]:
        arguments = {**arguments, "format": "json"}
    if (fault := tool.fault(arguments)) is not None:
        return fault
    call = functools.partial(_call, tool, arguments, settings, **options)
    if (remote := remote_command.get()) is not None:
        remote.is_quiet = is_quiet
        return remote.run(functools.partial(call, session_owner=remote.session_owner))
    # The bar shows the expected number of steps until the tool reports its own.
    steps = 0 if is_quiet else len(arguments.get("urls") or arguments.get("engines") or "1")
    try:
        with asyncio.Runner() as runner:
            # Created first: an interrupt during its creation would leave a coroutine that was never awaited.
            runner.get_loop()
            return runner.run(_run(call, settings, steps))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if "new thread" not in str(error):
            raise
        raise click.ClickException("This user cannot start more threads; end some processes.") from None


def set_up_log(settings: Settings, *, is_quiet: bool = False, handlers: list[logging.Handler] | None = None) -> None:
    """Log to stderr or to the handlers, unless it is set up already."""
    # The info log of a server is too detailed for a terminal.
    level = "error" if is_quiet else "warning" if settings.log_level == "info" else settings.log_level
    logging.basicConfig(level=level.upper(), format="%(levelname)s %(name)s: %(message)s", handlers=handlers)


async def _run(call: Callable[..., Awaitable[ToolAnswer]], settings: Settings, steps: int) -> ToolAnswer:
    """Open services for one call, and show its progress."""
    from scraper.services import Services

    task = asyncio.current_task()
    assert task is not None
    # As Ctrl-C does, so that all resources are released. `nohup` ignores SIGHUP.
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    with on_signals(numbers, task.cancel), _progress_bar(steps) as progress:
        async with contextlib.AsyncExitStack() as stack:
            try:
                services = await stack.enter_async_context(Services.open(settings, is_lazy=True))
            except ValueError as error:
                raise click.UsageError(str(error)) from None
            except OSError as error:
                raise click.ClickException(f"Pages cannot be read on this machine: {format_error(error)}.") from None
            return await call(services, progress=progress)


async def _call(
    tool: Tool,
    arguments: Mapping[str, Any],
    settings: Settings,
    services: Services,
    *,
    other_urls: Mapping[str, str] | None = None,
    **fields: Any,
) -> ToolAnswer:
    """Run a tool with `fields` of its `ToolCall`; repeat it with `other_urls` for URLs that cannot be reached."""
    from scraper.reading.batch import read_with_other_urls
    from scraper.tools.model import ToolCall

    reads_file = tool.name == "read_doc" and "://" not in arguments["source"]
    if tool.open_world and not reads_file and not await _is_stored(services, tool.name, arguments):
        _check_sockets()
        services.start_soon()
    deadline = Deadline.within(settings.tool_timeout_s)

    async def run(others: Mapping[str, str]) -> ToolAnswer:
        def replace_url(value: Any) -> Any:
            return list(map(replace_url, value)) if isinstance(value, list) else others.get(str(value), value)

        replaced = {name: replace_url(value) for name, value in arguments.items()}
        return await tool.run(services, replaced, ToolCall(deadline_s=deadline.left_s(), **fields))

    return await read_with_other_urls(run, other_urls or {}, lambda answer: answer.errors_by_url, deadline)


_PAGE_ARGUMENTS = {"fetch": "url", "fetch_batch": "urls", "compare": "urls", "read_doc": "source"}
"""Arguments with the URLs of pages that may be stored, by tool."""


async def _is_stored(services: Services, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Return True if the store has all pages of a call, which then needs no browser."""
    if tool not in _PAGE_ARGUMENTS or arguments.get("force_refresh") or arguments.get("profile"):
        return False
    value, hours = arguments[_PAGE_ARGUMENTS[tool]], arguments.get("max_age_hours")
    methods, age_s = ("http", "browser", "document"), None if hours is None else hours * 3_600.0
    try:
        keys = [request_key(parse_target(url)) for url in ([value] if isinstance(value, str) else value)]
    except InvalidUrlError:
        return False
    found = [await services.page_cache.find(key, "local", methods=methods, max_age_s=age_s) for key in keys]
    return all(page.fresh is not None for page in found)


def _check_sockets() -> None:
    """Raise RefusedError if a sandbox forbids the sockets that Chromium needs."""
    from browsers.system_diagnostics import ALLOW_SOCKETS, are_sockets_forbidden

    if are_sockets_forbidden():
        raise RefusedError(ALLOW_SOCKETS)


def _check_event_loop() -> None:
    """Raise RefusedError if a sandbox forbids the pair of sockets with which an event loop wakes up."""
    try:
        for one in socket.socketpair():
            one.close()
    except PermissionError:
        _check_sockets()


@contextlib.contextmanager
def _progress_bar(total: int) -> Iterator[ProgressCallback | None]:
    """Show a progress bar of some steps while the block runs, if stderr is a terminal; log lines appear above it."""
    if not total or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("starting the browser", total=total)

        def show(done: float, total: float | None = None, message: str | None = None) -> None:
            bar.update(line, completed=done, total=total, description=message or "")

        # The bar replaced sys.stderr by a stream that moves it down.
        handlers = [one for one in logging.getLogger().handlers if isinstance(one, logging.StreamHandler)]
        streams = [(handler, handler.setStream(sys.stderr)) for handler in handlers]
        try:
            yield show
        finally:
            for handler, stream in streams:
                handler.setStream(stream)


Plain = Callable[["ToolAnswer"], str]
"""Return the text of an answer for people."""

_OUTPUT_OPTIONS = ("as_json", "form", "output", "quiet", "max_tokens", "marked")
_NO_LIMIT = 1_000_000_000
"""Tokens of an answer on the command line, where no context of a model can overflow."""


def run_and_print(
    tool: str, flags: dict[str, Any], *, plain: Plain | None = None, has_rows: bool = False, **options: Any
) -> int:
    """Run a tool with the flags as arguments and the options of `run_tool`, print its answer and return the exit code.

    Settings and output options are not arguments. With `has_rows`, the answer is written as CSV or JSON lines if the
    output file has such a suffix. UsageError is raised for an invalid setting or output file.
    """
    output: Path | None = flags.get("output")
    check_folder(output)
    settings = load_settings(flags)
    writes_rows = has_rows and is_table(output)
    as_json, is_marked = wants_json(flags) or writes_rows, bool(flags.get("marked"))
    is_quiet = bool(flags.get("quiet"))
    if not is_marked and settings.max_answer_tokens == Settings().max_answer_tokens:
        options["answer_tokens"] = _NO_LIMIT
    arguments = select_arguments(flags)
    answer = run_tool(tool, arguments, settings, as_json=as_json, is_quiet=is_quiet, **options)
    answer = dataclasses.replace(answer, text=message_rewriting.address_agent(answer.text))
    # Tools of indexes report their errors as values.
    fault = answer.structured.get("error") if isinstance(answer.structured, dict) else None
    if answer.is_error or fault:
        click.echo(_error_text(answer, fault, as_json=as_json, is_marked=is_marked), err=True)
        return code_of_answer(answer)
    if writes_rows and output is not None:
        text = as_table([found for _, found in answer.fields if not isinstance(found, ScraperError)], output)
    else:
        text = _json_text(answer, is_marked=is_marked) if as_json else _text(answer, plain, is_marked=is_marked)
    if not is_quiet:
        _warn(answer, has_rows=writes_rows, has_text=not as_json)
    name, max_tokens = " ".join(map(str, (tool, *arguments.values()))), flags.get("max_tokens")
    printed = print_text(text, output, max_tokens=max_tokens, name=name, is_json=as_json and not writes_rows)
    return code_of_answer(answer) or printed


def check_folder(output: Path | None) -> None:
    """Raise UsageError if an output file cannot be written because its folder does not exist."""
    if output is not None and not locate(output).absolute().parent.is_dir():
        raise click.UsageError(f"The folder of {output} does not exist.")


def select_arguments(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags that are arguments of a tool: neither settings nor options of the output."""
    ignored = {setting.name for setting in setting_table()}.union(_OUTPUT_OPTIONS, ("text", "html"))
    return {name: value for name, value in flags.items() if value is not None and name not in ignored}


def _error_text(answer: ToolAnswer, fault: object, *, as_json: bool, is_marked: bool) -> str:
    if as_json and not fault and answer.structured is not None:
        return _json_text(answer, is_marked=is_marked)
    return _text(answer, lambda _: rewrite_for_caller(str(fault or answer.text)), is_marked=is_marked)


def run_and_print_pages(
    tool: str, flags: dict[str, Any], urls: Iterable[str], *, name: str = "urls", has_rows: bool = False
) -> int:
    """Run a tool on URLs in the argument `name`, without a scheme on https, then http, and print its answer."""
    guesses = list(map(guess_urls, urls))
    call = {**flags, name: [url for url, _ in guesses]}
    return run_and_print(tool, call, other_urls=dict(guesses), has_rows=has_rows)


def parse_url(text: str) -> tuple[str, str]:
    """Return the URLs of `parse_address`, or raise UsageError."""
    try:
        return parse_address(text)
    except InvalidUrlError as error:
        raise click.UsageError(str(error)) from None


def wants_json(flags: dict[str, Any]) -> bool:
    """Return True if the flags contain --json or --format json."""
    return bool(flags.get("as_json")) or flags.get("form") == "json"


def print_text(
    text: str, output: Path | None, *, max_tokens: int | None = None, name: str = "answer", is_json: bool = False
) -> ExitCode:
    """Print a text, or write it to a file; one beyond `max_tokens` is written to a file and printed in part.

    Return INCOMPLETE if that file cannot be written.
    """
    text, note = text if text.endswith("\n") else text + "\n", ""
    if output is not None:
        write_file(output, text)
        text = describe_file(output, text) if runs_for_agent() else ""
    elif max_tokens or runs_for_agent():
        text, note = shorten(text, max_tokens or MAX_PRINTED_TOKENS, name, is_json=is_json)
    click.echo(text, nl=False)
    click.echo(note, nl=False)
    return ExitCode.INCOMPLETE if note.startswith(NOT_KEPT) else ExitCode.SUCCESS


def _text(answer: ToolAnswer, plain: Plain | None, *, is_marked: bool) -> str:
    from scraper.render.untrusted_text import UNTRUSTED_EXPLANATION

    if is_marked:
        return f"{UNTRUSTED_EXPLANATION}\n{answer.text}"
    if plain is None:
        return rewrite_for_caller(answer.text)
    return plain(answer) if answer.reading is None else mark_for_agent(plain(answer))


def mark_for_agent(text: str) -> str:
    """Return a text of the web between marks if the caller is an agent."""
    from scraper.render.untrusted_text import UNTRUSTED_EXPLANATION, mark_untrusted
    from scraper.tools.model import new_region

    return f"{UNTRUSTED_EXPLANATION}\n{mark_untrusted(text, new_region())}" if runs_for_agent() else text


def notice_for_agent() -> dict[str, str]:
    """Return the notice of a JSON object with text of the web, if the caller is an agent."""
    from scraper.render.untrusted_text import UNTRUSTED_NOTICE

    return {"notice": UNTRUSTED_NOTICE} if runs_for_agent() else {}


def _json_text(answer: ToolAnswer, *, is_marked: bool) -> str:
    from scraper.render.json_truncation import compact_json

    if answer.structured is None:
        return json.dumps({"result": answer.text if is_marked else rewrite_answer(answer.text)}, ensure_ascii=False)
    return answer.text if is_marked else compact_json(rewrite_json(answer.structured))


def whole_text(flags: dict[str, Any]) -> Plain:
    """Return a function for the plain text of a page or document: all of it, or the part of --start and --length."""

    def plain(answer: ToolAnswer) -> str:
        from scraper.render.page import convert_piece
        from scraper.text.markdown_structure import KEEP_WHOLE, cut_markdown

        assert answer.reading is not None
        text, length = answer.reading.document.markdown, flags.get("length")
        start = flags.get("start") or 0
        start = max(0, len(text) + start) if start < 0 else start
        if start >= len(text) > 0:
            click.echo(f"--start {start} is past the end: the text has {len(text):,} characters.", err=True)
        piece = cut_markdown(text, start, len(text) if length is None else length, keep_whole=KEEP_WHOLE)
        form = next((name for name in ("text", "html") if flags.get(name)), "markdown")
        return convert_piece(piece, flags.get("links") or "inline", form).shown

    return plain


def is_table(output: Path | None) -> bool:
    """Return True if the file name ends with `.csv` or `.jsonl`."""
    return output is not None and output.suffix.lower() in (".csv", ".jsonl")


def as_table(pages: Iterable[PageFields], output: Path) -> str:
    """Return all records of some pages as CSV or JSON lines; without records, one row of fields for each page."""
    # Imported late, so that help is printed without loading the renderers.
    from scraper.render.fields import csv_cell

    rows: list[Mapping[str, Any]] = []
    for page in pages:
        rows += page.records or [{"url": page.url, **page.values}]
    if output.suffix.lower() == ".jsonl":
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    else:
        table = io.StringIO()
        names = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(map(csv_cell, names))
        writer.writerows([csv_cell(row.get(name)) for name in names] for row in rows)
        text = table.getvalue()
    # A script can leave half a surrogate pair in a page's text, which UTF-8 cannot represent.
    return text.encode("utf-8", "replace").decode("utf-8")


def _warn(answer: ToolAnswer, *, has_rows: bool, has_text: bool) -> None:
    """Print warnings to stderr for which a table or the text of a page has no place."""
    from scraper.render.untrusted_text import error_sentence
    from scraper.text.sanitize import clean_line

    for warning in answer.reading.warnings if answer.reading and has_text else ():
        click.echo(f"Warning: {rewrite_message(warning)}", err=True)
    for url, found in answer.fields if has_rows else ():
        for note in (error_sentence(found),) if isinstance(found, ScraperError) else found.warnings:
            click.echo(f"Warning: {clean_line(url, 200)}: {rewrite_message(note)}", err=True)
