"""The server's log: one line an event on stderr, since stdout belongs to the protocol.

No page text, no query of a URL and no argument stands in it at level info.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
import time
from collections.abc import Iterator

_LOG = logging.getLogger("scraper.server")
_FOREIGN = ("mcp", "uvicorn", "sse_starlette", "asyncio")
"""Their information lines repeat ours, or name sessions."""
_NAME_CHARS = 64


class CallLine:
    """Writes one line when a call ends, however it ends."""

    def __init__(self, tool: str, principal: str, request_id: str) -> None:
        self._begun = time.monotonic()
        # A tool's name is the client's word until it is found: cut, so that it cannot fill the log.
        self._fields: dict[str, str | int] = {
            "tool": tool[:_NAME_CHARS],
            "principal": principal,
            "request": request_id[:_NAME_CHARS],
        }

    def ended(self, outcome: str, chars: int) -> None:
        """How the call ended, and how long its answer is."""
        self._fields |= {"outcome": outcome, "chars": chars}

    def __enter__(self) -> CallLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, asyncio.CancelledError):
            self.ended("cancelled", 0)
        elif error is not None:
            self.ended(getattr(error, "outcome", type(error).__name__), 0)
        ms = round((time.monotonic() - self._begun) * 1000)
        _LOG.info("call", extra={"fields": {**self._fields, "ms": ms}})


class _Words(logging.Formatter):
    """`time level logger message key=value ...`, for people."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._second = -1
        self._second_told = ""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """The moment, to the millisecond: a second is put into words once for all of its lines."""
        second = int(record.created)
        if second != self._second:
            self._second, self._second_told = (
                second,
                time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second)),
            )
        return f"{self._second_told},{int(record.msecs):03d}"

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        pairs = (f"{name}={_word(value)}" for name, value in fields.items())
        return " ".join([super().format(record), *pairs])


def _word(value: str | int) -> str:
    """The value as one word: quoted, with line ends escaped, where it is not one already."""
    if type(value) is int and value >= 0:
        return str(value)
    text = str(value)
    return text if text.replace("_", "").isalnum() else json.dumps(text, ensure_ascii=False)


class _Json(logging.Formatter):
    """One JSON object a line, for collectors."""

    def format(self, record: logging.LogRecord) -> str:
        event = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return json.dumps(event, ensure_ascii=False)


def words() -> logging.Formatter:
    """The formatter for people."""
    return _Words()


def configure(level: str, style: str) -> None:
    """Send everything to stderr, as words or as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(level.upper())
    handler.setFormatter(_Json() if style == "json" else words())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Looked up for each line, and shown in none.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # the manual's way to say that nobody asks for the line of code
    # Our own events are counted whether or not they are shown.
    logging.getLogger("scraper").setLevel(min(logging.INFO, handler.level))
    for name in _FOREIGN:
        logging.getLogger(name).setLevel(logging.WARNING)


@contextlib.contextmanager
def listening_to(name: str, handler: logging.Handler) -> Iterator[None]:
    """Hand every line of a logger to `handler` while the block runs."""
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
