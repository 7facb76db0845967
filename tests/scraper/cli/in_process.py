"""Run a command line in this process, with browsers and workers that run already."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Coroutine, Iterator
from typing import Any, Self, TypeVar

import click
import pytest
from click.testing import CliRunner

from scraper.cli import main
from tests.scraper.process import Output
from tests.warm_processes import WarmProcesses

__all__ = ["command_output"]

_SWITCHES = ("logThreads", "logProcesses", "logMultiprocessing", "_srcfile")


T = TypeVar("T")


class _RunnerOfTheSession:
    """An `asyncio.Runner` in the event loop of the tests, to which the running browsers belong."""

    def __init__(self, *_: object, **__: object) -> None:
        assert WarmProcesses.current is not None
        self._loop = WarmProcesses.current.loop

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(coroutine)


class _CommandLine(click.Command):
    """What a process of its own would run, in the form that click's runner takes."""

    def main(self, args: Any = None, *_: Any, **__: Any) -> Any:
        sys.exit(main.run(list(args or ())))


def command_output(*arguments: str, env: dict[str, str] | None = None, stdin: bytes = b"") -> Output:
    """Run `search-mcp` with these arguments; return its exit code and its two streams."""
    runner = CliRunner(env=env)
    with _logging_of_a_new_process(), pytest.MonkeyPatch.context() as patch:
        if (warm := WarmProcesses.current) is not None and not warm.is_paused:
            patch.setattr("asyncio.Runner", _RunnerOfTheSession)
            patch.setattr("asyncio.run", lambda coroutine: warm.loop.run_until_complete(coroutine))
        result = runner.invoke(_CommandLine("search-mcp"), arguments, input=stdin, catch_exceptions=False)
    return Output(result.exit_code, result.stdout, result.stderr)


@contextlib.contextmanager
def _logging_of_a_new_process() -> Iterator[None]:
    """Hide the handlers of pytest, so that the command sets up its own; undo whatever it sets."""
    root = logging.getLogger()
    handlers = root.handlers[:]
    levels = {logger: logger.level for logger in _loggers()}
    switches = {name: getattr(logging, name) for name in _SWITCHES}
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        for logger in _loggers():
            logger.setLevel(levels.get(logger, logging.NOTSET))
        for name, value in switches.items():
            setattr(logging, name, value)


def _loggers() -> list[logging.Logger]:
    named = [logger for logger in logging.root.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    return [logging.getLogger(), *named]
