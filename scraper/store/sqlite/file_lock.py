"""One process at a time opens a file of the store or moves it away: else a new file could be moved."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import tenacity

_SUFFIX = ".lock"
_PAUSE_S = 0.02


@contextlib.contextmanager
def locked(path: Path, limit_s: float) -> Iterator[None]:
    """Hold the lock that goes with a file; where no lock can be made, nobody can move the file either.

    Raises:
        BlockingIOError: another process held it for longer than `limit_s`.
    """
    try:
        lock = os.open(path.with_name(path.name + _SUFFIX), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        patience = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(BlockingIOError),
            stop=tenacity.stop_after_delay(limit_s),
            wait=tenacity.wait_fixed(_PAUSE_S),
            reraise=True,
        )
        patience(fcntl.flock, lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)
