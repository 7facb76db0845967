"""Rows as Parquet: gathered in a file that can be cut back, then written in row groups of a useful size.

A Parquet file can be read only when it is complete: a killed process would lose all that stood in one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scraper.bulk.errors import MissingExtraError
from scraper.bulk.model import OutputPosition, OutputRow, PageOutcome
from scraper.bulk.outputs.files import AppendOnlyFile, remove_behind, to_disk

try:
    import pyarrow as pa
    from pyarrow import ipc, parquet
except ImportError:
    raise MissingExtraError("--format parquet", "pyarrow") from None

GROUP_BYTES = 64 << 20
"""Of a row group, before compression: what readers of Parquet take into memory at once."""
FILE_BYTES = 4 * GROUP_BYTES
"""Of rows gathered for one file, before compression."""
_LEVEL = 3
"""Of zstd; 9 takes four times as long for a twentieth less."""

_GATHERED = "gathered-{:05d}.arrows"
_NAME = "pages-{:05d}.parquet"
_PATTERNS = (
    re.compile(r"gathered-([0-9]{5,})\.arrows"),
    re.compile(r"pages-([0-9]{5,})\.parquet"),
    re.compile(r"pages-([0-9]{5,})\.parquet\.part"),
)

_LINK = pa.struct([("url", pa.string()), ("text", pa.string())])
_FAULT = pa.struct([("code", pa.string()), ("message", pa.string())])
_STAGES = ("queued_s", "response_s", "judged_s", "settled_s", "captured_s", "total_s")
SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        ("final_url", pa.string()),
        ("status", pa.int32()),
        ("method", pa.string()),
        ("fetched_at", pa.timestamp("us", tz="UTC")),
        ("title", pa.string()),
        ("markdown", pa.string()),
        ("json_ld", pa.string()),
        ("links", pa.list_(_LINK)),
        ("error", _FAULT),
        ("timings", pa.struct([(stage, pa.float64()) for stage in _STAGES])),
        ("hash", pa.string()),
    ]
)


class ParquetOutput:
    """The `Output` protocol over `pages-NNNNN.parquet`."""

    wants_snapshots = False

    def __init__(self, folder: Path, place: OutputPosition, *, file_bytes: int = FILE_BYTES) -> None:
        self._folder = folder
        self._number = place.file
        self._file_bytes = file_bytes
        # A Parquet file of the present number was made, but not noted: its rows are still gathered.
        (folder / _NAME.format(place.file)).unlink(missing_ok=True)
        remove_behind(folder, place, *_PATTERNS)
        self._gathered = self._opened(place.offset)
        self.tidied()

    def append(self, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        """Write rows, and say how far the output is safe with them."""
        batch = pa.RecordBatch.from_pylist([_values(outcome.row) for outcome in outcomes], schema=SCHEMA)
        head = b"" if self._gathered.offset else SCHEMA.serialize().to_pybytes()
        self._gathered.append(head + batch.serialize().to_pybytes())
        return OutputPosition(self._number, self._gathered.offset)

    def turned(self) -> OutputPosition | None:
        """Make a Parquet file where enough is gathered."""
        return self._written() if self._gathered.offset >= self._file_bytes else None

    def tidied(self) -> None:
        """Remove gathered rows that stand in Parquet files."""
        for path in self._folder.glob("gathered-*.arrows"):
            found = _PATTERNS[0].fullmatch(path.name)
            if found is not None and int(found[1]) < self._number:
                path.unlink()

    def finished(self) -> OutputPosition:
        """Make a Parquet file of what is gathered; of nothing at all one with the columns alone."""
        has_none = self._number == OutputPosition().file
        return self._written() if self._gathered.offset or has_none else OutputPosition(self._number)

    def close(self) -> None:
        """Let go of the files."""
        self._gathered.close()

    def _opened(self, offset: int) -> AppendOnlyFile:
        return AppendOnlyFile(self._folder / _GATHERED.format(self._number), offset)

    def _written(self) -> OutputPosition:
        path = self._folder / _NAME.format(self._number)
        part = path.with_name(path.name + ".part")
        try:
            with parquet.ParquetWriter(part, SCHEMA, compression="zstd", compression_level=_LEVEL) as writer:
                for table in _groups(self._gathered.path) if self._gathered.offset else ():
                    writer.write_table(table, row_group_size=table.num_rows)
            to_disk(part)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        part.replace(path)
        self._number += 1
        # With whose name that of the finished file goes to the disk.
        following = self._opened(0)
        self._gathered.close()
        self._gathered = following
        return OutputPosition(self._number)


def _groups(path: Path) -> Iterator[pa.Table]:
    """What is gathered, in tables of the size of a row group."""
    batches: list[pa.RecordBatch] = []
    size = 0
    with pa.memory_map(str(path)) as source, ipc.open_stream(source) as stream:
        for batch in stream:
            batches.append(batch)
            size += batch.nbytes
            if size >= GROUP_BYTES:
                yield pa.Table.from_batches(batches)
                batches, size = [], 0
        if batches:
            yield pa.Table.from_batches(batches)


def _values(row: OutputRow) -> dict[str, Any]:
    return {
        "url": _clean(row.url),
        "final_url": _clean(row.final_url),
        "status": row.status,
        "method": row.method,
        "fetched_at": row.fetched_at,
        "title": _clean(row.title),
        "markdown": _clean(row.markdown),
        "json_ld": None if row.json_ld is None else _clean(json.dumps(row.json_ld, ensure_ascii=False)),
        "links": None if row.links is None else [{"url": _clean(u), "text": _clean(t)} for u, t in row.links],
        "error": row.error and {"code": row.error.code, "message": _clean(row.error.message)},
        "timings": dict(row.timings),
        "hash": row.hash,
    }


def _clean(text: str | None) -> str | None:
    """The text without halves of surrogate pairs, which scripts can leave and no encoding can carry."""
    return None if text is None else text.encode("utf-8", "replace").decode()
