"""Tests for servers that never answer, send bombs, ask for pauses or set cookies, read with a real browser."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from browsers.model import Tier
from scraper import errors
from scraper.services import Services
from scraper.settings import Settings
from scraper.site import crawler, web_site_reader
from scraper.site.model import CrawlRequest
from tests.growth import full_size
from tests.scraper.bulk.test_crawl import DELAY_S, Delayed
from tests.scraper.site.test_page_change_tracker import compare
from tests.scraper.tools.calls import call_tool
from tests.site.gzip_bombs import compress_again, gzip_bomb
from tests.site.traps.made_site import (
    MadeSite,
    Prose,
    Response,
    build_page,
    link,
    links,
    redirect,
    sitemap,
    text_file,
    xml,
)
from tests.site.traps.serving import ServedSite, serving

pytestmark = pytest.mark.browser

SILENT = Response(is_silent=True)


@asynccontextmanager
async def opened(folder: Path, served: ServedSite) -> AsyncIterator[Services]:
    """Open services whose browser runs."""
    async with Services.open(Settings(data_dir=folder, test_hosts=served.test_hosts)) as app:
        await app.browsers.start(Tier.LIGHT)
        yield app


def names(urls: list[str]) -> set[str]:
    return {url.removeprefix("http://trap.example") for url in urls}


class Loops(MadeSite):
    """Pages beside redirects that never end, and links whose ampersands are escaped once more on each page."""

    name = "loops"

    def build(self) -> None:
        """Add the pages."""
        pages = self.add_pages("/page/{}", 4)
        loops = [("/loop/a", "Loop"), ("/longer/1", "Longer"), ("/item?a=1&b=2", "Item")]
        self.home(self.list_pages(pages) + links(loops))
        self.route(r"(/page/\d+)", lambda query, name: self.show(name))
        self.route(r"/loop/(a|b)", lambda query, name: redirect("/loop/b" if name == "a" else "/loop/a"))
        self.route(r"/longer/(\d+)", lambda query, at: redirect(f"/longer/{int(at) + 1}"))
        item = Prose("item").paragraphs()

        def show(query: dict[str, str]) -> Response:
            escapes = max((name.count("amp;") for name in query), default=0) + 1
            return build_page("Item", item + link(f"/item?a=1&{'amp;' * escapes}b=2", "Item"), nav=self.nav)

        self.route("/item", show)


async def test_endless_redirects_and_escaped_ampersands_cost_one_visit_each(tmp_path: Path) -> None:
    with serving(Loops) as (made, served):
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=40)
    assert report.is_done and report.visited <= 9
    assert names([page.url for page in report.pages]) == {"/", "/item?a=1&b=2", *made.pages}
    assert {one.reason: one.count for one in report.left_out}["failed page"] == 2


class Silent(MadeSite):
    """Pages, and a server that never answers for the paths in `silent`."""

    name = "silent"
    silent: tuple[str, ...] = ()

    def build(self) -> None:
        """Add the pages."""
        pages = self.add_pages("/page/{}", 12)
        self.home(self.list_pages(pages))
        self.route(r"(/page/\d+)", lambda query, name: self.show(name))
        self.route("/sitemap.xml", lambda query: xml(sitemap(f"{self.origin}{name}" for name in pages)))

    def get(self, url: str) -> Response:
        """Answer a request, unless its path is silent."""
        path = url.removeprefix(self.origin)
        is_silent = path.startswith(self.silent) or ("probe" in self.silent and "does-not-exist" in path)
        return SILENT if is_silent else super().get(url)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for servers that never answer."""
    monkeypatch.setattr(web_site_reader, "LIST_LOAD_S", 4.0)
    monkeypatch.setattr(web_site_reader, "PAGE_LIMIT_S", 8.0)
    monkeypatch.setattr(crawler, "PAGE_LIMIT_S", 8.0)


