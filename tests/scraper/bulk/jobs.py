"""Helpers for tests of jobs: rows made by hand, and outputs read with independent libraries."""

from __future__ import annotations

import csv
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from browsers.model import Snapshot
from scraper.bulk.model import Format, JobPage, JobRate, JobSpec, OutputRow, PageFailure, PageOutcome

AT = datetime(2026, 5, 1, 12, 30, 15, 250_000, tzinfo=UTC)


def order_of(folder: Path, urls: list[str], form: Format = Format.JSONL, **more: Any) -> JobSpec:
    """Write a URL list of these lines and return a job for it."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "urls.txt"
    source.write_text("\n".join(urls))
    return JobSpec(str(source), folder / "out", form, more.pop("rate", JobRate()), **more)


def outcome_of(number: int, *, text: str = "", failed: bool = False, rendered: bool = False) -> PageOutcome:
    """Build the outcome of reading a page."""
    url = f"http://host{number % 3}.example/{number}"
    page = JobPage(number, url, f"host{number % 3}.example")
    if failed:
        return PageOutcome(
            page, OutputRow(url, fetched_at=AT, error=PageFailure("timed_out", "It took too long.")), 1.0
        )
    markdown = text or f"# Page {number}\n\nŻółw \ud800 {number}"
    row = OutputRow(
        url=url,
        final_url=url + "?seen",
        status=200,
        method="browser" if rendered else "http",
        fetched_at=AT,
        title=f"Page {number}",
        markdown=markdown,
        json_ld=({"@type": "Article", "name": f"Page {number}"},),
        links=({"url": "http://other.example/", "text": "Other"},),
        fields={"price": f"{number} €", "na\ud800me": None},
        confidence={"price": 0.99},
        timings={"response_s": 0.1, "total_s": 0.2},
        hash="0" * 64,
    )
    snapshot = Snapshot(
        url=url + "?seen",
        requested_url=url,
        status=200,
        headers={"content-type": "text/html", "content-encoding": "br", "x-note": "two\nlines"},
        media_type="text/html",
        body=f"<p>{number}</p>".encode(),
        html=f"<p>{number}</p>",
        rendered=rendered,
    )
    return PageOutcome(page, row, 0.5, snapshot=snapshot)


def rows_in(folder: Path, form: Format) -> list[dict[str, Any]]:
    """Read the rows of an output as another program reads them."""
    return {Format.JSONL: _jsonl, Format.PARQUET: _parquet, Format.WARC: _warc, Format.CSV: _csv}[form](folder)


def numbers_in(folder: Path, form: Format) -> Counter[str]:
    """Count the rows of each URL in an output."""
    column = "page_url" if form is Format.CSV else "url"
    return Counter(row[column] for row in rows_in(folder, form))


def _jsonl(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("pages-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def _parquet(folder: Path) -> list[dict[str, Any]]:
    from pyarrow import parquet

    rows: list[dict[str, Any]] = []
    for file in sorted(folder.glob("pages-*.parquet")):
        rows += parquet.read_table(file).to_pylist()
    return rows


def _warc(folder: Path) -> list[dict[str, Any]]:
    from warcio.archiveiterator import ArchiveIterator

    rows: list[dict[str, Any]] = []
    for file in sorted(folder.glob("pages-*.warc.gz")):
        with file.open("rb") as stream:
            rows.extend(
                json.loads(record.content_stream().read())
                for record in ArchiveIterator(stream, check_digests="raise")
                if record.rec_type == "metadata"
            )
    return rows


def _csv(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in sorted(folder.glob("pages-*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
    return rows
