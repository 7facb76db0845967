"""The program `search-mcp`: Ctrl-C ends it quietly also while it is loaded, which takes half a second."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


def main() -> None:
    """Load the command line, then run it."""
    with _quiet_interrupts():
        from scraper.cli.main import main as run
    run()


@contextlib.contextmanager
def _quiet_interrupts() -> Iterator[None]:
    """Let an interrupt end the process as it ends any program, instead of with a traceback."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # one who ignores it, as `nohup` and its kin ask for
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