@pytest.mark.usefixtures("hurry")
async def test_files_and_pages_without_an_answer_cost_no_other_page_and_the_crawl_ends(tmp_path: Path) -> None:
    with serving(Silent) as (made, served):
        # As many pages as the crawl reads at once.
        pages = tuple(f"/page/{number}" for number in (2, 3, 4, 5))
        made.silent = ("/sitemap", "probe", *pages)
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=100)
            while not report.is_done:
                report = await app.crawls.resume(report.crawl, pages=100)
            found = await app.indexes.list_documents(report.index, principal="local", limit=200)
            assert names(found) == {"/", *made.pages} - set(pages)
            left_out = {one.reason: one.count for one in report.left_out}
            assert left_out == {"failed page": 4, "list that was not read in time": 1}


@pytest.mark.usefixtures("hurry")
async def test_a_map_does_not_wait_for_files_and_pages_without_an_answer(tmp_path: Path) -> None:
    with serving(Silent) as (made, served):
        made.silent = ("/sitemap", "/page/1")
        async with opened(tmp_path, served) as app:
            found = await app.site_maps.get(served.url, deadline_s=60)
            assert names([page.url for page in found.pages]) == {"/", *made.pages}
            assert {one.reason for one in found.left_out} == {"list that was not read in time"}


async def test_a_page_without_an_answer_is_no_change_and_costs_no_other_page(tmp_path: Path) -> None:
    with serving(Silent) as (made, served):
        async with opened(tmp_path, served) as app:
            urls = [f"{served.url}page/1", f"{served.url}page/6"]
            await app.change_tracker.compare(urls)
            made.silent = ("/page/1",)
            silent, other = await app.change_tracker.compare(urls, deadline_s=8)
            assert isinstance(silent, errors.FetchTimeoutError)
            assert not isinstance(other, errors.ScraperError) and other.status == "same"
            made.silent = ()
            assert (await compare(app, urls[0])).status == "same"


class Bombs(MadeSite):
    """Pages between a page and sitemaps that are huge when they are decompressed."""

    name = "bombs"
    mib = 80
    """More than any list or page may have."""
    filler = b"Lighthouse words. " * 50 + b"<p>\n   "

    def build(self) -> None:
        """Add the pages and bombs."""
        linked = self.add_pages("/page/{}", 3)
        listed = self.add_pages("/listed/{}", 3)
        self.home(links([*((name, name) for name in linked), ("/bomb", "Bomb"), ("/bomb.gz", "File")]))
        self.route(r"(/(?:page|listed)/\d)", lambda query, name: self.show(name))
        maps = [f"Sitemap: {self.origin}/{name}" for name in ("a.xml", "b.xml.gz", "c.xml")]
        self.route(r"/robots\.txt", lambda query: text_file("\n".join([*maps, "#" * 600_000])))
        entries = [sitemap([f"{self.origin}{name}"]).removesuffix(b"</urlset>") for name in listed]
        coded = (("Content-Encoding", "gzip"),)
        packed = [b"".join(gzip_bomb(entry, self.mib)) for entry in entries[:2]]
        self.route("/a.xml", lambda query: Response(body=packed[0], media_type="application/xml", headers=coded))
        self.route(r"/b\.xml\.gz", lambda query: Response(body=packed[1], media_type="application/gzip"))
        twice = compress_again(gzip_bomb(entries[2], self.mib))
        self.route("/c.xml", lambda query: Response(body=twice, media_type="application/xml", headers=coded))
        page = b"".join(gzip_bomb(b"<!doctype html><h1>Bomb</h1>", self.mib, filler=self.filler))
        self.route("/bomb", lambda query: Response(body=page, headers=coded))
        self.route(r"/bomb\.gz", lambda query: Response(body=page, media_type="application/gzip"))


class LargeBombs(Bombs):
    """Bombs of 5 GB, with fifty times as many elements in the part of a page that is read."""

    mib = 5 * 1024
    filler = b"<p>Lighthouse words. </p>\n   "


