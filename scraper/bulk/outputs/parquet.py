"""Write the rows of a job as Parquet: collect them in an Arrow stream, then write row groups of a useful size.

A Parquet file is readable only when it is complete, so a killed process would lose all rows of an open one.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from scraper.bulk.model import MissingExtraError, OutputPosition, OutputRow, PageOutcome
from scraper.bulk.outputs.files import RowOutput, delete_files, row_to_dict, sync_to_disk

try:
    import pyarrow as pa
    from pyarrow import ipc, parquet
except ImportError:
    raise MissingExtraError("--format parquet", "pyarrow", "--format jsonl") from None

GROUP_BYTES = 64 << 20
"""Bytes of a row group before compression. Parquet readers load one at a time."""
_COMPRESSION_LEVEL = 3
"""Level of zstd; 9 takes four times as long for a twentieth less."""


_HEADING = pa.struct([("level", pa.int32()), ("text", pa.string()), ("start", pa.int64())])
_IMAGE = pa.struct([("url", pa.string()), ("alt", pa.string())])
_LINK = pa.struct([("url", pa.string()), ("text", pa.string())])
_ERROR = pa.struct([("code", pa.string()), ("message", pa.string())])
_STAGES = ("queued_s", "response_s", "judged_s", "settled_s", "captured_s", "total_s")
_TIME, _TEXTS = pa.timestamp("us", tz="UTC"), pa.map_(pa.string(), pa.string())
_TYPES = {
    "status": pa.int32(), "fetched_at": _TIME, "published_date": _TIME, "headings": pa.list_(_HEADING),
    "links": pa.list_(_LINK), "images": pa.list_(_IMAGE), "fields": _TEXTS, "error": _ERROR,
    "confidence": pa.map_(pa.string(), pa.float64()), "records": pa.list_(_TEXTS),
    "timings": pa.struct([(stage, pa.float64()) for stage in _STAGES]),
}  # fmt: skip
"""Types of the columns that are no texts."""
SCHEMA = pa.schema(
    [pa.field(one.name, _TYPES.get(one.name, pa.string()), nullable=one.name != "url") for one in fields(OutputRow)]
)


class ParquetOutput(RowOutput):
    """Write `pages-NNNNN.parquet` from the rows that are collected in `gathered-NNNNN.arrows`."""

    prefix, suffix = "gathered-", ".arrows"
    file_bytes = 4 * GROUP_BYTES
    """Bytes of collected rows for one file, before compression."""

    def __init__(self, folder: Path, position: OutputPosition, fields: Sequence[str] = ()) -> None:
        """Open the collected rows at the recorded position; delete everything written after it."""
        for suffix in (".parquet", ".parquet.part"):
            # A Parquet file with the current number was not recorded: its rows are still gathered.
            delete_files(folder, "pages-", suffix, lambda number: number >= position.file)
        super().__init__(folder, position, fields)
        # Rows that an earlier version gathered keep its columns until their file is complete.
        self._schema = _read_schema(self._file.path) if position.offset else SCHEMA
        self.remove_obsolete()

    def remove_obsolete(self) -> None:
        """Delete collected rows that are already in Parquet files."""
        delete_files(self._folder, self.prefix, self.suffix, lambda number: number < self._number)

    def finish(self) -> OutputPosition:
        """Write the collected rows, if any, to a Parquet file; a job without rows gets a file with the columns only."""
        has_none = self._number == OutputPosition().file
        return self._start_file() if self._file.offset or has_none else OutputPosition(self._number)

    def _encode(self, outcomes: Sequence[PageOutcome]) -> bytes:
        batch = pa.RecordBatch.from_pylist([_make_values(outcome.row) for outcome in outcomes], schema=self._schema)
        head = b"" if self._file.offset else self._schema.serialize().to_pybytes()
        return bytes(head + batch.serialize().to_pybytes())

    def _start_file(self) -> OutputPosition:
        path = self._folder / f"pages-{self._number:05d}.parquet"
        part = path.with_name(path.name + ".part")
        try:
            with parquet.ParquetWriter(
                part, self._schema, compression="zstd", compression_level=_COMPRESSION_LEVEL
            ) as writer:
                for table in _read_groups(self._file.path) if self._file.offset else ():
                    writer.write_table(table, row_group_size=table.num_rows)
            sync_to_disk(part)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        part.replace(path)
        self._schema = SCHEMA
        # Opening the next file syncs the folder, and with it the name of the finished file.
        return super()._start_file()


def _read_schema(path: Path) -> pa.Schema:
    with pa.memory_map(str(path)) as source, ipc.open_stream(source) as stream:
        return stream.schema


def _read_groups(path: Path) -> Iterator[pa.Table]:
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


def _make_values(row: OutputRow) -> dict[str, Any]:
    values = row_to_dict(row)
    if row.json_ld is not None:
        values["json_ld"] = json.dumps(row.json_ld, ensure_ascii=False)
    values = {name: _replace_surrogates(value) for name, value in values.items()}
    maps = {name: values[name] and list(values[name].items()) for name in ("fields", "confidence")}
    maps["records"] = values["records"] and [list(record.items()) for record in values["records"]]
    return values | maps | {"fetched_at": row.fetched_at, "published_date": row.published_date}


def _replace_surrogates(value: Any) -> Any:
    """Replace half surrogate pairs in all texts. Scripts can create them, and UTF-8 cannot represent them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_replace_surrogates(name): _replace_surrogates(item) for name, item in value.items()}
    return [_replace_surrogates(item) for item in value] if isinstance(value, list | tuple) else value
