"""A numbered file that only grows, and can be cut back to a place that is known to be whole."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType
from typing import Self

from scraper.bulk.model import OutputPosition


class AppendedFile:
    """One file under work; what was behind the place at which it is opened is cut off."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        """Open it, or make it.

        Raises:
            OSError: it cannot be opened, or is shorter than it should be.
        """
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if os.fstat(self._file).st_size < offset:
                raise OSError(0, "it is shorter than it was: somebody changed it", str(path))
            os.ftruncate(self._file, offset)
            os.lseek(self._file, offset, os.SEEK_SET)
            # Its name too: what is noted of it must not outlast it when the power goes.
            to_disk(path.parent)
        except BaseException:
            os.close(self._file)
            raise
        self.offset = offset

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(self, data: bytes) -> None:
        """Write behind what is there, to the disk; where that fails, the file is as it was.

        Raises:
            OSError: the disk does not take it.
        """
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fdatasync(self._file)
        except OSError:
            os.ftruncate(self._file, self.offset)
            os.lseek(self._file, self.offset, os.SEEK_SET)
            raise
        self.offset += len(data)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._file)


def to_disk(path: Path) -> None:
    """Return when a file's content, or the names in a folder, are on the disk."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def remove_behind(folder: Path, place: OutputPosition, *patterns: re.Pattern[str]) -> None:
    """Remove files whose number, the pattern's first group, is beyond the place: they were never noted."""
    for path in folder.iterdir():
        for pattern in patterns:
            found = pattern.fullmatch(path.name)
            if found is not None and int(found[1]) > place.file:
                path.unlink()
