"""Rows as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scraper.bulk.model import OutputPosition, OutputRow, PageOutcome
from scraper.bulk.outputs.files import AppendOnlyFile, RollingOutput

FILE_BYTES = 1 << 30
"""Above this a new file is begun, for tools that take a file whole."""


class JsonlOutput(RollingOutput):
    """The `Output` protocol over `pages-NNNNN.jsonl`."""

    wants_snapshots = False

    def __init__(self, folder: Path, place: OutputPosition, *, file_bytes: int = FILE_BYTES) -> None:
        super().__init__(folder, place, ".jsonl", _encoded, file_bytes)


def as_object(row: OutputRow) -> dict[str, Any]:
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


def _encoded(outcomes: Sequence[PageOutcome], _file: AppendOnlyFile) -> bytes:
    return b"".join(_line(outcome.row) for outcome in outcomes)


def _line(row: OutputRow) -> bytes:
    text = json.dumps(as_object(row), ensure_ascii=False, separators=(",", ":"))
    # A page's script can leave half a surrogate pair in its text, which no encoding can carry.
    return text.encode("utf-8", "replace") + b"\n"
