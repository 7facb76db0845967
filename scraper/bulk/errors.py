"""Errors that end a job, with messages for the user, and the conversion of disk errors."""

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
    """Base of all errors of a job. The message says what to do."""


class UrlListError(BulkError):
    """The list of URLs cannot be read."""


class JobMismatchError(BulkError):
    """The folder contains a job with another list or other options."""


class JobInUseError(BulkError):
    """Another process works on the folder."""


class MissingExtraError(BulkError):
    """A required library is not installed."""

    def __init__(self, purpose: str, library: str, alternative: str = "") -> None:
        """Create the message.

        Args:
            purpose: Option or input that needs the library.
            library: Name of the library.
            alternative: Option that works without it.
        """
        other = f", or use {alternative}" if alternative else ""
        super().__init__(f"{purpose} needs {library}: {install_command('bulk')}{other}")


class ClusterUnavailableError(BulkError):
    """No cluster answers at an address, or Ray cannot start on this machine."""

    def __init__(self, address: str, reason: str, *, is_new: bool) -> None:
        """Create the message; `is_new` is True if a new cluster was to be started on this machine."""
        if is_new:
            problem = f"Ray cannot start a cluster on this machine: {reason}. End other programs to free memory"
        else:
            problem = f"The cluster at {address} cannot be reached: {reason}. Check it with `ray status`"
        super().__init__(f"{problem}, or run the same command without --cluster.")


class DiskFullError(BulkError):
    """The disk is full."""


log = logging.getLogger(__name__)

_MIN_FREE_BYTES = 1 << 20
"""Bytes. With less free space, SQLite's I/O errors are reported as a full disk."""
_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def to_bulk_error(error: Exception, folder: Path) -> BulkError:
    """Convert an exception while writing to `folder` to an error for the user; log internal errors."""
    if not isinstance(error, OSError | apsw.Error):
        log.error("internal error while writing", exc_info=error)
        return BulkError(
            f"{folder} cannot be written because of an internal error: {type(error).__name__}: {error}. "
            "Written pages are safe. Another format in another folder may work for the others."
        )
    is_full = isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno in _FULL_ERRNOS)
    if is_full or (isinstance(error, apsw.IOError) and _is_out_of_space(folder)):
        return DiskFullError(
            f"There is no space left in {folder}. Written pages are safe: free space, then run the same command again."
        )
    reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
    return BulkError(f"{folder} cannot be used: {reason}.")


def _is_out_of_space(folder: Path) -> bool:
    """Return True if files cannot grow. SQLite reports quotas and file size limits as I/O errors."""
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        return True
    with contextlib.suppress(OSError):
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize < _MIN_FREE_BYTES
    return False
