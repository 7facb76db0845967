"""Tests for robots.txt files that forbid the start page or cannot be reached, with a real server and browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from scraper import errors
from scraper.bulk.model import CrawlOptions, Format, JobRate, JobSpec
from scraper.bulk.run import run_bulk
from scraper.reading import robots
from scraper.services import Services
from scraper.settings import Settings
from scraper.site.model import CrawlRequest
from tests.scraper.bulk.jobs import rows_in
from tests.scraper.site.test_hostile_servers import SILENT, names, opened
from tests.scraper.tools.calls import call_tool
from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, link, redirect, text_file
from tests.site.traps.serving import serving

pytestmark = pytest.mark.browser


class Closed(MadeSite):
    """A site that forbids a folder, to which other pages redirect."""

    name = "closed"
    robots: Response | None = None
    """Answer in place of the rules."""

    def build(self) -> None:
        """Add the pages."""
        rooms = self.add_pages("/room/{}", 3)
        rules = text_file("User-agent: *\nDisallow: /closed/\n")
        self.home(self.list_pages(rooms) + link("/door", "Door"))
        self.route("/robots.txt", lambda query: self.robots or rules)
        self.route(r"(/room/\d)", lambda query, name: self.show(name))
        self.route(r"/closed/\d*", lambda query: build_page("Closed", Prose("closed").paragraphs()))
        self.route("/door", lambda query: redirect("/closed/1"))


@pytest.mark.parametrize(("start", "requested"), [("closed/", set()), ("door", {"/door", "/closed/1"})])
async def test_a_start_page_that_robots_txt_forbids_is_an_error(
    tmp_path: Path, start: str, requested: set[str]
) -> None:
    with serving(Closed) as (_, served):
        async with opened(tmp_path, served) as app:
            url = f"{served.url}{start}"
            with pytest.raises(errors.RobotsDisallowedError) as crawl:
                await app.crawls.start(CrawlRequest(url), pages=5)
            with pytest.raises(errors.RobotsDisallowedError) as site_map:
                await app.site_maps.get(url)
        assert (
            str(crawl.value)
            == str(site_map.value)
            == ("The robots.txt of trap.example forbids reading it (Disallow: /closed/).")
        )
        assert crawl.value.code == "robots" and not crawl.value.retryable
        assert crawl.value.next_step == (
            "`map` and `crawl` always obey robots.txt: begin at another page of the site, or read single pages with "
            "`fetch`."
        )
        assert set(served.requests) == {"/robots.txt", *requested}
        assert served.requests["/robots.txt"] == 1


async def test_a_page_that_redirects_to_a_forbidden_one_is_left_out(tmp_path: Path) -> None:
    with serving(Closed) as (made, served):
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=10)
        assert names([page.url for page in report.pages]) == {"/", *made.pages}
        assert {one.reason: one.example for one in report.left_out} == {"forbidden by robots.txt": f"{served.url}door"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Response(503, b"later"), "The server answered 503."), (SILENT, "no answer")],
    ids=["status 503", "silent"],
)
async def test_no_page_is_read_while_robots_txt_cannot_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Response, reason: str
) -> None:
    monkeypatch.setattr(robots, "FETCH_TIMEOUT_S", 3.5)
    with serving(Closed) as (made, served):
        made.robots = answer
        async with opened(tmp_path, served) as app:
            failed = await call_tool(app, "crawl", url=served.url, format="json")
            assert failed.is_error and failed.failures[0].code == "robots"
            for again in (app.crawls.start(CrawlRequest(served.url), pages=5), app.site_maps.get(served.url)):
                with pytest.raises(
                    errors.RobotsUnreachableError, match=r"robots\.txt of trap\.example cannot"
                ) as found:
                    await again
                assert found.value.retryable and 0 < (found.value.retry_after_s or 0) <= 300
                assert "try again in" in found.value.next_step and "`fetch`" in found.value.next_step
        assert set(served.requests) == {"/robots.txt"} and served.requests["/robots.txt"] == 1


async def test_the_last_rules_hold_while_robots_txt_cannot_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "MAX_CACHE_S", 0.0)
    with serving(Closed) as (made, served):
        async with opened(tmp_path, served) as app:
            await app.crawls.start(CrawlRequest(served.url), pages=1)
            made.robots = Response(500, b"broken")
            report = await app.crawls.start(CrawlRequest(served.url), pages=3)
            assert report.visited == 3
            with pytest.raises(errors.RobotsDisallowedError, match="Disallow: /closed/"):
                await app.crawls.start(CrawlRequest(f"{served.url}closed/"), pages=3)


async def test_a_host_that_is_down_is_reported_as_such_and_tried_again(tmp_path: Path) -> None:
    with serving(Closed) as (_, served):
        hosts = (("trap.example", "127.0.0.1", served.port), ("down.example", "127.0.0.1", 9))
        async with Services.open(Settings(data_dir=tmp_path, test_hosts=hosts)) as app:
            for _ in range(2):
                with pytest.raises(errors.HostDownError):
                    await app.crawls.start(CrawlRequest("http://down.example/"), pages=5)


async def test_a_crawl_into_files_reports_a_forbidden_start_page(tmp_path: Path) -> None:
    with serving(Closed) as (_, served):
        settings = Settings(data_dir=tmp_path / "data", test_hosts=served.test_hosts)
        crawl = CrawlOptions((f"{served.url}closed/",), max_pages=5)
        await run_bulk(JobSpec("site", tmp_path / "out", Format.JSONL, JobRate(), crawl=crawl), settings)
        (row,) = rows_in(tmp_path / "out", Format.JSONL)
        assert row["error"]["code"] == "robots" and "Disallow: /closed/" in row["error"]["message"]
        assert set(served.requests) == {"/robots.txt"}