@pytest.mark.thorough
@pytest.mark.parametrize("site", [Bombs, full_size(LargeBombs, id="5 GB")])
async def test_bombs_cost_no_page(tmp_path: Path, site: type[Bombs]) -> None:
    with serving(site) as (made, served):
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=20, deadline_s=300)
            assert report.is_done and names([page.url for page in report.pages]) >= {"/", *made.pages}
            left_out = {one.reason: one.count for one in report.left_out}
            assert left_out["rest of a list beyond the limits"] == 3


async def test_every_request_of_a_crawl_keeps_the_crawl_delay(tmp_path: Path) -> None:
    with serving(Delayed) as (_, served):
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=4)
            await app.crawls.resume(report.crawl, pages=3)
        paths = [path for _, path in served.moments]
        assert paths[:2] == ["/robots.txt", "/"] and "/sitemap.xml" in paths and len(paths) >= 10
        assert any("does-not-exist" in path for path in paths)
        assert min(later - earlier for (earlier, _), (later, _) in pairwise(served.moments)) >= DELAY_S
        assert f"{DELAY_S:g} s between two requests" in report.warnings[0]


async def test_every_request_of_a_map_keeps_the_crawl_delay(tmp_path: Path) -> None:
    with serving(Delayed) as (_, served):
        async with opened(tmp_path, served) as app:
            found = await app.site_maps.get(served.url)
        assert len(found.pages) > 5 and len(served.moments) >= 3
        assert min(later - earlier for (earlier, _), (later, _) in pairwise(served.moments)) >= DELAY_S


class Patient(Silent):
    """A site that asks for pauses of more than half of a call."""

    name = "patient"

    def build(self) -> None:
        """Add the pause."""
        self.route("/robots.txt", lambda query: text_file("User-agent: *\nCrawl-delay: 100\n"))
        super().build()


async def test_a_crawl_advances_though_the_delay_is_longer_than_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Patient) as (_, served):
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=4)
            assert (report.visited, report.is_done) == (1, False)
            assert "list that was not read in time" in {one.reason for one in report.left_out}
            report = await app.crawls.resume(report.crawl, pages=4)
            assert (report.visited, report.is_done) == (1, False)
            now = time.time
            monkeypatch.setattr(time, "time", lambda: now() + 100)
            report = await app.crawls.resume(report.crawl, pages=4)
            assert (report.visited, report.is_done) == (2, False)
        assert [path for _, path in served.moments] == ["/robots.txt", "/", "/page/0"]


class Translated(MadeSite):
    """A site whose pages are in another language after a page has set a cookie."""

    name = "translated"

    def build(self) -> None:
        """Add pages in two languages at the same URLs."""
        pages = self.add_pages("/page/{}", 4)
        german = {name: MadeSite.show(self, name).body for name in self.add_pages("/german/{}", 4)}
        switch = (("Set-Cookie", "language=de; Path=/; Max-Age=86400"),)

        def show(name: str) -> Response:
            if "language=de" in self.cookies:
                return Response(body=german[name.replace("/page", "/german")].replace(b'lang="en"', b'lang="de"'))
            response = self.show(name, after=link("/deutsch", "Deutsch"))
            return Response(body=response.body, page=name, headers=switch)

        self.home(links([("/deutsch", "Deutsch"), *((name, name) for name in pages)]))
        self.route(r"(/page/\d)", lambda query, name: show(name))
        self.route("/deutsch", lambda query: Response(302, location="/page/0", headers=switch))


async def test_a_cookie_of_one_visit_translates_no_other(tmp_path: Path) -> None:
    with serving(Translated) as (made, served):
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=20)
            assert report.is_done
            for number in range(4):
                found = await app.indexes.document(report.index, f"{served.url}page/{number}", principal="local")
                assert found is not None and made.title(f"/page/{number}") in found.content
            page = f"{served.url}page/1"
            assert (await compare(app, page)).status == "first"
            await call_tool(app, "fetch", url=f"{served.url}deutsch", max_age_hours=0)
            assert (await compare(app, page)).status == "same"
