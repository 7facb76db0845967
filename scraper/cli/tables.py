"""Write rows of an answer as CSV or JSON lines, by the suffix of the output file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SUFFIXES = frozenset({".csv", ".jsonl"})


def is_table(output: Path | None) -> bool:
    """Return True if a file is for rows: `.csv` or `.jsonl`."""
    return output is not None and output.suffix.lower() in _SUFFIXES


def as_table(answer: Mapping[str, Any], output: Path) -> str:
    """Return the records of an answer, or one row with the values of each page."""
    rows = _rows(answer)
    if output.suffix.lower() == ".jsonl":
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if "pages" in answer:
        return [row for page in answer["pages"] for row in _rows(page)]
    if "records" in answer:
        return list(answer["records"])
    return [{"url": answer["url"], **answer.get("values", {})}]
