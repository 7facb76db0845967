"""Crawls as jobs: pages are added while the job runs, and a killed job loses none and reads none twice."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import secrets
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import pytest

from benchmarks.site.offline_reader import OfflineReader
from scraper import errors
from scraper.bulk.crawl import CrawlPlanner, open_planner
from scraper.bulk.job import BulkJob
from scraper.bulk.job_database import JobDatabase
from scraper.bulk.model import (
    CrawlOptions,
    Format,
    JobPage,
    JobRate,
    JobSpec,
    OutputPosition,
    OutputRow,
    PageFailure,
    PageOutcome,
)
from scraper.bulk.page_reader import PageResult
from scraper.bulk.run import read_locally, run_bulk
from scraper.bulk.schedule import Schedule
from scraper.bulk.url_lists import ListLine
from scraper.extract.outlinks import Outlinks
from scraper.settings import Settings
from scraper.site.crawled_page import CrawledPage, SiteFacts, Soft404Page, describe_page
from scraper.site.site_discovery import discover_site, load_site_robots
from tests.scraper.bulk.jobs import numbers_in, rows_in
from tests.scraper.bulk.test_cluster import RAY_S, kill_readers
from tests.scraper.process import running
from tests.scraper.site.made_crawls import read_main
from tests.site.traps.made_site import MadeSite, text_file
from tests.site.traps.ordinary import Robots
from tests.site.traps.serving import serving
from tests.site.traps.sites import TRAP_SITES

DELAY_S = 0.4


class MadePages:
    """Reads the pages of made sites without a network, and counts the visits."""

    def __init__(self, *sites: MadeSite) -> None:
        """Read pages of these sites."""
        self.readers = {
            urlsplit(site.origin).netloc: OfflineReader(site.get, read_document=read_main) for site in sites
        }
        self.read: Counter[str] = Counter()
        self.at_once: Counter[str] = Counter()
        self.most = 0
        self.end_after: tuple[int, asyncio.Event] | None = None

    async def __call__(self, page: JobPage) -> PageResult:
        """Read a page."""
        self.read[page.url] += 1
        self.at_once[page.host] += 1
        self.most = max(self.most, self.at_once[page.host])
        if self.end_after is not None and self.read.total() >= self.end_after[0]:
            self.end_after[1].set()
        await asyncio.sleep(random.random() / 500)
        self.at_once[page.host] -= 1
        return PageResult(await self._read_page(page), asyncio.get_running_loop().time())

    async def _read_page(self, page: JobPage) -> PageOutcome:
        reader = self.readers[page.host]
        try:
            loaded = await reader.load_page(page.url)
        except errors.ScraperError as error:
            row = OutputRow(page.url, error=PageFailure(error.code, str(error)))
            crawled = CrawledPage(page.url, page.url, getattr(error, "status", 0), str(error))
        else:
            row = OutputRow(page.url, final_url=loaded.url, status=200, markdown=loaded.document.text)
            crawled = describe_page(page.url, loaded.url, loaded.document, loaded.outlinks)
        facts = None
        if page.is_start:
            robots = await load_site_robots(reader, page.url)
            facts = await discover_site(reader, robots, crawled)
        return PageOutcome(page, row, 0.01, crawled=crawled, facts=facts)


def make(name: str, host: str) -> MadeSite:
    """Make a site of the traps at a host."""
    return next(made for made in TRAP_SITES if made.name == name)(origin=f"http://{host}")


def spec_of(folder: Path, *sites: MadeSite, max_pages: int = 1_000, form: Format = Format.JSONL) -> JobSpec:
    """Return the job of a crawl of some sites."""
    urls = tuple(f"{site.origin}/" for site in sites)
    return JobSpec("sites", folder / "out", form, JobRate(), crawl=CrawlOptions(urls, max_pages=max_pages))


async def run(spec: JobSpec, pages: MadePages, stop: asyncio.Event | None = None) -> None:
    """Run the job until it is complete or stopped."""
    async with BulkJob.open(spec) as job:
        planner = await open_planner(job)
        await read_locally(job, pages, stop or asyncio.Event(), concurrency=lambda: 8, planner=planner)
        await planner.save(job)
        await job.finish()


@pytest.mark.parametrize("form", [Format.PARQUET, Format.JSONL, Format.WARC])
async def test_sites_are_read_into_files(tmp_path: Path, form: Format) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("warcio")
    sites = make("robots", "one.example"), make("redirects", "two.example")
    pages = MadePages(*sites)
    spec = spec_of(tmp_path, *sites, form=form)
    await run(spec, pages)
    rows = rows_in(tmp_path / "out", form)
    for site in sites:
        names = {
            site.get(row["final_url"]).page for row in rows if row["url"].startswith(site.origin) and not row["error"]
        }
        assert names - {""} == set(site.pages)
    assert max(Counter(row["url"] for row in rows).values()) == 1
    assert pages.most <= spec.rate.per_host
    assert not [url for url in pages.read if "/private" in url]
    await run(spec, pages)
    assert max(pages.read.values()) == 1, "a complete crawl reads nothing again"


async def test_a_crawl_killed_twenty_times_loses_no_page_and_writes_none_twice(tmp_path: Path) -> None:
    site = make("robots", "one.example")
    pages, spec = MadePages(site), spec_of(tmp_path, site)
    for _ in range(20):
        stop = asyncio.Event()
        pages.end_after = pages.read.total() + random.randint(1, 6), stop
        running = asyncio.create_task(run(spec, pages))
        waiting = asyncio.create_task(stop.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        # What was not written is forgotten, as after a kill.
        running.cancel()
        waiting.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
    pages.end_after = None
    await run(spec, pages)
    found = numbers_in(tmp_path / "out", Format.JSONL)
    assert {site.get(url).page for url in found} - {""} == set(site.pages)
    assert set(found.values()) == {1}


async def test_the_limit_of_pages_counts_all_runs(tmp_path: Path) -> None:
    site = make("robots", "one.example")
    pages = MadePages(site)
    for limit, expected in ((10, 10), (10, 10), (25, 25)):
        await run(spec_of(tmp_path, site, max_pages=limit), pages)
        assert len(numbers_in(tmp_path / "out", Format.JSONL)) == expected
    assert set(pages.read.values()) == {1}


async def test_a_site_that_cannot_be_reached_is_a_row_with_an_error(tmp_path: Path) -> None:
    site = make("robots", "one.example")
    spec = spec_of(tmp_path, site)

    async def fail(page: JobPage) -> PageResult:
        row = OutputRow(page.url, error=PageFailure("unreachable", "No answer."))
        return PageResult(PageOutcome(page, row, 0.1), None)

    async with BulkJob.open(spec) as job:
        planner = await open_planner(job)
        await read_locally(job, fail, asyncio.Event(), concurrency=lambda: 8, planner=planner)
        await job.finish()
    (row,) = rows_in(tmp_path / "out", Format.JSONL)
    assert row["error"]["code"] == "unreachable"


def test_pages_that_were_added_and_not_read_are_forgotten(tmp_path: Path) -> None:
    frontier = JobDatabase(tmp_path)
    frontier.add_lines([ListLine("http://a.example/")])
    frontier.prepare_crawl()
    one, same, two = frontier.add_pages(["http://a.example/1", "http://a.example/1#x", "http://b.example/2"])
    assert one is not None and same is None and two is not None
    assert (one.host, two.host) == ("a.example", "b.example") and one.number != two.number
    page = CrawledPage(one.url, one.url)
    outcome = PageOutcome(one, OutputRow(one.url), 0.1, crawled=page)
    frontier.mark_done([outcome], OutputPosition())
    frontier.prepare_crawl()
    assert [page.url for page in frontier.list_start_pages()] == ["http://a.example/"]
    assert list(frontier.iter_crawled()) == [(0, page, None)]
    assert frontier.counts().pages == 2 and frontier.add_pages([two.url])[0] is not None
    frontier.close()


def test_a_schedule_of_a_crawl_keeps_the_pauses_of_a_host_without_pages() -> None:
    schedule = Schedule(JobRate(gap_s=5.0), keeps_hosts=True)
    first, second = (JobPage(number, f"http://a.example/{number}", "a.example") for number in (1, 2))
    schedule.add_more_pages("a.example", [first], now=0.0)
    assert schedule.take_page(0.0) == first
    schedule.finish_page(first, requested_at=1.0, now=1.0)
    schedule.add_more_pages("a.example", [second], now=1.5)
    assert schedule.take_page(5.9) is None
    assert schedule.take_page(6.0) == second


async def test_the_page_for_missing_urls_is_recognized_in_the_text_of_a_row() -> None:
    start = JobPage(1, "http://a.example/", "a.example")
    planner = CrawlPlanner(CrawlOptions(("http://a.example/",)), [start])
    text = "Sorry, nothing is here. Perhaps [the list](/list) helps you to find what you were looking for today."
    facts = SiteFacts("", (), Soft404Page("http://a.example/x", text.replace("[", "").replace("](/list)", "")))
    job = cast(BulkJob, None)
    (page,) = await planner.choose(job, 0, 4)
    assert page.is_start and await planner.choose(job, 0, 4) == []
    crawled = CrawledPage(page.url, page.url, word_count=40)
    outcome = PageOutcome(page, OutputRow(page.url, markdown="Start"), 0.1, crawled=crawled)
    planner.take(dataclasses.replace(outcome, facts=facts))
    lost = JobPage(2, "http://a.example/lost", "a.example")
    crawled = CrawledPage(lost.url, lost.url, word_count=40, outlinks=Outlinks())
    planner.take(PageOutcome(lost, OutputRow(lost.url, markdown=text), 0.1, crawled=crawled))
    assert [(reason, count) for reason, count, _ in planner.summarize_left_out()] == [("missing page", 1)]


@pytest.mark.browser
async def test_a_crawl_in_the_browser_obeys_robots_and_reports_what_it_left_out(tmp_path: Path) -> None:
    with serving(Robots) as (made, served):
        settings = Settings(data_dir=tmp_path / "data", test_hosts=served.test_hosts, cache_mb=0)
        options = CrawlOptions((served.url,), max_pages=12)
        report = await run_bulk(JobSpec("site", tmp_path / "out", Format.JSONL, JobRate(), crawl=options), settings)
        rows = rows_in(tmp_path / "out", Format.JSONL)
        assert len(rows) == report.written == 12 and report.waiting > 0
        assert "forbidden by robots.txt" in {reason for reason, _, _ in report.left_out}
        assert not [path for path in served.requests if path.startswith(("/private", "/search"))]
        assert {path for path, count in served.requests.items() if count > 1} <= {"/robots.txt"}
        assert {made.get(row["url"]).page for row in rows} <= {"", *made.pages}


class Delayed(Robots):
    """A site that asks for a pause between requests."""

    def build(self) -> None:
        """Put the pause into its robots.txt."""
        self.route("/robots.txt", lambda query: text_file(f"User-agent: *\nCrawl-delay: {DELAY_S}\n"))
        super().build()


@pytest.mark.browser
async def test_lists_and_pages_of_a_site_keep_its_crawl_delay(tmp_path: Path) -> None:
    with serving(Delayed) as (_, served):
        settings = Settings(data_dir=tmp_path / "data", test_hosts=served.test_hosts, cache_mb=0)
        options = CrawlOptions((served.url,), max_pages=4)
        await run_bulk(JobSpec("site", tmp_path / "out", Format.JSONL, JobRate(), crawl=options), settings)
    requests = [(moment, path) for moment, path in served.moments if path != "/robots.txt"]
    assert {"/", "/sitemap.xml"} < {path for _, path in requests} and len(requests) >= 7
    assert min(later - earlier for (earlier, _), (later, _) in pairwise(requests)) >= DELAY_S


@pytest.mark.browser
@pytest.mark.full_size
async def test_a_crawl_on_ray_reads_every_page_once_despite_a_killed_process(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    out = tmp_path / "out"
    with serving(Robots) as (made, served):
        (host, address, port) = served.test_hosts[0]
        environment = {
            **os.environ,
            "SEARCH_MCP_DATA": str(tmp_path / "data"),
            "SEARCH_MCP_TEST_HOSTS": f"{host}={address}:{port}",
            "SEARCH_MCP_CACHE_MB": "0",
            # A token for this test only: by default Ray writes one into the user's home.
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }
        command = ("-m", "scraper.cli.main", "crawl", served.url, "--out", str(out))
        async with running(
            *command, "--out-format", "jsonl", "--cluster", "local", "--gap", "0.2", env=environment
        ) as program:
            async with asyncio.timeout(RAY_S):
                while len(served.requests) < 15:
                    assert program.process.returncode is None, "".join(program.said)
                    await asyncio.sleep(0.1)
                killed = kill_readers(program, "ray::ReaderProcess")
                code = await program.process.wait()
        assert killed and code == 0, "".join(program.said)
    found = numbers_in(out, Format.JSONL)
    assert {made.get(url).page for url in found} - {""} == set(made.pages)
    assert set(found.values()) == {1}
    assert not [path for path in served.requests if path.startswith(("/private", "/search"))]
