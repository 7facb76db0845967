"""The tool `see` on the test site, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.services import Services
from scraper.tools import cached_resources
from scraper.tools.model import ToolAnswer, ToolCall
from tests.scraper.documents.builders import parse
from tests.scraper.tools.calls import call_tool
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def call(app: Services, principal: str = "local", **arguments: Any) -> ToolAnswer:
    return await call_tool(app, "see", ToolCall(principal=principal, deadline_s=60), **arguments)


async def test_a_window_is_an_image(app: Services, site: Site) -> None:
    answer = await call(app, url=site.url("/guide/tides"))
    assert [one.media_type for one in answer.media] == ["image/webp"]
    assert answer.media[0].uri == ""
    assert "(status 200)" in answer.text and "Size: 1" in answer.text


async def test_parts_of_a_page_come_from_one_visit(app: Services, site: Site) -> None:
    url = site.url("/colored/plain")
    before = site.hits("/colored/plain")
    first = await call(app, url=url, what="full")
    second = await call(app, url=url, what="full", part=2)
    overview = await call(app, url=url, what="full", part=0)
    assert site.hits("/colored/plain") == before + 1
    assert "Part 1 of 4" in first.text and "Part 2 of 4" in second.text and "Overview" in overview.text
    assert len({one.media[0].data for one in (first, second, overview)}) == 3
    beyond = await call(app, url=url, what="full", part=9)
    assert beyond.is_error and "at most 4" in beyond.text


async def test_a_file_is_a_resource_of_its_caller(app: Services, site: Site) -> None:
    answer = await call(app, "one", url=site.url("/guide/tides"), what="pdf")
    (file,) = answer.media
    assert file.uri.startswith("picture://") and file.uri in answer.text
    own = await cached_resources.read_file(app, "one", file.uri)
    assert own is not None and own[0].startswith(b"%PDF-") and own[1] == "application/pdf"
    assert await cached_resources.read_file(app, "other", file.uri) is None
    assert await cached_resources.read_file(app, "one", "picture://unknown") is None


async def test_a_saved_page_is_read_as_a_document(app: Services, site: Site) -> None:
    (file,) = (await call(app, url=site.url("/frames-nested"), what="mhtml")).media
    parsed = parse(file.data)
    assert (parsed.format, parsed.markdown.startswith(f"Saved from {site.url('/frames-nested')}, ")) == ("mhtml", True)
    assert "MARK-frames-nested-0" in parsed.markdown and "MARK-frames-nested-14" in parsed.markdown


async def test_failures_are_errors(app: Services, site: Site) -> None:
    absent = await call(app, url=site.url("/guide/tides"), target="no such words")
    assert absent.is_error and "no such words" in absent.text
    script = await call(app, url=site.url("/assets/app.js"))
    assert script.is_error and "not a page" in script.text
    wrong = await call(app, url="nonsense words")
    assert wrong.is_error
    unknown = await call(app, url="http://nowhere.example/")
    assert unknown.is_error and "nowhere.example" in unknown.text


async def test_an_error_page_is_shown_with_a_warning(app: Services, site: Site) -> None:
    answer = await call(app, url=site.url("/status/404"))
    assert not answer.is_error and "status 404" in answer.text
