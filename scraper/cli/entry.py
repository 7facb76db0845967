"""Entry point of `search-mcp`. Ctrl-C also works during the imports, which take half a second."""

import contextlib
import importlib.util
import signal
import sys
from collections.abc import Iterator


def main() -> None:
    """Run a command in the warm server; else answer the handshake over stdio, load the command line and run it."""
    with _quiet_interrupts():
        _check_packages()
        from scraper.cli import warm_client
    if (code := warm_client.run(sys.argv[1:])) is not None:
        sys.exit(code)
    with _quiet_interrupts():
        from scraper.server.protocol.handshake import answer_first_message

        first = answer_first_message(sys.argv[1:])
        from scraper.cli.main import main as run
    run(first)


def _check_packages() -> None:
    """Exit if a package of another program has the name of one of ours: then files of both may be mixed."""
    for name in ("scraper", "browsers"):
        found = importlib.util.find_spec(name)
        file = (found and found.origin) or ""
        with contextlib.suppress(OSError), open(file, encoding="utf-8", errors="replace") as text:
            if "search-mcp" in text.read():
                continue
        place = file or f"a folder {name}"
        sys.exit(
            f"Error: {place} belongs to another program that has a package named {name}, as search-mcp has. Install "
            "search-mcp in an environment of its own (pipx or uv tool), and remove other folders from PYTHONPATH."
        )


@contextlib.contextmanager
def _quiet_interrupts() -> Iterator[None]:
    """End the process without a traceback if it is interrupted during the block."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, for example by `nohup`
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
