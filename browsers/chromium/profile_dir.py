"""The folder for browser profiles: ours alone, and swept when its owner was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType

PREFIX = "search-mcp-run-"
LOCK = "owner.lock"
REMOVALS = 40
BETWEEN_REMOVALS_S = 0.05

LONGEST_PARENT_BYTES = 34
"""Chromium's full tier makes a socket beneath, in `org.chromium.Chromium.XXXXXX/SingletonSocket`, and ends if
that address has more than 107 bytes (Linux) or 103 (macOS, whose own folder of temporary files has 49)."""
SHORT_PARENT = Path("/tmp")


class ProfileDir:
    """A temporary folder held by a lock: as long as its owner lives, no other process sweeps it."""

    def __init__(self) -> None:
        self.path = Path()
        self._lock: int | None = None

    def __enter__(self) -> ProfileDir:
        remove_abandoned_dirs()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_parent()))
        # Locked before it has its name: a sweep at this very moment sees no lock, or one that is held.
        unnamed = self.path / (LOCK + ".new")
        self._lock = os.open(unnamed, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unnamed.rename(self.path / LOCK)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            _remove(self.path)
            os.close(self._lock)
            self._lock = None


def _parent() -> Path:
    """The folder of temporary files, unless the addresses of sockets beneath it would be too long."""
    usual = Path(tempfile.gettempdir())
    if len(os.fsencode(usual)) > LONGEST_PARENT_BYTES and os.access(SHORT_PARENT, os.W_OK | os.X_OK):
        return SHORT_PARENT
    return usual


def _remove(folder: Path) -> None:
    """A browser that is just ending may write once more: without its lock the rest would never be swept."""
    for _ in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(BETWEEN_REMOVALS_S)


def remove_abandoned_dirs() -> int:
    """Remove the folders of owners that are gone; returns how many."""
    swept = 0
    for folder in _parent().glob(PREFIX + "*"):
        if _abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
            swept += 1
    return swept


def _abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False  # being made or being removed at this moment
    except OSError:
        return False  # another user's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
