"""Run one tool in this process, with a progress bar on a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from scraper.call_context import Deadline
from scraper.errors import format_error
from scraper.settings import Settings, SettingsError

if TYPE_CHECKING:
    from scraper.call_context import ProgressCallback
    from scraper.tools.model import Tool, ToolAnswer


def run_tool(
    tool_name: str,
    arguments: dict[str, Any],
    settings: Settings,
    *,
    as_json: bool = False,
    other_urls: Mapping[str, str] | None = None,
    make: Callable[[Settings], Tool] | None = None,
    resume_key: str = "",
) -> ToolAnswer:
    """Run a tool and return its answer. A signal closes all resources and raises KeyboardInterrupt.

    With `as_json`, a tool that has an argument `format` returns JSON. If URLs cannot be reached, the call is repeated
    with their replacements in `other_urls`. `make` creates a variant of the tool for the command line. `resume_key` is
    that of `ToolCall`.

    Raises:
        ClickException: This machine lacks a requirement, such as a folder for temporary files.
        SettingsError: The browsers cannot be configured as requested.
    """
    # The info log of a server is too detailed for a terminal.
    level = "warning" if settings.log_level == "info" else settings.log_level
    logging.basicConfig(level=level.upper(), format="%(levelname)s %(name)s: %(message)s")
    try:
        with asyncio.Runner() as runner:
            # Created first: an interrupt during its creation would leave a coroutine that was never awaited.
            runner.get_loop()
            call = _run(tool_name, arguments, settings, other_urls or {}, make, as_json=as_json, resume_key=resume_key)
            return runner.run(call)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if "new thread" not in str(error):
            raise
        raise click.ClickException("This user cannot start more threads; end some processes.") from None


async def _run(
    tool_name: str,
    arguments: dict[str, Any],
    settings: Settings,
    other_urls: Mapping[str, str],
    make: Callable[[Settings], Tool] | None,
    *,
    as_json: bool,
    resume_key: str,
) -> ToolAnswer:
    # Imported late, so that help is printed without loading the browsers.
    from scraper.tools import registry
    from scraper.tools.model import ToolCall

    tools = registry.all_tools(settings) if make is None else (make(settings),)
    tool = next(tool for tool in tools if tool.name == tool_name)
    if as_json and "format" in tool.input_schema["properties"]:
        arguments = {**arguments, "format": "json"}
    if (fault := tool.fault(arguments)) is not None:
        return fault
    from scraper.reading.scheme_retry import read_with_other_urls
    from scraper.services import Services

    with _cancel_on_signals(), _progress_bar(_steps(arguments)) as progress:
        async with contextlib.AsyncExitStack() as stack:
            try:
                is_lazy = not _needs_browser(tool, arguments)
                services = await stack.enter_async_context(Services.open(settings, is_lazy=is_lazy))
            except ValueError as error:
                raise SettingsError(str(error)) from None
            except OSError as error:
                raise click.ClickException(f"Pages cannot be read on this machine: {format_error(error)}.") from None
            deadline = Deadline.within(settings.tool_timeout_s)

            async def run(others: Mapping[str, str]) -> ToolAnswer:
                call = ToolCall(deadline_s=deadline.left_s(), progress=progress, resume_key=resume_key)
                return await tool.run(services, _replace_urls(arguments, others), call)

            return await read_with_other_urls(run, other_urls, lambda answer: answer.errors_by_url, deadline)


def _needs_browser(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return False if a call reads only files and the store, as far as its arguments tell."""
    return tool.open_world and not (tool.name == "read_doc" and "://" not in arguments["source"])


def _replace_urls(arguments: dict[str, Any], other_urls: Mapping[str, str]) -> dict[str, Any]:
    def replace(value: Any) -> Any:
        return [replace(one) for one in value] if isinstance(value, list) else other_urls.get(str(value), value)

    return {name: replace(value) for name, value in arguments.items()}


def _steps(arguments: dict[str, Any]) -> int:
    """Return the expected number of steps; the progress bar shows it until the tool reports its own."""
    return len(arguments.get("urls") or arguments.get("engines") or "1")


@contextlib.contextmanager
def _cancel_on_signals() -> Iterator[None]:
    """Cancel the call on SIGTERM and SIGHUP, as Ctrl-C does, so that all resources are released."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored by `nohup`
            loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def _progress_bar(total: int) -> Iterator[ProgressCallback | None]:
    """Show a progress bar while the block runs, if stderr is a terminal; log lines appear above it."""
    if not sys.stderr.isatty():
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
