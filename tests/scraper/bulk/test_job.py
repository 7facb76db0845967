"""A job in its folder: started, continued or refused; no page is lost or written twice."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import resource
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scraper import errors
from scraper.bulk import job as job_module
from scraper.bulk import page_dispatcher, run
from scraper.bulk.job import BulkJob
from scraper.bulk.model import (
    BulkError,
    DiskFullError,
    Format,
    JobInUseError,
    JobMismatchError,
    JobPage,
    JobRate,
    OutputPosition,
    OutputRow,
    PageFailure,
    PageOutcome,
)
from scraper.bulk.outputs.files import JsonlOutput
from scraper.bulk.page_reader import PageResult
from scraper.bulk.run import read_locally
from tests.scraper.bulk.jobs import numbers_in, order_of, outcome_of, rows_in

URLS = [f"http://host{number % 4}.example/{number}" for number in range(200)]


class Pages:
    """Fake page reader: count pages, fail for chosen URLs, and stop the job after a number of pages."""

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()
        self.at_once: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.failing: dict[str, list[errors.ScraperError]] = {}
        self.stop_after: tuple[int, asyncio.Event] | None = None

    async def __call__(self, page: JobPage) -> PageResult:
        self.read[page.url] += 1
        self.at_once[page.host] += 1
        self.most[page.host] = max(self.most[page.host], self.at_once[page.host])
        await asyncio.sleep(0.001)
        self.at_once[page.host] -= 1
        if self.stop_after is not None and self.read.total() >= self.stop_after[0]:
            self.stop_after[1].set()
        requested_at = asyncio.get_running_loop().time()
        if page.problem:
            row = OutputRow(page.url, error=PageFailure("bad_url", page.problem))
            return PageResult(PageOutcome(page, row, 0.0), None)
        if self.failing.get(page.url):
            error = self.failing[page.url].pop(0)
            row = OutputRow(page.url, error=PageFailure(error.code, str(error)))
            return PageResult(PageOutcome(page, row, 0.1), requested_at, error)
        return PageResult(PageOutcome(page, OutputRow(page.url, markdown=f"text of {page.url}"), 0.1), requested_at)


@pytest.mark.parametrize("form", [form for form in Format if form is not Format.MARKDOWN])
async def test_every_page_of_a_list_is_written_once(tmp_path: Path, form: Format) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("warcio")
    pages = Pages()
    recipe = '{"fields":{"url":{}}}' if form is Format.CSV else ""
    async with BulkJob.open(order_of(tmp_path, [*URLS, URLS[0], "no url", ""], form, recipe=recipe)) as job:
        await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 16)
        await job.finish()
        counts = await job.counts()
    assert (counts.pages, counts.done, counts.lines, counts.repeated) == (201, 201, 202, 1)
    assert numbers_in(tmp_path / "out", form) == Counter([*URLS, "no url"])
    assert max(pages.most[f"host{number}.example"] for number in range(4)) <= 2


async def test_a_page_is_read_at_its_first_url_in_the_list(tmp_path: Path) -> None:
    pages = Pages()
    asked = ["http://a.example/page#part", "http://a.example/page", "http://a.example/other"]
    async with BulkJob.open(order_of(tmp_path, asked)) as job:
        await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 4)
        await job.finish()
        assert (await job.counts()).repeated == 1
    assert pages.read == Counter([asked[0], asked[2]])
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter([asked[0], asked[2]])


async def test_a_stopped_job_resumes(tmp_path: Path) -> None:
    spec = order_of(tmp_path, URLS)
    pages, stop = Pages(), asyncio.Event()
    pages.stop_after = (50, stop)
    async with BulkJob.open(spec) as job:
        await read_locally(job, pages, stop, concurrency=lambda: 4)
        await job.finish()
    first = numbers_in(tmp_path / "out", Format.JSONL)
    assert 50 <= len(first) < 100
    pages.stop_after = None
    async with BulkJob.open(spec) as job:
        assert job.stats.done_before == len(first)
        await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 4)
        await job.finish()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(URLS)
    assert set(pages.read.values()) == {1}


async def test_a_page_with_a_temporary_failure_is_retried(tmp_path: Path) -> None:
    pages = Pages()
    pages.failing = {
        URLS[3]: [errors.BrowserFailedError("The browser died.")],
        URLS[5]: [errors.HttpStatusError("No such page.", status=404)],
        URLS[7]: [errors.OverloadedError("Too many.", retry_after_s=0.01)] * 3,
        URLS[9]: [errors.OverloadedError("Leave me alone for a week.", retry_after_s=600_000)],
    }
    async with BulkJob.open(order_of(tmp_path, URLS)) as job:
        await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 16)
        await job.finish()
        assert job.stats.retried == 4
    rows = {row["url"]: row for row in rows_in(tmp_path / "out", Format.JSONL)}
    failed = {url: row["error"]["code"] for url, row in rows.items() if row["error"]}
    assert failed == {URLS[5]: "http_error", URLS[9]: "busy"}
    assert len(rows) == 200


@pytest.mark.parametrize("hosts", [1, 3])
async def test_a_list_with_more_hosts_than_the_schedule_limit_is_read_completely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosts: int
) -> None:
    monkeypatch.setattr(run, "HOSTS_AT_ONCE", hosts)
    monkeypatch.setattr(run, "PAGES_AT_ONCE", 2)
    async with BulkJob.open(order_of(tmp_path, URLS)) as job:
        async with asyncio.timeout(60):
            await read_locally(job, Pages(), asyncio.Event(), concurrency=lambda: 16)
        await job.finish()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(URLS)


async def test_only_pages_within_the_limit_are_read(tmp_path: Path) -> None:
    spec = order_of(tmp_path, URLS, limit=30)
    for limit in (30, 60):
        async with BulkJob.open(dataclasses.replace(spec, limit=limit)) as job:
            await read_locally(job, Pages(), asyncio.Event(), concurrency=lambda: 16)
            await job.finish()
        assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(URLS[:limit])


async def test_a_folder_resumes_only_its_own_job(tmp_path: Path) -> None:
    spec = order_of(tmp_path, URLS)
    async with BulkJob.open(spec):
        pass
    with pytest.raises(JobMismatchError, match="started with --format jsonl, not warc"):
        async with BulkJob.open(dataclasses.replace(spec, format=Format.WARC)):
            pass
    with pytest.raises(JobMismatchError, match="started with --render auto, not browser"):
        async with BulkJob.open(dataclasses.replace(spec, render="browser")):
            pass
    with pytest.raises(JobMismatchError, match=r"started with --recipe none, not [0-9a-f]{12}"):
        async with BulkJob.open(dataclasses.replace(spec, recipe="{}")):
            pass
    Path(spec.source).write_text("http://other.example/\n")
    with pytest.raises(JobMismatchError, match=r"its list \(.*urls\.txt\) was another, or has changed"):
        async with BulkJob.open(spec):
            pass


async def test_output_without_a_job_is_not_truncated(tmp_path: Path) -> None:
    spec = order_of(tmp_path, URLS)
    spec.folder.mkdir()
    (spec.folder / "pages-00001.jsonl").write_text("{}\n")
    with pytest.raises(JobMismatchError, match="not the job that wrote them"):
        async with BulkJob.open(spec):
            pass
    assert (spec.folder / "pages-00001.jsonl").read_text() == "{}\n"


async def test_a_second_process_in_one_folder_is_refused(tmp_path: Path) -> None:
    spec = order_of(tmp_path, URLS)
    async with BulkJob.open(spec):
        with pytest.raises(JobInUseError, match="Another process is at work"):
            async with BulkJob.open(spec):
                pass


async def test_an_unreadable_frontier_ends_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages()
    async with BulkJob.open(order_of(tmp_path, URLS)) as job:
        list_pages = job.list_pages

        async def breaks(*asked: Any, count: int) -> list[list[JobPage]]:
            if pages.read.total() > 50:
                raise BulkError("The disk is gone.")
            return await list_pages(*asked, count=16)

        monkeypatch.setattr(job, "list_pages", breaks)
        with pytest.raises(BulkError, match="The disk is gone"):
            async with asyncio.timeout(60):
                await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 4)


@pytest.mark.parametrize("fault", [None, OSError(errno.ENOSPC, "No space left on device")])
async def test_deliver_waits_for_the_disk_and_raises_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: OSError | None
) -> None:
    monkeypatch.setattr(job_module, "BATCH_ROWS", 3)
    free = threading.Event()
    append = JsonlOutput.append

    def slowly(output: JsonlOutput, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        assert free.wait(60)
        if fault is not None:
            raise fault
        return append(output, outcomes)

    monkeypatch.setattr(JsonlOutput, "append", slowly)
    async with BulkJob.open(order_of(tmp_path, URLS)) as job:
        delivering = [asyncio.create_task(job.deliver(outcome_of(number))) for number in range(1, 13)]
        await asyncio.sleep(0.3)
        assert sum(task.done() for task in delivering) <= 6
        free.set()
        async with asyncio.timeout(60):
            told = await asyncio.gather(*delivering, return_exceptions=True)
    failed = [isinstance(error, DiskFullError) for error in told if error is not None]
    assert (len(failed) > 5 and all(failed)) if fault is not None else not failed
    assert len(rows_in(tmp_path / "out", Format.JSONL)) == (12 if fault is None else 0)


async def test_an_internal_error_while_writing_ends_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(output: JsonlOutput, outcomes: Sequence[PageOutcome]) -> OutputPosition:
        raise ValueError("Nobody foresaw this.")

    monkeypatch.setattr(JsonlOutput, "append", breaks)
    async with asyncio.timeout(60):
        with pytest.raises(BulkError, match="internal error: ValueError: Nobody foresaw this"):
            async with BulkJob.open(order_of(tmp_path, URLS)) as job:
                await read_locally(job, Pages(), asyncio.Event(), concurrency=lambda: 4)
                await job.finish()


async def test_a_full_disk_ends_the_job_which_can_resume(tmp_path: Path) -> None:
    spec = order_of(tmp_path, URLS)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with BulkJob.open(spec):
        pass
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, hard))
    try:
        with pytest.raises(BulkError) as caught:
            async with BulkJob.open(spec) as job:
                await read_locally(job, Pages(), asyncio.Event(), concurrency=lambda: 4)
                await job.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert isinstance(caught.value, DiskFullError)
    assert "free space, then run the same command again" in str(caught.value)
    async with BulkJob.open(spec) as job:
        await read_locally(job, Pages(), asyncio.Event(), concurrency=lambda: 4)
        await job.finish()
    assert numbers_in(tmp_path / "out", Format.JSONL) == Counter(URLS)


async def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    spec = order_of(tmp_path, URLS)
    (tmp_path / "file").write_text("")
    with pytest.raises(BulkError, match="cannot be used: Not a directory"):
        async with BulkJob.open(dataclasses.replace(spec, folder=tmp_path / "file" / "out")):
            pass


@pytest.mark.slow
async def test_invalid_lines_do_not_wait_for_a_host(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(3_000)]
    pages = Pages()
    spec = order_of(tmp_path, lines, rate=JobRate(gap_s=60.0))
    async with BulkJob.open(spec) as job:
        async with asyncio.timeout(60):
            await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 16)
        await job.finish()
    assert len(rows_in(tmp_path / "out", Format.JSONL)) == 3_000


async def test_dead_hosts_do_not_delay_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_dispatcher, "SITE_PAUSE_S", 0.01)
    pages = Pages()
    dead = [f"http://dead.example/{number}" for number in range(500)]
    pages.failing = {url: [errors.HostDownError("Nobody is there.", retryable=True)] * 2 for url in dead}
    async with BulkJob.open(order_of(tmp_path, [*dead, *URLS])) as job:
        await read_locally(job, pages, asyncio.Event(), concurrency=lambda: 16)
        await job.finish()
    assert sum(count for url, count in pages.read.items() if url in pages.failing) < 20
    rows = {row["url"]: row for row in rows_in(tmp_path / "out", Format.JSONL)}
    assert len(rows) == 700
    assert [url for url in URLS if rows[url]["error"]] == []
    assert rows[dead[-1]]["error"] == {
        "code": "unreachable",
        "message": "Nobody is there. Other pages of its host failed in the same way, so it was not requested.",
    }


async def test_cancellation_does_not_wait_for_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_dispatcher, "GRACE_S", 3_600.0)
    under_way = asyncio.Event()

    async def never(page: JobPage) -> PageResult:
        under_way.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with BulkJob.open(order_of(tmp_path, URLS)) as job:
        for stopped_before in (False, True):
            stop = asyncio.Event()
            under_way.clear()
            working = asyncio.create_task(read_locally(job, never, stop, concurrency=lambda: 4))
            async with asyncio.timeout(60):
                await under_way.wait()
                if stopped_before:
                    stop.set()
                    await asyncio.sleep(0.05)
                working.cancel()
                await asyncio.wait({working})
            assert working.cancelled()
