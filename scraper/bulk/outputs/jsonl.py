"""Rows as lines of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scraper.bulk.model import Outcome, Place, Row
from scraper.bulk.outputs.appended import AppendedFile, remove_behind

__all__ = ["JsonlOutput", "as_object"]

FILE_BYTES = 1 << 30
"""Above this a new file is begun, for tools that take a file whole."""
_NAME = "pages-{:05d}.jsonl"
_PATTERN = re.compile(r"pages-([0-9]{5,})\.jsonl")


class JsonlOutput:
    """The `Output` protocol over `pages-NNNNN.jsonl`."""

    wants_snapshots = False

    def __init__(self, folder: Path, place: Place, *, file_bytes: int = FILE_BYTES) -> None:
        self._folder = folder
        self._number = place.file
        self._file_bytes = file_bytes
        remove_behind(folder, place, _PATTERN)
        self._file = AppendedFile(folder / _NAME.format(place.file), place.offset)

    def append(self, outcomes: Sequence[Outcome]) -> Place:
        """Write rows, and say how far the output is safe with them."""
        self._file.append(b"".join(_line(outcome.row) for outcome in outcomes))
        return Place(self._number, self._file.offset)

    def turned(self) -> Place | None:
        """Begin a new file where the present one is large enough."""
        if self._file.offset < self._file_bytes:
            return None
        following = AppendedFile(self._folder / _NAME.format(self._number + 1))
        self._file.close()
        self._file = following
        self._number += 1
        return Place(self._number)

    def tidied(self) -> None:
        """Nothing is needless."""

    def finished(self) -> Place:
        """Everything is readable already."""
        return Place(self._number, self._file.offset)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def as_object(row: Row) -> dict[str, Any]:
    """The row as JSON has it."""
    return {
        "url": row.url,
        "final_url": row.final_url,
        "status": row.status,
        "method": row.method,
        "fetched_at": row.fetched_at and row.fetched_at.isoformat(),
        "title": row.title,
        "markdown": row.markdown,
        "json_ld": None if row.json_ld is None else list(row.json_ld),
        "links": None if row.links is None else [{"url": url, "text": text} for url, text in row.links],
        "error": row.error and {"code": row.error.code, "message": row.error.message},
        "timings": dict(row.timings),
        "hash": row.hash,
    }


def _line(row: Row) -> bytes:
    text = json.dumps(as_object(row), ensure_ascii=False, separators=(",", ":"))
    # A page's script can leave half a surrogate pair in its text, which no encoding can carry.
    return text.encode("utf-8", "replace") + b"\n"
