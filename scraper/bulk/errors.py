"""What ends a job before its list does; each says what to do."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import resource
from pathlib import Path

import apsw

from scraper.settings.optional_dependencies import install_command


class BulkError(Exception):
    """Root of the tree; the text is one that a person can act on."""


class UrlListError(BulkError):
    """The list of URLs cannot be read at all."""


class JobMismatchError(BulkError):
    """The folder holds a job that was asked for differently."""


class JobInUseError(BulkError):
    """Another process works on the folder."""


class MissingExtraError(BulkError):
    """A library is not installed."""

    def __init__(self, purpose: str, library: str) -> None:
        super().__init__(f"{purpose} needs {library}: {install_command('bulk')}")


class DiskFullError(BulkError):
    """There is no room for what was read."""


log = logging.getLogger(__name__)

LEAST_ROOM_BYTES = 1 << 20
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def told(error: Exception, folder: Path) -> BulkError:
    """The error as a person can act on it."""
    if not isinstance(error, OSError | apsw.Error):
        log.error("a fault of ours while writing", exc_info=error)
        return BulkError(
            f"{folder} cannot be written, by a fault of ours: {type(error).__name__}: {error}. "
            "What was written is safe; another format in another folder may take the rest."
        )
    full = isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno in _FULL)
    if full or (isinstance(error, apsw.IOError) and _cannot_grow(folder)):
        return DiskFullError(
            f"There is no room left in {folder}. What was written is safe: make room, "
            "and the same command goes on."
        )
    reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
    return BulkError(f"{folder} cannot be used: {reason}.")


def _cannot_grow(folder: Path) -> bool:
    """Whether files may not grow there; SQLite tells of quotas and limits as of a broken disk."""
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return True
    with contextlib.suppress(OSError):
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize < LEAST_ROOM_BYTES
    return False
