"""What a job expects of a format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from scraper.bulk.model import OutputPosition, PageOutcome


class Output(Protocol):
    """Writes rows; used from one thread. What is behind the place that it was opened at is gone."""

    @property
    def wants_snapshots(self) -> bool:
        """Whether the responses themselves are written, not only what was read in them."""

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows, and say how far the output is safe with them.

        Raises:
            OSError: the disk does not take them.
        """

    def turned(self) -> OutputPosition | None:
        """Begin a new file where the present one is large enough; None: not yet.

        To be called when the last place has been noted, and noted in its turn.
        """

    def tidied(self) -> None:
        """Remove what the noted place has made needless."""

    def finished(self) -> OutputPosition:
        """Make everything readable: the list is at its end."""

    def close(self) -> None:
        """Let go of the files as they are."""


class AppendOnlyFile:
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


Encode: TypeAlias = Callable[[Sequence[PageOutcome], AppendOnlyFile], bytes]
"""Rows as they go behind what is in the file."""


class RollingOutput:
    """The `Output` protocol over `pages-NNNNN` and an ending; each format says which bytes its rows are."""

    def __init__(
        self, folder: Path, place: OutputPosition, ending: str, encode: Encode, file_bytes: int
    ) -> None:
        self._folder = folder
        self._encode = encode
        self._ending = ending
        self._file_bytes = file_bytes
        self._number = place.file
        remove_behind(folder, place, re.compile(rf"pages-([0-9]{{5,}}){re.escape(ending)}"))
        self._file = AppendOnlyFile(self._path(place.file), place.offset)

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows, and say how far the output is safe with them."""
        self._file.append(self._encode(outcomes, self._file))
        return OutputPosition(self._number, self._file.offset)

    def turned(self) -> OutputPosition | None:
        """Begin a new file where the present one is large enough."""
        if self._file.offset < self._file_bytes:
            return None
        following = AppendOnlyFile(self._path(self._number + 1))
        self._file.close()
        self._file = following
        self._number += 1
        return OutputPosition(self._number)

    def tidied(self) -> None:
        """Nothing is needless."""

    def finished(self) -> OutputPosition:
        """Everything is readable already."""
        return OutputPosition(self._number, self._file.offset)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _path(self, number: int) -> Path:
        return self._folder / f"pages-{number:05d}{self._ending}"
