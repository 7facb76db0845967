"""Prepare the process: open the standard streams, and raise the limit of open files."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import sys

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def prepare_streams() -> None:
    """Open closed standard streams on /dev/null, and escape characters that the terminal's encoding lacks."""
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None and not _is_open(number):
            _open_null(number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A stream with a Latin encoding shows other letters as escape sequences.
            stream.reconfigure(errors="backslashreplace")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _open_null(number: int) -> None:
    """Open /dev/null on a closed descriptor; otherwise the next socket would get it and receive the output."""
    null = os.open(os.devnull, os.O_RDWR)
    if null != number:
        os.dup2(null, number)
        os.close(null)


OPEN_FILES = 8_192
"""Open files. Each connection of a page uses two in this process and more in the browser. With a limit of 90, half of a
dozen pages rendered at once crashed their browser. macOS allows 256 by default and 10,240 at most."""


def raise_open_files_limit() -> None:
    """Raise the limit of open files for this process and its children, as far as permitted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
