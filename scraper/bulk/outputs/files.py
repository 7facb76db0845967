"""Protocol of output formats, append-only files that are truncated after a crash, JSON lines and CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from scraper.bulk.model import OutputPosition, OutputRow, PageOutcome
from scraper.render.fields import csv_cell


class RowOutput(Protocol):
    """Write rows in one format, from one thread. Opening it truncates the files after the recorded position."""

    @property
    def needs_snapshots(self) -> bool:
        """True if the format stores responses, not only the extracted text."""

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows and return the new position.

        Raises:
            OSError: The disk does not accept them.
        """

    def rotate(self) -> OutputPosition | None:
        """Start a new file if the current one is large enough, and return its position; else return None.

        Call it after the last position was recorded; then record the returned position.
        """

    def remove_obsolete(self) -> None:
        """Delete files that are obsolete at the recorded position."""

    def finish(self) -> OutputPosition:
        """Make all rows readable after the list is complete, and return the position."""

    def close(self) -> None:
        """Close the files without changing them."""


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


def remove_later_files(folder: Path, position: OutputPosition, *patterns: re.Pattern[str]) -> None:
    """Delete files whose number, the first group of a pattern, is greater than that of the position."""
    for path in folder.iterdir():
        for pattern in patterns:
            found = pattern.fullmatch(path.name)
            if found is not None and int(found[1]) > position.file:
                path.unlink()


Encode: TypeAlias = Callable[[Sequence[PageOutcome], AppendOnlyFile], bytes]
"""Return the bytes of rows to append to the file."""


class RollingOutput:
    """Implement `RowOutput` with files `pages-NNNNN`; each format provides the encoding of rows."""

    def __init__(self, folder: Path, position: OutputPosition, suffix: str, encode: Encode, file_bytes: int) -> None:
        """Open the file at the recorded position. When it reaches `file_bytes`, `rotate` starts a new one."""
        self._folder = folder
        self._encode = encode
        self._suffix = suffix
        self._file_bytes = file_bytes
        self._number = position.file
        remove_later_files(folder, position, re.compile(rf"pages-([0-9]{{5,}}){re.escape(suffix)}"))
        self._file = AppendOnlyFile(self._path(position.file), position.offset)

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows and return the new position."""
        self._file.append(self._encode(outcomes, self._file))
        return OutputPosition(self._number, self._file.offset)

    def rotate(self) -> OutputPosition | None:
        """Start a new file if the current one is large enough."""
        if self._file.offset < self._file_bytes:
            return None
        next_file = AppendOnlyFile(self._path(self._number + 1))
        self._file.close()
        self._file = next_file
        self._number += 1
        return OutputPosition(self._number)

    def remove_obsolete(self) -> None:
        """Do nothing: no file becomes obsolete."""

    def finish(self) -> OutputPosition:
        """Return the position: all rows are readable at any time."""
        return OutputPosition(self._number, self._file.offset)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _path(self, number: int) -> Path:
        return self._folder / f"pages-{number:05d}{self._suffix}"


_UNSAFE = re.compile(r"[^\w.-]+")
"""Characters that are replaced in names of files."""
_MAX_NAME = 120
_FILE_BYTES = 1 << 30
"""Bytes at which a new file is started, for tools that load a whole file."""


class JsonlOutput(RollingOutput):
    """Write `pages-NNNNN.jsonl`."""

    needs_snapshots = False

    def __init__(self, folder: Path, position: OutputPosition, *, file_bytes: int = _FILE_BYTES) -> None:
        """Open the file at the recorded position; delete everything written after it."""
        super().__init__(folder, position, ".jsonl", _encode, file_bytes)


def row_to_dict(row: OutputRow) -> dict[str, Any]:
    """Return a row as a dict of JSON values; dates are texts in ISO 8601."""
    return {
        "url": row.url,
        "final_url": row.final_url,
        "status": row.status,
        "method": row.method,
        "fetched_at": row.fetched_at and row.fetched_at.isoformat(),
        "title": row.title,
        "author": row.author,
        "published_date": row.published_date and row.published_date.isoformat(),
        "sitename": row.sitename,
        "language": row.language,
        "description": row.description,
        "page_type": row.page_type,
        "markdown": row.markdown,
        "json_ld": None if row.json_ld is None else list(row.json_ld),
        "headings": _items(row.headings, "level", "text", "start"),
        "links": _items(row.links, "url", "text"),
        "images": _items(row.images, "url", "alt"),
        "fields": row.fields and dict(row.fields),
        "confidence": row.confidence and dict(row.confidence),
        "records": None if row.records is None else list(map(dict, row.records)),
        "next_page": row.next_page,
        "error": row.error and {"code": row.error.code, "message": row.error.message},
        "timings": dict(row.timings),
        "hash": row.hash,
    }


def _items(rows: Iterable[tuple[object, ...]] | None, *names: str) -> list[dict[str, object]] | None:
    return None if rows is None else [dict(zip(names, row, strict=True)) for row in rows]


def _encode(outcomes: Sequence[PageOutcome], _file: AppendOnlyFile) -> bytes:
    rows = (row_to_dict(outcome.row) for outcome in outcomes)
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows]
    # A script can leave half a surrogate pair in a page's text, which UTF-8 cannot represent.
    return "".join(lines).encode("utf-8", "replace")


class CsvOutput(RollingOutput):
    """Write `pages-NNNNN.csv` with a column for the URL, for each field of the recipe and for the error.

    A page with a list has a line for each of its records.
    """

    needs_snapshots = False

    def __init__(
        self, folder: Path, position: OutputPosition, *, fields: Sequence[str], file_bytes: int = _FILE_BYTES
    ) -> None:
        """Open the file at the recorded position; delete everything written after it."""
        self._fields = fields
        super().__init__(folder, position, ".csv", self._encode_rows, file_bytes)

    def _encode_rows(self, outcomes: Sequence[PageOutcome], file: AppendOnlyFile) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not file.offset:
            first, last = (f"page_{name}" if name in self._fields else name for name in ("url", "error"))
            writer.writerow([first, *map(csv_cell, self._fields), last])
        for outcome in outcomes:
            row = outcome.row
            error = f"{row.error.code}: {row.error.message}" if row.error else ""
            for values in row.records or (row.fields or {},):
                writer.writerow([row.url, *(csv_cell(values.get(name)) for name in self._fields), error])
        return text.getvalue().encode("utf-8", "replace")


class MarkdownOutput(RollingOutput):
    """Write a Markdown file for each page, named after its host and path, and their list `pages-NNNNN.jsonl`.

    A page that is written again after a crash replaces its file.
    """

    needs_snapshots = False

    def __init__(self, folder: Path, position: OutputPosition, *, file_bytes: int = _FILE_BYTES) -> None:
        """Open the list at the recorded position; delete everything written after it."""
        super().__init__(folder, position, ".jsonl", self._write_pages, file_bytes)

    def _write_pages(self, outcomes: Sequence[PageOutcome], _file: AppendOnlyFile) -> bytes:
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
                line["error"] = {"code": row.error.code, "message": row.error.message}
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
