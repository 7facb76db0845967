"""The Markdown that a thin page names is read instead of rendering it, and compared with the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from browsers import BrowserSettings
from scraper.model import Link, ReadRequest
from scraper.reading.fetcher import Fetcher
from scraper.reading.response_reader import VisitResult
from scraper.render.page import as_markdown
from scraper.services import Services
from scraper.settings import Settings
from scraper.site.web_site_reader import extract_links
from tests.site.agents import EXTRA
from tests.site.running import Site

pytestmark = pytest.mark.browser
RENDERED = "The script wrote this sentence."


async def test_the_markdown_is_read_instead_of_rendering(fetcher: Fetcher, site: Site) -> None:
    url = site.url("/agents/good", "host7.example")
    reading = await fetcher.fetch(ReadRequest(url))
    assert (reading.method, reading.url, reading.document.title) == ("http", url, "Tides")
    assert RENDERED not in reading.document.markdown
    answer = as_markdown(reading, region="r")
    assert f"Text: the site's Markdown ({url}.md)" in answer.partition("<<<")[0]
    assert "could not be compared with the page" in answer
    assert RENDERED in (await fetcher.fetch(ReadRequest(url, render="browser"))).document.markdown


@pytest.mark.parametrize("name", ["short", "missing"])
async def test_a_page_is_rendered_if_its_markdown_is_no_use(fetcher: Fetcher, site: Site, name: str) -> None:
    url = site.url(f"/agents/{name}", f"host{8 + len(name) % 2}.example")
    for _ in range(2):
        reading = await fetcher.fetch(ReadRequest(f"{url}?{_}"))
        assert (reading.method, RENDERED in reading.document.markdown) == ("browser", True)
    assert site.hits(f"/agents/{name}.md", url.split("/")[2]) == 1


async def test_text_that_is_not_on_the_page_is_named(fetcher: Fetcher, site: Site) -> None:
    reading = await fetcher.fetch(ReadRequest(site.url("/agents/altered", "host10.example")))
    assert reading.document.is_site_markdown
    assert f'not on the page: 1, the first "{EXTRA}"' in reading.warnings[0]


async def test_a_page_of_a_job_is_read_from_its_markdown_with_the_links_of_both(fetcher: Fetcher, site: Site) -> None:
    visits: list[VisitResult] = []
    request = ReadRequest(site.url("/agents/good", "host10.example"), is_bulk=True)
    reading = await fetcher.fetch(request, on_visit=visits.append)
    assert reading.method == "http" and visits[0].outlinks is not None
    found = extract_links(visits[0], replace(reading.document, links=(Link("http://host10.example/of-text", "Text"),)))
    assert [link.url for link in found.links][-1] == "http://host10.example/of-text"


async def test_a_server_is_asked_for_markdown(browser_settings: BrowserSettings, site: Site, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, test_hosts=browser_settings.test_hosts, markdown="ask")
    async with Services.open(settings) as services:
        asked = await services.fetcher.fetch(ReadRequest(site.url("/agents/negotiated", "host11.example")))
        refused = await services.fetcher.fetch(ReadRequest(site.url("/agents/strict", "host11.example")))
    assert "**Markdown** for those who ask." in asked.document.markdown
    assert refused.status == 200 and "Only HTML." in refused.document.markdown


async def test_the_setting_turns_it_off(browser_settings: BrowserSettings, site: Site, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, test_hosts=browser_settings.test_hosts, markdown="off")
    async with Services.open(settings) as services:
        reading = await services.fetcher.fetch(ReadRequest(site.url("/agents/good", "host11.example")))
    assert reading.method == "browser"
