"""Temporary folder for browser profiles. Folders of killed servers are removed at the next start."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "search-mcp-run-"
_LOCK = "owner.lock"
_REMOVE_ATTEMPTS = 40
_REMOVE_PAUSE_S = 0.05

_MAX_PARENT_BYTES = 34
"""Bytes. Chromium's full tier creates a socket in `org.chromium.Chromium.XXXXXX/SingletonSocket` and exits if its path
exceeds 107 bytes (Linux) or 103 (macOS, whose own temporary folder has 49)."""
_SHORT_PARENT = Path("/tmp")


class ProfileDir:
    """A temporary folder with a lock. While its owner runs, no other process removes it."""

    def __init__(self) -> None:
        """Start without a folder; entering creates it."""
        self.path = Path()
        self._lock: int | None = None

    def __enter__(self) -> ProfileDir:
        """Create and lock the folder."""
        remove_abandoned_dirs()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_find_parent()))
        # Locked before it gets its name: a concurrent cleanup finds no lock, or a locked one.
        unnamed = self.path / (_LOCK + ".new")
        self._lock = os.open(unnamed, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unnamed.rename(self.path / _LOCK)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        if self._lock is not None:
            _remove(self.path)
            os.close(self._lock)
            self._lock = None


def _find_parent() -> Path:
    """Return the folder of temporary files, or /tmp if its socket paths would be too long."""
    usual = Path(tempfile.gettempdir())
    if len(os.fsencode(usual)) > _MAX_PARENT_BYTES and os.access(_SHORT_PARENT, os.W_OK | os.X_OK):
        return _SHORT_PARENT
    return usual


def _remove(folder: Path) -> None:
    """Remove a folder, with retries: a closing browser may still write, and a folder without its lock would remain."""
    for _ in range(_REMOVE_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_REMOVE_PAUSE_S)


def remove_abandoned_dirs() -> int:
    """Remove the folders whose owners no longer run, and return their number."""
    abandoned = [folder for folder in _find_parent().glob(PREFIX + "*") if _is_abandoned(folder)]
    for folder in abandoned:
        shutil.rmtree(folder, ignore_errors=True)
    return len(abandoned)


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # it is being created or removed, or belongs to another user
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
