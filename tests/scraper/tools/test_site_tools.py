"""The tool `map` on the test site, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.services import Services
from scraper.tools.model import ToolAnswer
from scraper.tools.site_tools import map_tool
from tests.scraper.tools.calls import call_tool
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def call(app: Services, **arguments: Any) -> ToolAnswer:
    return await call_tool(app, "map", **arguments)


async def test_a_site_is_mapped_from_its_sitemap_and_links(app: Services, site: Site) -> None:
    answer = await call(app, url=site.url("/"), format="json", max_pages=500)
    assert isinstance(answer.structured, dict)
    data = answer.structured
    sources = {page["source"] for page in data["pages"]}
    assert sources == {"start", "list", "link"}
    assert data["pages"][0]["url"] == site.url("/")
    assert data["lists"] == {"files": 1, "failed": 0}
    assert {one["reason"] for one in data["left_out"]} >= {"file"}
    assert data["notice"]


async def test_a_map_is_continued_without_gaps(app: Services, site: Site) -> None:
    first = await call(app, url=site.url("/"), max_pages=20)
    assert "Next: start=20." in first.text and ", from 1 list (0 failed) and links of " in first.text
    whole = await call(app, url=site.url("/"), max_pages=40, format="json")
    rest = await call(app, url=site.url("/"), max_pages=20, start=20, format="json")
    assert isinstance(whole.structured, dict) and isinstance(rest.structured, dict)
    assert [page["url"] for page in whole.structured["pages"][20:]] == [
        page["url"] for page in rest.structured["pages"]
    ]


async def test_the_question_orders_the_pages(app: Services, site: Site) -> None:
    answer = await call(app, url=site.url("/"), question="infinite scrolling", max_pages=5)
    assert "scroll" in answer.text.split("\n- ")[1]
    assert " that match the question." in answer.text and "Next: " not in answer.text
    none = await call(app, url=site.url("/"), question="quantum zebra")
    assert "No page matches the question: without one, all are listed." in none.text and none.is_empty
    assert answer.text.count("<<<untrusted") == 1
    head, _, region = answer.text.partition("<<<untrusted")
    assert site.url("/") not in head and site.url("/")[:12] in region


async def test_an_absent_page_and_a_wrong_url_are_errors(app: Services, site: Site) -> None:
    absent = await call(app, url=site.url("/no/such/page/"))
    assert absent.is_error and "404" in absent.text
    wrong = await call(app, url="not a url")
    assert wrong.is_error and "search" in wrong.text
    assert map_tool(app.settings).fault({"url": "not a url"}) == wrong
