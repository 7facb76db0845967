"""What ends a job before its list does; each says what to do."""

from __future__ import annotations

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
