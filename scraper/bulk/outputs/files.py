"""Base of output formats, append-only files that are truncated after a crash, JSON lines and CSV."""

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from scraper.bulk.model import OutputPosition, OutputRow, PageOutcome
from scraper.render.fields import csv_cell


class AppendOnlyFile:
    """File that is only appended to; opening it truncates it at `offset`."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        """Open or create the file.

        Raises:
            OSError: It cannot be opened, or is shorter than `offset`.
        """
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if os.fstat(self._file).st_size < offset:
                raise OSError(0, "it is shorter than it was: another program changed it", str(path))
            os.ftruncate(self._file, offset)
            os.lseek(self._file, offset, os.SEEK_SET)
            # Sync its name too: after a power failure, a recorded position must not refer to a missing file.
            sync_to_disk(path.parent)
        except BaseException:
            os.close(self._file)
            raise
        self.offset = offset

    def append(self, data: bytes) -> None:
        """Append data and sync it to disk; on failure, the file is unchanged.

        Raises:
            OSError: The disk does not accept the data.
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
        """Close the file."""
        os.close(self._file)


def sync_to_disk(path: Path) -> None:
    """Wait until the content of a file, or the names in a folder, are on the disk."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def delete_files(folder: Path, prefix: str, suffix: str, is_old: Callable[[int], bool]) -> None:
    """Delete files whose number of at least five digits between prefix and suffix is old."""
    for path in folder.glob(f"{prefix}*{suffix}"):
        number = path.name.removeprefix(prefix).removesuffix(suffix)
        if len(number) >= 5 and number.isdecimal() and is_old(int(number)):
            path.unlink()


class RowOutput:
    """Write rows to numbered files, from one thread. A format that can only append implements `_encode`."""

    prefix, suffix = "pages-", ""
    file_bytes = 1 << 30
    """Bytes at which a new file is started, for tools that load a whole file."""
    needs_snapshots = False
    """True if the format stores responses, not only the extracted text."""

    def __init__(self, folder: Path, position: OutputPosition, fields: Sequence[str] = ()) -> None:
        """Open the file at the recorded position; delete everything written after it. `fields` are of the recipe."""
        self._folder = folder
        self._fields = fields
        self._number = position.file
        delete_files(folder, self.prefix, self.suffix, lambda number: number > position.file)
        self._file = self._open_file(position.file, position.offset)

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows and return the new position.

        Raises:
            OSError: The disk does not accept them.
        """
        self._file.append(self._encode(outcomes))
        return OutputPosition(self._number, self._file.offset)

    def rotate(self) -> OutputPosition | None:
        """Start a new file if the current one is large enough, and return its position; else return None.

        Call it after the last position was recorded; then record the returned position.
        """
        return self._start_file() if self._file.offset >= self.file_bytes else None

    def remove_obsolete(self) -> None:
        """Delete files that are obsolete at the recorded position: none, if rows are only appended."""

    def finish(self) -> OutputPosition:
        """Make all rows readable after the list is complete, and return the position."""
        return OutputPosition(self._number, self._file.offset)

    def close(self) -> None:
        """Close the files without changing them."""
        self._file.close()

    def _encode(self, outcomes: Sequence[PageOutcome]) -> bytes:
        """Return the bytes of rows to append to the file."""
        raise NotImplementedError

    def _start_file(self) -> OutputPosition:
        next_file = self._open_file(self._number + 1)
        self._file.close()
        self._file = next_file
        self._number += 1
        return OutputPosition(self._number)

    def _open_file(self, number: int, offset: int = 0) -> AppendOnlyFile:
        return AppendOnlyFile(self._folder / f"{self.prefix}{number:05d}{self.suffix}", offset)


_UNSAFE = re.compile(r"[^\w.-]+")
"""Characters that are replaced in names of files."""
_MAX_NAME = 120


def row_to_dict(row: OutputRow) -> dict[str, Any]:
    """Return a row as a dict of JSON values; dates are texts in ISO 8601."""
    values = {one.name: getattr(row, one.name) for one in fields(row)}
    dates = {name: value.isoformat() for name, value in values.items() if isinstance(value, datetime)}
    return values | dates | {"error": row.error and asdict(row.error)}


class JsonlOutput(RowOutput):
    """Write `pages-NNNNN.jsonl`."""

    suffix = ".jsonl"

    def _encode(self, outcomes: Sequence[PageOutcome]) -> bytes:
        rows = (row_to_dict(outcome.row) for outcome in outcomes)
        lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows]
        # A script can leave half a surrogate pair in a page's text, which UTF-8 cannot represent.
        return "".join(lines).encode("utf-8", "replace")


class CsvOutput(RowOutput):
    """Write `pages-NNNNN.csv` with a column for the URL, for each field of the recipe and for the error.

    A page with a list has a line for each of its records.
    """

    suffix = ".csv"

    def _encode(self, outcomes: Sequence[PageOutcome]) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self._file.offset:
            first, last = (f"page_{name}" if name in self._fields else name for name in ("url", "error"))
            writer.writerow([first, *map(csv_cell, self._fields), last])
        for outcome in outcomes:
            row = outcome.row
            error = f"{row.error.code}: {row.error.message}" if row.error else ""
            for values in row.records or (row.fields or {},):
                writer.writerow([row.url, *(csv_cell(values.get(name)) for name in self._fields), error])
        return text.getvalue().encode("utf-8", "replace")


class MarkdownOutput(RowOutput):
    """Write a Markdown file for each page, named after its host and path, and their list `pages-NNNNN.jsonl`.

    A page that is written again after a crash replaces its file.
    """

    suffix = ".jsonl"

    def _encode(self, outcomes: Sequence[PageOutcome]) -> bytes:
        lines = []
        for row in (outcome.row for outcome in outcomes):
            line: dict[str, object] = {"url": row.url}
            if row.error is None:
                name = _file_name(row.url)
                path = self._folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_front_matter(row) + (row.markdown or "").encode("utf-8", "replace") + b"\n")
                line["file"] = str(name)
            else:
                line["error"] = asdict(row.error)
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
        return "".join(lines).encode("utf-8", "replace")


def _file_name(url: str) -> Path:
    """Return the path of a page's file: its host, and its path and query in one name; long ones end with a hash."""
    host, _, path = url.partition("://")[2].partition("/")
    name = _UNSAFE.sub("-", path).strip("-.") or "index"
    if name != path or len(name) > _MAX_NAME:
        name = f"{name[:_MAX_NAME]}-{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return Path(_UNSAFE.sub("-", host), f"{name}.md")


def _front_matter(row: OutputRow) -> bytes:
    """Return the facts of a page as YAML, of which JSON strings are a part."""
    facts = {
        "title": row.title,
        "url": row.final_url or row.url,
        "author": row.author,
        "published": row.published_date and row.published_date.date().isoformat(),
        "language": row.language,
        "fetched": row.fetched_at and row.fetched_at.isoformat(timespec="seconds"),
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items() if value]
    return "\n".join(["---", *lines, "---", "", ""]).encode("utf-8", "replace")
