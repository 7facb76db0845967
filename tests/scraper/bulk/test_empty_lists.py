"""Lists without a URL, and a second run with the list from standard input."""

from __future__ import annotations

import asyncio
import dataclasses
import io
import sys
from collections import Counter
from pathlib import Path

import pytest

from scraper.bulk.job import BulkJob
from scraper.bulk.model import STDIN, Format, JobSpec
from scraper.bulk.run import read_locally
from tests.scraper.bulk.jobs import numbers_in, order_of, rows_in
from tests.scraper.bulk.test_job import URLS, Pages


def piped(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))


async def run(spec: JobSpec) -> list[str]:
    """Run a job to its end and return its notifications."""
    said: list[str] = []
    async with BulkJob.open(spec, notify=said.append) as job:
        await read_locally(job, Pages(), asyncio.Event(), concurrency=lambda: 4)
        await job.finish()
    return said


@pytest.mark.parametrize("form", [Format.PARQUET, Format.JSONL, Format.WARC])
async def test_the_folder_of_an_empty_list_accepts_another_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Format
) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("warcio")
    spec = dataclasses.replace(order_of(tmp_path, [], form), source=STDIN)
    for _ in range(2):
        piped(monkeypatch, "# nothing")
        assert await run(spec) == ["There is no URL in the list."]
        assert rows_in(spec.folder, form) == []
    piped(monkeypatch, *URLS[:3])
    assert await run(spec) == []
    assert numbers_in(spec.folder, form) == Counter(URLS[:3])
    assert await run(dataclasses.replace(spec, source=STDIN)) == [
        "Standard input is not read: the list of this job is in the folder."
    ]
    assert numbers_in(spec.folder, form) == Counter(URLS[:3])


async def test_another_file_may_replace_an_empty_list(tmp_path: Path) -> None:
    spec = order_of(tmp_path, [])
    assert await run(spec) == ["There is no URL in the list."]
    Path(spec.source).write_text("\n".join(URLS))
    assert await run(dataclasses.replace(spec, render="http")) == []
    assert numbers_in(spec.folder, Format.JSONL) == Counter(URLS)


async def test_parquet_of_an_empty_list_has_its_columns(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    spec = order_of(tmp_path, [], Format.PARQUET)
    await run(spec)
    (file,) = spec.folder.glob("pages-*.parquet")
    table = parquet.read_table(file)
    assert table.num_rows == 0 and {"url", "markdown", "error"} <= set(table.column_names)
