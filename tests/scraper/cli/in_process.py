"""Run a command line in this process: for what is answered before anything is served or read."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.testing import CliRunner

from scraper.cli import main
from tests.scraper.process import Output

__all__ = ["command_output"]

_SWITCHES = ("logThreads", "logProcesses", "logMultiprocessing", "_srcfile")


class _CommandLine(click.Command):
    """What a process of its own would run, in the form that click's runner takes."""

    def main(self, args: Any = None, *_: Any, **__: Any) -> Any:
        sys.exit(main.run(list(args or ())))


def command_output(*arguments: str, env: dict[str, str] | None = None, stdin: bytes = b"") -> Output:
    """Run `search-mcp` with these arguments; return its exit code and its two streams."""
    runner = CliRunner(env=env)
    with _logging_of_a_new_process():
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
