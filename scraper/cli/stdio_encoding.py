"""Standard input and output as every command can rely on them, however the process was started."""

from __future__ import annotations

import io
import os
import sys

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def make_usable() -> None:
    """Open what was closed, on nothing, and let no letter be one that cannot be printed."""
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is None and not _is_open(number):
            _open_nothing(number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # One that is told to be Latin shows the letters of the rest of the world by their numbers.
            stream.reconfigure(errors="backslashreplace")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _open_nothing(number: int) -> None:
    """A descriptor left closed would be given to the next socket, and what is printed would go there."""
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
