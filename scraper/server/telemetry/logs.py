"""Configure the log: one line per event on stderr, because stdout carries the protocol.

At level info it contains no page text, no URL query and no argument.
"""

import contextlib
import json
import logging
import sys
import time
from collections.abc import Iterator

_FOREIGN = ("mcp", "uvicorn", "sse_starlette", "asyncio")
"""Loggers of other packages. Their info lines repeat ours or name sessions."""
_REPEATED = {
    "socket.accept() out of system resource": "no file descriptor is left for new connections, which wait; "
    "raise the limit of open files (ulimit -n)",
    "Invalid HTTP request received.": "invalid HTTP requests are being rejected",
}
"""Messages of asyncio and uvicorn that clients can cause without limit, with their replacements."""


class TextFormatter(logging.Formatter):
    """Format events as `time level logger message key=value ...`."""

    def __init__(self) -> None:
        """Format times to the millisecond."""
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of an event."""
        fields = getattr(record, "fields", {})
        pairs = (f"{name}={_quote(value)}" for name, value in fields.items())
        return " ".join([super().format(record), *pairs])


def _quote(value: str | int) -> str:
    if type(value) is int and value >= 0:
        return str(value)
    text = str(value)
    return text if text.replace("_", "").isalnum() else json.dumps(text, ensure_ascii=False)


class _JsonFormatter(logging.Formatter):
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


class RepeatFilter(logging.Filter):
    """Log each message that clients can cause without limit only once a minute, on one line."""

    def __init__(self) -> None:
        """Create a filter without logged messages."""
        super().__init__()
        self._next_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for a repeated message; replace the first one."""
        known = next((start for start in _REPEATED if record.getMessage().startswith(start)), None)
        if known is None:
            return True
        now = time.monotonic()
        if now < self._next_s.get(known, 0):
            return False
        self._next_s[known] = now + 60.0
        record.msg, record.args, record.exc_info = _REPEATED[known], (), None
        return True


def configure(level: str, style: str) -> None:
    """Send all log events from `level` on to stderr; `style` is "text" or "json"."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(level.upper())
    handler.setFormatter(_JsonFormatter() if style == "json" else TextFormatter())
    handler.addFilter(RepeatFilter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # Collected for each line, but not shown.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # documented switch that skips the lookup of the source line
    # Our events are counted even if they are not shown.
    logging.getLogger("scraper").setLevel(min(logging.INFO, handler.level))
    for name in _FOREIGN:
        logging.getLogger(name).setLevel(logging.WARNING)


@contextlib.contextmanager
def attach_handler(name: str, handler: logging.Handler) -> Iterator[None]:
    """Pass all events of a logger to `handler` while the block runs."""
    logger = logging.getLogger(name)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
