"""A job that an earlier version of the program stopped is continued.

Revision 999d7b1, before classes and fields were renamed, wrote the files in `version_1`. Of 13 lines, 6 are done.
"""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from pathlib import Path

from scraper.bulk.job import BulkJob
from scraper.bulk.model import Format
from scraper.bulk.run import read_locally
from tests.scraper.bulk.jobs import order_of, rows_in
from tests.scraper.bulk.test_job import Pages

FILES = Path(__file__).parent / "version_1"
URLS = [f"http://host{number % 3}.example/{number}" for number in range(12)]


async def test_a_job_of_an_earlier_version_is_continued(tmp_path: Path) -> None:
    spec = order_of(tmp_path, [*URLS, "no url"])
    spec.folder.mkdir()
    for packed in FILES.glob("*.gz"):
        (spec.folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    pages = Pages()
    async with BulkJob.open(spec) as job:
        assert job.is_resumed and job.run_id == "20261123T040207-206d1f68"
        assert job.stats.done_before == 6
        await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 2)
        await job.finish()
        counts = await job.counts()
    assert (counts.pages, counts.done, counts.lines, counts.repeated) == (13, 13, 13, 0)
    assert pages.read == Counter([*URLS[6:], "no url"])
    rows = rows_in(spec.folder, Format.JSONL)
    assert Counter(row["url"] for row in rows) == Counter([*URLS, "no url"])
    errors = {row["url"]: row["error"]["code"] for row in rows if row["error"]}
    assert errors == {URLS[1]: "http_error", "no url": "bad_url"}
