"""Tests for the URL list of a job: missing, broken, incomplete, or read again."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import io
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from scraper.bulk import url_lists
from scraper.bulk.job import BulkJob
from scraper.bulk.job_database import LINES_PER_TRANSACTION, JobDatabase
from scraper.bulk.model import STDIN, Format, MissingExtraError, UrlListError
from scraper.bulk.run import read_locally
from scraper.bulk.url_lists import ListLine
from tests.scraper.bulk.jobs import numbers_in, order_of
from tests.scraper.bulk.test_job import URLS, Pages


async def test_a_missing_list_is_named(tmp_path: Path) -> None:
    spec = dataclasses.replace(order_of(tmp_path, []), source=str(tmp_path / "none.txt"))
    with pytest.raises(UrlListError, match=r"none\.txt cannot be read: No such file"):
        async with BulkJob.open(spec):
            pass
    assert not spec.folder.exists()


async def test_an_unusable_list_may_be_corrected(tmp_path: Path) -> None:
    source = tmp_path / "urls.csv"
    source.write_text(f"address\n{URLS[0]}\n")
    spec = dataclasses.replace(order_of(tmp_path, []), source=str(source))
    with pytest.raises(UrlListError):
        async with BulkJob.open(spec):
            pass
    assert not spec.folder.exists()
    source.write_text(f"url\n{URLS[0]}\n")
    async with BulkJob.open(spec) as job:
        assert (await job.counts()).pages == 1


async def test_a_format_without_its_library_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = order_of(tmp_path, URLS, Format.PARQUET)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow", None)
        patched.delitem(sys.modules, "scraper.bulk.outputs.parquet", raising=False)
        with pytest.raises(MissingExtraError, match=r"--format parquet needs pyarrow.*, or use --format jsonl"):
            async with BulkJob.open(spec):
                pass
    async with BulkJob.open(dataclasses.replace(spec, format=Format.JSONL)) as job:
        assert (await job.counts()).pages == len(URLS)


async def test_an_incomplete_list_leaves_no_pages(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt.gz"
    lines = "".join(f"http://a.example/{number}\n" for number in range(3 * LINES_PER_TRANSACTION))
    packed = gzip.compress(lines.encode())
    source.write_bytes(packed[: len(packed) * 3 // 4])
    spec = dataclasses.replace(order_of(tmp_path, []), source=str(source))
    with pytest.raises(UrlListError, match="cannot be read"):
        async with BulkJob.open(spec):
            pass
    source.write_bytes(gzip.compress(URLS[0].encode()))
    async with BulkJob.open(spec) as job:
        assert (await job.counts()).pages == 1 and len(await job.query(JobDatabase.list_hosts)) == 1


async def test_reading_a_list_is_cancelled_at_once_and_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = order_of(tmp_path, URLS)
    taken_in = asyncio.Event()
    loop = asyncio.get_running_loop()

    def endless(source: str) -> Iterator[ListLine]:
        for number in itertools.count():
            yield ListLine(URLS[number % len(URLS)])
            if number == LINES_PER_TRANSACTION:
                loop.call_soon_threadsafe(taken_in.set)

    with monkeypatch.context() as patched:
        patched.setattr(url_lists, "read_lines", endless)
        opening = asyncio.create_task(BulkJob.open(spec).__aenter__())
        async with asyncio.timeout(60):
            await taken_in.wait()
            opening.cancel()
            await asyncio.wait({opening})
    assert opening.cancelled()
    async with BulkJob.open(spec) as job:
        assert (await job.counts()).pages == len(URLS)


async def test_a_list_from_standard_input_is_not_needed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = dataclasses.replace(order_of(tmp_path, []), source=STDIN)
    piped = io.TextIOWrapper(io.BytesIO("\n".join([*URLS[:3], json.dumps({"url": URLS[3]})]).encode()))
    monkeypatch.setattr(sys, "stdin", piped)
    async with BulkJob.open(spec) as job:
        assert (await job.counts()).pages == 4
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    async with BulkJob.open(spec) as job:
        await read_locally(job, Pages(), asyncio.Event(), concurrency=lambda: 4)
        await job.finish()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(URLS[:4])
