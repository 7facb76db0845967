"""Numbered files that are readable while they grow: what JSON lines and WARC have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from scraper.bulk.model import OutputPosition, PageOutcome
from scraper.bulk.outputs.append_file import AppendedFile, remove_behind

Encode: TypeAlias = Callable[[Sequence[PageOutcome], AppendedFile], bytes]
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
        self._file = AppendedFile(self._path(place.file), place.offset)

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows, and say how far the output is safe with them."""
        self._file.append(self._encode(outcomes, self._file))
        return OutputPosition(self._number, self._file.offset)

    def turned(self) -> OutputPosition | None:
        """Begin a new file where the present one is large enough."""
        if self._file.offset < self._file_bytes:
            return None
        following = AppendedFile(self._path(self._number + 1))
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
