"""Tests for crawls over a real server and browser: slices, continuation after a kill, limits between callers."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from scraper import errors
from scraper.services import Services
from scraper.settings import Settings
from scraper.site.model import CrawlRequest
from scraper.store import index_service
from scraper.tools.model import ToolCall
from tests.scraper.tools.calls import call_tool, data_of
from tests.site.pdf import pdf
from tests.site.traps.addresses import Versions
from tests.site.traps.made_site import MadeSite, Prose, Response, build_page, links
from tests.site.traps.ordinary import Robots
from tests.site.traps.serving import ServedSite, serving

pytestmark = pytest.mark.browser


def settings(folder: Path, served: ServedSite) -> Settings:
    return Settings(data_dir=folder, test_hosts=served.test_hosts)


async def test_a_crawl_in_slices_reads_every_page_once_and_fills_an_index(tmp_path: Path) -> None:
    with serving(Robots) as (made, served):
        async with Services.open(settings(tmp_path, served)) as app:
            steps: list[tuple[float, float | None, str | None]] = []
            answer = await call_tool(
                app,
                "crawl",
                ToolCall(deadline_s=60, progress=lambda *step: steps.append(step)),
                url=served.url,
                max_pages=12,
                format="json",
            )
            assert steps[-1] == (12, 12, "read 12, kept 12: trap.example")
            rows, ids = list(data_of(answer)["pages"]), {data_of(answer)["crawl"]}
            assert data_of(answer)["read"] == 12 and not data_of(answer)["done"]
            while not data_of(answer)["done"]:
                answer = await call_tool(app, "crawl", crawl=data_of(answer)["crawl"], max_pages=25, format="json")
                rows += data_of(answer)["pages"]
                ids.add(data_of(answer)["crawl"])
            assert len(ids) == 1 and data_of(answer)["notice"]
            found = [row["url"] for row in rows]
            assert len(found) == len(set(found))
            assert {url.removeprefix("http://trap.example") for url in found} == {"/", *made.pages}
            assert max(served.requests.values()) == 1
            assert not [path for path in served.requests if path.startswith(("/private", "/search"))]
            title = made.title("/open/7")
            hits = await call_tool(app, "search_index", index_name=data_of(answer)["index"], query=title, k=1)
            assert "/open/7" in hits.text
            assert "Robots" not in hits.text
            assert "/open/7" in (await call_tool(app, "cache_search", query=title)).text


async def test_pages_that_are_not_in_the_index_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Robots) as (_, served):
        async with Services.open(settings(tmp_path, served)) as app:
            both = [app.crawls.start(CrawlRequest(served.url), pages=2) for _ in range(2)]
            # Both create the index, and only one can.
            assert [report.warnings for report in await asyncio.gather(*both)] == [(), ()]
            monkeypatch.setattr(index_service, "DOCUMENTS_LIMIT", 5)
            report = await app.crawls.start(CrawlRequest(served.url), pages=12)
            count = len(await app.indexes.list_documents(report.index, principal="local", limit=200))
            assert report.kept == 12 and count == 5
            assert report.warnings == (
                "Pages that are not in the index: 7. Index is full: trap-example (5 documents).",
            )


@pytest.mark.full_size
async def test_a_killed_crawl_continues_without_loss_on_another_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Robots) as (made, served):
        async with Services.open(settings(tmp_path, served)) as app:
            crawl_id = (await app.crawls.start(CrawlRequest(served.url), pages=5)).crawl
        for _ in range(2):
            async with Services.open(settings(tmp_path, served)) as app:
                await cancel_after(app, crawl_id, pages=7)
        # The clock of the other server is an hour behind.
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() - 3_600)
        async with Services.open(settings(tmp_path, served)) as app:
            report = await app.crawls.resume(crawl_id, pages=100)
            assert report.is_done
            ids = await app.indexes.list_documents(report.index, principal="local", limit=200)
            assert {url.removeprefix("http://trap.example") for url in ids} == {"/", *made.pages}
            assert report.kept == len(ids)


async def cancel_after(app: Services, crawl_id: str, *, pages: int) -> None:
    """Continue a crawl and cancel it after some pages."""
    enough = asyncio.Event()

    def note(done: float, total: float | None = None, message: str | None = None) -> None:
        if done >= pages:
            enough.set()

    call = asyncio.create_task(app.crawls.resume(crawl_id, pages=100, progress=note))
    waiting = asyncio.create_task(enough.wait())
    await asyncio.wait({call, waiting}, return_when=asyncio.FIRST_COMPLETED)
    for task in (call, waiting):
        task.cancel()
    await asyncio.gather(call, waiting, return_exceptions=True)


async def test_a_crawl_belongs_to_its_caller_and_runs_once(tmp_path: Path) -> None:
    with serving(Robots) as (_, served):
        async with Services.open(settings(tmp_path, served)) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=3, principal="ann")
            with pytest.raises(errors.CrawlNotFoundError):
                await app.crawls.resume(report.crawl, pages=3, principal="bob")
            with pytest.raises(errors.CrawlNotFoundError):
                await app.crawls.resume("unknown", pages=3, principal="ann")
            first = asyncio.create_task(app.crawls.resume(report.crawl, pages=20, principal="ann"))
            second = asyncio.create_task(app.crawls.resume(report.crawl, pages=20, principal="ann"))
            results = await asyncio.gather(first, second, return_exceptions=True)
            assert sum(isinstance(result, errors.OverloadedError) for result in results) == 1


@pytest.mark.full_size
async def test_two_servers_cannot_write_one_crawl(tmp_path: Path) -> None:
    with serving(Robots) as (_, served):
        async with Services.open(settings(tmp_path, served)) as one, Services.open(settings(tmp_path, served)) as two:
            report = await one.crawls.start(CrawlRequest(served.url), pages=3)
            results = await asyncio.gather(
                *(app.crawls.resume(report.crawl, pages=40) for app in (one, two)), return_exceptions=True
            )
            failed = [result for result in results if isinstance(result, BaseException)]
            assert all(isinstance(error, errors.OverloadedError) for error in failed) and len(failed) == 1


async def test_a_question_gives_passages_and_the_best_pages(tmp_path: Path) -> None:
    with serving(Versions) as (made, served):
        async with Services.open(settings(tmp_path, served)) as app:
            title = made.title("p7.html")
            answer = await call_tool(app, "crawl", url=served.url, question=title, max_pages=12)
            first = answer.text.split("## ")[1]
            assert title in first and "p7.html" in first
            assert answer.text.count("<<<untrusted") == 1


class Mixed(MadeSite):
    """Pages, a PDF, empty pages, a page that needs scripts, and a page behind two pages that only redirect."""

    name = "mixed"

    def build(self) -> None:
        """Add pages of all kinds."""
        pages = self.add_pages("/page/{}", 3)
        self.home(
            links(
                [
                    *((name, name) for name in pages),
                    ("/report.pdf", "Report"),
                    ("/empty", "Empty"),
                    ("/script", "Script"),
                    ("/void", "Void"),
                    ("/old", "Old"),
                ]
            )
        )
        self.route(r"(/page/\d)", lambda query, name: self.show(name))
        self.route("/empty", lambda query: build_page("", ""))
        self.route("/void", lambda query: Response(body=b""))
        for path, target in (("/old", "/older"), ("/older", "/new")):
            head = f'<meta http-equiv="refresh" content="0; url={target}">'
            self.route(path, lambda query, head=head: build_page("Moved", "<p>Moved.</p>", head=head))
        dated = '<meta property="article:published_time" content="2026-05-31T08:00:00Z">'
        self.route("/new", lambda query: build_page("New", Prose("new").paragraphs(), head=dated))
        text = "'<p>' + 'Rendered lighthouse words. '.repeat(60) + '</p>'"
        script = f"<script>document.querySelector('main').innerHTML = {text}</script>"
        self.route("/script", lambda query: build_page("Script", script))
        document = Response(body=pdf(["Harbour report of the lighthouse"] * 20), media_type="application/pdf")
        self.route(r"/report\.pdf", lambda query: document)


async def test_documents_and_pages_that_need_scripts_are_pages(tmp_path: Path) -> None:
    with serving(Mixed) as (_, served):
        async with Services.open(settings(tmp_path, served)) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=20)
            assert report.is_done
            for path, text in (("/report.pdf", "Harbour report"), ("/script", "Rendered lighthouse")):
                found = await app.indexes.document(report.index, f"http://trap.example{path}", principal="local")
                assert found is not None and text in found.content
            url = "http://trap.example/new"
            dated = await app.indexes.document(report.index, url, principal="local")
            assert dated is not None
            assert dated.metadata == {"title": "New", "url": url, "date": "2026-05-31", "crawl": report.crawl}
            kept = {page.url.removeprefix("http://trap.example") for page in report.pages}
            assert kept == {"/", "/page/0", "/page/1", "/page/2", "/report.pdf", "/script", "/new"}
            assert max(served.requests.values()) == 1


class Huge(MadeSite):
    """A page of 30 MB between others."""

    name = "huge"

    def build(self) -> None:
        """Add the pages."""
        pages = self.add_pages("/page/{}", 3)
        self.home(links((path, path) for path in ("/huge", *pages)))
        self.route(r"(/page/\d)", lambda query, name: self.show(name))
        self.route("/huge", lambda query: Response(body=b"<p>" + b"Lighthouse words. " * 1_700_000))


@pytest.mark.full_size
async def test_a_page_of_thirty_megabytes_costs_no_other_page(tmp_path: Path) -> None:
    with serving(Huge) as (made, served):
        async with Services.open(settings(tmp_path, served)) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=20)
            kept = {page.url.removeprefix("http://trap.example") for page in report.pages}
            assert report.is_done and kept >= {"/", *made.pages}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Give either url or crawl"),
        ({"url": "http://a.example/", "crawl": "x"}, "Give either url or crawl"),
        ({"crawl": "x", "question": "why"}, "question cannot change"),
        ({"url": "ftp://a.example/"}, "ftp"),
        ({"url": "http://a.example/", "max_pages": 1_001}, "max_pages"),
        ({"crawl": "unknown"}, "There is no crawl"),
    ],
)
async def test_bad_arguments_are_explained(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    async with Services.open(Settings(data_dir=tmp_path), is_lazy=True) as app:
        answer = await call_tool(app, "crawl", **arguments)
        assert answer.is_error and message in answer.text


async def test_an_unusable_store_is_reported(tmp_path: Path) -> None:
    (tmp_path / "records.sqlite").mkdir()
    with serving(Robots) as (_, served):
        async with Services.open(settings(tmp_path, served)) as app:
            answer = await call_tool(app, "crawl", url=served.url, max_pages=2)
            assert answer.is_error and "The store of this server cannot be used" in answer.text


async def test_a_start_page_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with serving(Robots) as (_, served):
        async with Services.open(settings(tmp_path, served)) as app:
            answer = await call_tool(app, "crawl", url="http://missing.example/", max_pages=2)
            assert answer.is_error and "missing.example" in answer.text
            assert [failure.code for failure in answer.failures] == ["unreachable"]
