"""Write the rows of a job as JSON lines or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scraper.bulk.model import OutputPosition, OutputRow, PageOutcome
from scraper.bulk.outputs.files import AppendOnlyFile, RollingOutput
from scraper.render.fields import csv_cell

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
