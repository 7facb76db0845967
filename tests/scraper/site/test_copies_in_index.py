"""Tests for copies of pages in the index that crawls fill, with a real server and browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scraper.services import Services
from scraper.site import crawl_service
from scraper.site.model import CrawlRequest
from tests.scraper.site.test_hostile_servers import names, opened
from tests.scraper.tools.calls import call_tool
from tests.site.traps.made_site import MadeSite, link, redirect
from tests.site.traps.serving import HOST, serving

pytestmark = pytest.mark.browser


class Copies(MadeSite):
    """Pages, copies of one of them, and a URL that redirects to it."""

    name = "copies"

    def build(self) -> None:
        """Add the pages."""
        rooms = self.add_pages("/room/{}", 3)
        copies = "".join(link(f"/{name}/copy", name) for name in ("print", "text", "old"))
        self.home(self.list_pages(rooms))
        # They are known after the pages.
        self.route("/room/0", lambda query: self.show("/room/0", after=copies))
        self.route(r"(/room/\d)", lambda query, name: self.show(name))
        self.route(r"/(?:print|text)/copy", lambda query: self.show("/room/1"))
        self.route("/old/copy", lambda query: redirect("/room/1"))


async def documents(app: Services, index: str) -> dict[str, Any]:
    """Return the metadata of all documents by path."""
    ids = await app.indexes.list_documents(index, principal="local", limit=100)
    found = [await app.indexes.document(index, one, principal="local") for one in ids]
    return {names([one.doc_id]).pop(): dict(one.metadata) for one in found if one is not None}


async def test_copies_are_aliases_of_the_first_page_in_the_index(tmp_path: Path) -> None:
    with serving(Copies) as (made, served):
        async with opened(tmp_path, served) as app:
            report = await app.crawls.start(CrawlRequest(served.url), pages=20)
            found = await documents(app, report.index)
            assert set(found) == {"/", *made.pages}
            aliases = {path: names(one["aliases"]) for path, one in found.items() if "aliases" in one}
            assert aliases == {"/room/1": {"/print/copy", "/text/copy", "/old/copy"}}
            # A later crawl that reads the pages again keeps them.
            await app.crawls.start(CrawlRequest(served.url), pages=4)
            later = await documents(app, report.index)
            assert later["/room/1"]["crawl"] != found["/room/1"]["crawl"]
            assert {**later["/room/1"], "crawl": report.crawl} == found["/room/1"]
            title = made.title("/room/1")
            assert "/print/copy" in (await call_tool(app, "search_index", index_name=report.index, query=title)).text


async def test_pages_that_an_earlier_crawl_read_at_another_url_are_aliases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_service, "MAX_ALIASES", 1)
    with serving(Copies) as (made, served):
        async with opened(tmp_path, served) as app:
            first = await app.crawls.start(CrawlRequest(f"{served.url}print/copy"), pages=1)
            question = made.title("/room/1")
            report = await app.crawls.start(CrawlRequest(f"{served.url}room/1", question), pages=1)
            assert (first.kept, report.kept, report.index) == (1, 1, first.index)
            await app.crawls.start(CrawlRequest(f"{served.url}text/copy"), pages=1)
            found = await documents(app, report.index)
            assert {path: one["aliases"] for path, one in found.items()} == {"/print/copy": [f"http://{HOST}/room/1"]}
        # The text of the alias is found when the crawl is continued.
        async with opened(tmp_path, served) as app:
            report = await app.crawls.resume(report.crawl, pages=1)
            assert names([reading.url for reading in report.readings]) >= {"/room/1"}
