"""A job that an earlier version of the program stopped is continued.

Revision 999d7b1, before classes and fields were renamed, wrote the files in `version_1`. Of 13 lines, 6 are done.
Revision 47d8ed3b, the first with crawls as jobs, wrote the files in `crawl_version_1`. Of 51 pages, 20 are done.
"""

from __future__ import annotations

import asyncio
import gzip
from collections import Counter
from pathlib import Path

from scraper.bulk.job import BulkJob
from scraper.bulk.model import Format
from scraper.bulk.run import read_locally
from tests.scraper.bulk.jobs import numbers_in, order_of, rows_in
from tests.scraper.bulk.test_crawl import MadePages, make, run, spec_of
from tests.scraper.bulk.test_job import Pages

URLS = [f"http://host{number % 3}.example/{number}" for number in range(12)]


def unpack(version: str, folder: Path) -> None:
    folder.mkdir()
    for packed in (Path(__file__).parent / version).glob("*.gz"):
        (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))


async def test_a_job_of_an_earlier_version_is_continued(tmp_path: Path) -> None:
    spec = order_of(tmp_path, [*URLS, "no url"])
    unpack("version_1", spec.folder)
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


async def test_a_crawl_of_an_earlier_version_is_continued(tmp_path: Path) -> None:
    site = make("robots", "one.example")
    spec, pages = spec_of(tmp_path, site), MadePages(site)
    unpack("crawl_version_1", spec.folder)
    done = set(numbers_in(spec.folder, Format.JSONL))
    await run(spec, pages)
    found = numbers_in(spec.folder, Format.JSONL)
    assert len(done) == 20 and not done & set(pages.read)
    assert {site.get(url).page for url in found} - {""} == set(site.pages)
    assert set(found.values()) == {1}
